# All that is built besides the library: front ends, programs, tests and benchmarks.

set(CAIRN_SHIPPED cairn cairn_static cairn_command cairn_agent cairn_dashboard cairn_convert cairn_warm_player cairnd EGL_cairn
    EGL_cairn_last GLX_cairn cairn_d3d12 cairn_vkd3d)

cairn_subdirectories(frontends/common frontends/gl frontends/egl frontends/glx frontends/d3d12)
# Of 32 bits, all that follows is for tests only.
if(CAIRN_DEVELOPER_MODE AND CMAKE_SIZEOF_VOID_P LESS 8)
    add_compile_options(${CAIRN_SMALL_NUMBERS})
endif()
if(NOT CAIRN_FUZZ)
    cairn_subdirectories(apps/broker)
endif()
# ThreadSanitizer looks into one process; the command, which starts others, is slow to compile.
if(NOT CAIRN_SANITIZE STREQUAL "thread")
    cairn_subdirectories(conversions remotes apps/cli apps/agent apps/dashboard apps/convert apps/warm packaging)
    if(CAIRN_SANITIZE AND TARGET cairn_cli)
        target_compile_options(cairn_cli PRIVATE -O0)
        target_compile_options(cairn_command PRIVATE -O0)
        target_compile_options(cairn_remotes PRIVATE -O0)
        if(TARGET cairn_convert)
            target_compile_options(cairn_convert PRIVATE -O0)
        endif()
    endif()
endif()
cairn_precompile_headers(standard.h cairn_base_objects
    cairn_os_objects cairn_store_objects cairn_ipc_objects cairn_cache_objects cairn_capi_objects
    d3d12_parts d3d12_objects vkd3d_objects)
cairn_precompile_headers(standard.h cairn_frontends_common cairn_gl_parts EGL_cairn_parts GLX_cairn_parts)
cairn_precompile_headers(program.h cairn_cli)
if(CAIRN_DEVELOPER_MODE)
    if(TARGET EGL_cairn AND NOT CAIRN_FUZZ)
        cairn_subdirectories(examples/packed_game)
    endif()
    cairn_subdirectories(tests fuzz)
    if(NOT CAIRN_SANITIZE AND NOT CMAKE_SIZEOF_VOID_P LESS 8)
        cairn_subdirectories(bench)
    endif()
    cairn_require_every_test_file(src conversions frontends remotes apps tests)
endif()

cairn_subdirectories(tests/demo)

# Everything that is installed, without tests and benchmarks: `scripts/build ship ship`.
add_custom_target(ship)
foreach(target ${CAIRN_SHIPPED})
    if(TARGET ${target})
        add_dependencies(ship ${target})
    endif()
endforeach()
