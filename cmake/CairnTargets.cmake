# What every target of the project has in common: the language, the warnings, the sanitizers and how tests are declared.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Files have local names that other files have, too.
set(CMAKE_UNITY_BUILD OFF)

find_package(Threads REQUIRED)
include(CairnPrecompiledHeaders)

# Warnings and sanitizers, for all targets of ours.
add_library(cairn_common INTERFACE)
target_compile_options(cairn_common INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wformat=2 -Wundef
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>
    $<$<BOOL:${CAIRN_DEVELOPER_MODE}>:-Werror>
    # What is shipped does not tell where it was built.
    $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
# GCC 12 sees impossible sizes in its own std::string where it inlines enough (its bugs 105329, 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(cairn_common INTERFACE
        $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-restrict;-Wno-stringop-overread>)
endif()
# For 32-bit programs, the sizes and times that 64-bit ones have anyway.
target_compile_definitions(cairn_common INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64 _TIME_BITS=64)
# Code with RTTI, as tests are, takes objects of code without it for having a wrong type.
set(sanitizer_options -fno-sanitize-recover=all -fno-sanitize=vptr
    # One function of the front ends stands for all that a driver lacks, whatever their types.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>
    -fno-omit-frame-pointer)
if(CAIRN_FUZZ)
    # Coverage instrumentation everywhere; only the fuzz targets themselves get libFuzzer's main.
    target_compile_options(cairn_common INTERFACE
        -fsanitize=fuzzer-no-link,address,undefined ${sanitizer_options})
    target_link_options(cairn_common INTERFACE -fsanitize=address,undefined)
elseif(CAIRN_SANITIZE)
    target_compile_options(cairn_common INTERFACE
        -fsanitize=${CAIRN_SANITIZE} ${sanitizer_options})
    target_link_options(cairn_common INTERFACE -fsanitize=${CAIRN_SANITIZE})
    # As GCC defines it.
    if(CAIRN_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
        target_compile_definitions(cairn_common INTERFACE __SANITIZE_ADDRESS__=1)
    endif()
endif()

# What is loaded into other people's processes: neither exceptions nor RTTI.
add_library(cairn_guest INTERFACE)
target_link_libraries(cairn_guest INTERFACE cairn_common)
target_compile_options(cairn_guest INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)

# For all that is shipped. Somebody else's project has its own flags, and so may a distribution: what it says of one of these
# stands. Sanitizers look further than the first two.
if(PROJECT_IS_TOP_LEVEL)
    if(NOT CAIRN_SANITIZE AND NOT CAIRN_FUZZ)
        if(NOT CMAKE_CXX_FLAGS MATCHES "-fstack-protector")
            add_compile_options(-fstack-protector-strong)
        endif()
        if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
            # It is for optimised code, and some compilers define it by themselves.
            add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
        endif()
    endif()
    include(CheckPIESupported)
    check_pie_supported()
    add_link_options(-Wl,-z,relro,-z,now)
endif()

# cairn_subdirectories(DIR...): those that hold a CMakeLists.txt.
macro(cairn_subdirectories)
    foreach(directory ${ARGN})
        if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/CMakeLists.txt)
            add_subdirectory(${directory})
        endif()
    endforeach()
endmacro()

# The library itself: exceptions unwind through it, so that a lack of memory ends a call and not the process, and none
# leaves it (src/base/guarded.h).
add_library(cairn_library INTERFACE)
target_link_libraries(cairn_library INTERFACE cairn_common)
target_compile_options(cairn_library INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fexceptions -fno-rtti>
    # Symbols that are unique in the process could not be made local in libcairn.a.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)

# cairn_layer(NAME SOURCES... DEPENDS targets...): one folder of src/, as the objects NAME_objects, of which src/ makes the
# libraries, and as the static library NAME of these, for all else.
function(cairn_layer name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
    add_library(${name}_objects OBJECT ${ARG_SOURCES})
    target_include_directories(${name}_objects PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name}_objects PRIVATE cairn_library)
    add_library(${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}_objects>)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE cairn_library)
    set_property(GLOBAL APPEND PROPERTY cairn_layers ${name}_objects)
endfunction()

