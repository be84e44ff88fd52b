# Headers of others that are compiled once for many files. A compiler cache takes no part in that and does more by itself,
# so that there are none where CMAKE_CXX_COMPILER_LAUNCHER names one; the presets `clang` and `tidy` have none either, and
# so prove that every file includes what it needs.
if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# cairn_precompile_headers(HEADER OWNER TARGET...): the owner compiles cmake/precompiled/HEADER for itself and the
# targets. All have the same compiler options; only definitions and folders may differ.
function(cairn_precompile_headers header owner)
    if(NOT TARGET ${owner})
        return()
    endif()
    get_target_property(headers ${owner} PRECOMPILE_HEADERS)
    if(NOT headers)
        target_precompile_headers(${owner} PRIVATE
            "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}>")
    endif()
    foreach(target ${ARGN})
        if(TARGET ${target})
            target_precompile_headers(${target} REUSE_FROM ${owner})
        endif()
    endforeach()
endfunction()
