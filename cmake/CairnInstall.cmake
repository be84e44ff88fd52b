# What `cmake --install` puts on a system: headers, libraries, the CMake package, pkg-config, the EGL manifest and the
# licences; apps/cli, frontends/egl and frontends/glx add their programs and libraries. Everything but the manifest and
# the broker's service, which name files, may be moved elsewhere afterwards.
include(CMakePackageConfigHelpers)

if(TARGET cairn)
    # One file of targets for each component of find_package, so that each can be packaged by itself.
    set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
    function(cairn_install_component component)
        install(TARGETS ${ARGN} EXPORT cairn-${component}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
        install(EXPORT cairn-${component} NAMESPACE cairn:: FILE cairn-${component}-targets.cmake
            DESTINATION ${package_directory})
    endfunction()
    cairn_install_component(shared cairn)
    cairn_install_component(static cairn_static)
    if(TARGET cairn_d3d12)
        cairn_install_component(d3d12 cairn_d3d12 cairn_vkd3d)
    endif()
    set(egl_manifest ${CMAKE_INSTALL_DATADIR}/cairn/cairn_egl.json)
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/cairn-config.cmake.in
        ${PROJECT_BINARY_DIR}/cairn-config.cmake INSTALL_DESTINATION ${package_directory} PATH_VARS egl_manifest)
    # Before 1.0 every minor version may change the interface.
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairn-config-version.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/cairn-config.cmake ${PROJECT_BINARY_DIR}/cairn-config-version.cmake
        DESTINATION ${package_directory})

    # pkg-config finds the prefix from where the .pc file lies.
    file(RELATIVE_PATH CAIRN_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    function(cairn_install_pkg_config PC_NAME PC_LIBRARY PC_DESCRIPTION)
        configure_file(${PROJECT_SOURCE_DIR}/cmake/cairn.pc.in ${PROJECT_BINARY_DIR}/${PC_NAME}.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/${PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endfunction()
    set(PC_PRIVATE "Libs.private: -lzstd -lstdc++ -lm -pthread\nCflags.private: -DCAIRN_STATIC\n")
    cairn_install_pkg_config(cairn cairn "${PROJECT_DESCRIPTION}")
    set(PC_PRIVATE "")
    if(TARGET cairn_d3d12)
        cairn_install_pkg_config(cairn-d3d12 cairn_d3d12 "D3D12 shader cache sessions for DirectX-Headers")
        cairn_install_pkg_config(cairn-vkd3d cairn_vkd3d "D3D12 shader cache sessions for vkd3d")
    endif()
endif()

# cairn_install_manifest(DIRECTORY NAME LIBRARY [INSTALL_OPTION...]): a GLVND manifest in a folder that is absolute, or below
# the prefix that is chosen when installing.
function(cairn_install_manifest directory name library)
    if(NOT IS_ABSOLUTE "${directory}")
        set(directory "\${CMAKE_INSTALL_PREFIX}/${directory}")
    endif()
    install(CODE "
        set(library_path \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${library}.so.0\")
        set(manifest \"${directory}/${name}\")
        message(STATUS \"Installing: \$ENV{DESTDIR}\${manifest}\")
        configure_file(\"${PROJECT_SOURCE_DIR}/frontends/egl/cairn_egl.json.in\" \"\$ENV{DESTDIR}\${manifest}\" @ONLY)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${manifest}\")" ${ARGN})
endfunction()

if(TARGET EGL_cairn)
    # Each alone in its folder: `cairn run` names the folders to libEGL. Those for 32-bit programs lie below those for
    # 64-bit ones, and have other names where all drivers' manifests lie together.
    set(folder ${CMAKE_INSTALL_DATADIR}/cairn)
    set(suffix)
    if(CMAKE_SIZEOF_VOID_P LESS 8)
        set(folder ${folder}/i386)
        set(suffix _i386)
    endif()
    cairn_install_manifest(${folder} cairn_egl.json libEGL_cairn)
    cairn_install_manifest(${folder}/last cairn_egl_last.json libEGL_cairn_last)
    # The EGL programs of all users: `cmake --install BUILD --component enable_for_all`, or the option. Whatever the prefix,
    # libEGL reads /etc/glvnd first and /usr/share/glvnd then, and in each of them it goes by the manifests' names. So
    # one is before those of all drivers, and the other one behind them.
    set(for_all COMPONENT enable_for_all)
    if(NOT CAIRN_ENABLE_FOR_ALL)
        list(APPEND for_all EXCLUDE_FROM_ALL)
    endif()
    cairn_install_manifest(/etc/glvnd/egl_vendor.d 05_cairn${suffix}.json libEGL_cairn ${for_all})
    cairn_install_manifest(/usr/share/glvnd/egl_vendor.d 95_cairn_last${suffix}.json libEGL_cairn_last ${for_all})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
# The licences of the libraries that are linked in statically ask to be passed on with the binaries.
set(packages libxxhash-dev libzstd-dev)
if(TARGET cairn_convert)
    list(APPEND packages glslang-dev spirv-tools)
endif()
foreach(package ${packages})
    install(FILES /usr/share/doc/${package}/copyright
        DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.${package} OPTIONAL)
endforeach()