# For tests of 32 bits, whose numbers are small enough for any size_t. Those of the code under test have to be looked at.
set(CAIRN_SMALL_NUMBERS -Wno-error=conversion -Wno-error=sign-conversion)

# Of the labels below, those that scripts/check leaves out.
if(CAIRN_SANITIZE STREQUAL "thread")
    set(labels_not_run gl conformance process slow)
elseif(CAIRN_SANITIZE)
    set(labels_not_run gl conformance fleet)
endif()

# cairn_test(NAME SOURCES... DEPENDS targets... [LABELS ...] [TIMEOUT s]): a GoogleTest program, known to ctest by its name.
# The labels decide where a test is left out, see docs/testing.md:
#   process     starts, forks or kills processes (not under ThreadSanitizer)
#   slow        opens files by the thousand (not under ThreadSanitizer)
#   fleet       waits for times that pass, and starts programs by the hundred (not under any sanitizer)
#   gl          needs a GL driver (not under any sanitizer)
#   install     builds against an installed tree (not under any sanitizer)
#   conformance one row of `make conformance`
function(cairn_test name)
    if(NOT CAIRN_DEVELOPER_MODE OR CAIRN_FUZZ)
        return()
    endif()
    cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
    find_package(GTest REQUIRED)
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 600)  # for hangs: sanitizers and busy machines are slow
    endif()
    add_executable(${name} ${ARG_SOURCES})
    # What does not run is not built, unless it is asked for by name.
    foreach(label ${ARG_LABELS})
        if(label IN_LIST labels_not_run)
            set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
        endif()
    endforeach()
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE
        ${ARG_DEPENDS} cairn_common GTest::gtest GTest::gmock GTest::gtest_main Threads::Threads)
    if(CMAKE_SIZEOF_VOID_P LESS 8)
        target_compile_options(${name} PRIVATE ${CAIRN_SMALL_NUMBERS})
    endif()
    # The macros expand to code that clang-tidy objects to.
    set_target_properties(${name} PROPERTIES CXX_CLANG_TIDY "")
    # GoogleTest takes long to optimise. But the slow tests run for minutes if their own code is not optimised.
    if(NOT "slow" IN_LIST ARG_LABELS)
        target_compile_options(${name} PRIVATE -O0)
        if(NOT TARGET cairn_test_headers)
            add_executable(cairn_test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/precompiled/main.cc)
            target_compile_options(cairn_test_headers PRIVATE -O0)
            target_link_libraries(cairn_test_headers PRIVATE cairn_common GTest::gtest Threads::Threads)
            cairn_precompile_headers(test.h cairn_test_headers)
        endif()
        cairn_precompile_headers(test.h cairn_test_headers ${name})
    endif()
    # Of a test that fails, only what failed is shown.
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
        # An agent of the person who runs the tests hears nothing of them.
        ENVIRONMENT_MODIFICATION "XDG_RUNTIME_DIR=unset:")
endfunction()

# Sets `result` to the absolute paths of all sources of all targets in `directory` and below.
function(cairn_sources_below directory result)
    set(all)
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
        get_target_property(sources ${target} SOURCES)
        get_target_property(base ${target} SOURCE_DIR)
        foreach(source ${sources})
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
            list(APPEND all ${source})
        endforeach()
    endforeach()
    get_property(children DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    foreach(child ${children})
        cairn_sources_below(${child} more)
        list(APPEND all ${more})
    endforeach()
    set(${result} "${all}" PARENT_SCOPE)
endfunction()

# cairn_require_every_test_file(DIR...): fails when there is a *_test.cc that no target builds. Where folders are left out
# there is nothing to tell.
function(cairn_require_every_test_file)
    if(CAIRN_FUZZ OR CAIRN_SANITIZE OR CMAKE_SIZEOF_VOID_P LESS 8)
        return()
    endif()
    cairn_sources_below(${PROJECT_SOURCE_DIR} built)
    foreach(directory ${ARGN})
        file(GLOB_RECURSE tests ${PROJECT_SOURCE_DIR}/${directory}/*_test.cc)
        foreach(test ${tests})
            if(NOT test IN_LIST built)
                message(FATAL_ERROR "No target builds ${test}")
            endif()
        endforeach()
    endforeach()
endfunction()
