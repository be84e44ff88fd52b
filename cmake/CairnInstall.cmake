# What `cmake --install` puts on a system: headers, libraries, the CMake package, pkg-config and the EGL manifest; apps/cli,
# frontends/egl and frontends/glx add their programs and libraries, CairnDocuments.cmake what people read. Everything but the
# manifests and the services, which name files (CairnInstalledPlaces.cmake), may be moved elsewhere afterwards.
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

    # pkg-config finds the prefix from where the .pc file lies, unless that is told by an absolute path.
    set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
        file(RELATIVE_PATH PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
        string(PREPEND PC_PREFIX "\${pcfiledir}/")
    endif()
    foreach(folder LIBDIR INCLUDEDIR)
        set(PC_${folder} ${CMAKE_INSTALL_${folder}})
        if(NOT IS_ABSOLUTE "${PC_${folder}}")
            string(PREPEND PC_${folder} "\${prefix}/")
        endif()
    endforeach()
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

if(TARGET EGL_cairn)
    # GLVND's manifests. Where the loader looks by itself, they have the libraries' names, which do for programs of 64 and of
    # 32 bits. Elsewhere they have paths, those for 32-bit programs lie below those for 64-bit ones, and they have other names
    # where all drivers' manifests lie together.
    set(searched /lib /usr/lib)
    if(CMAKE_LIBRARY_ARCHITECTURE)
        list(APPEND searched /lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
    elseif(CMAKE_SIZEOF_VOID_P EQUAL 8)
        list(APPEND searched /lib64 /usr/lib64)
    endif()
    set(folder_32)
    set(suffix_32)
    if(CMAKE_SIZEOF_VOID_P LESS 8)
        set(folder_32 /i386)
        set(suffix_32 _i386)
    endif()
    cairn_installed_folder(libraries "${CMAKE_INSTALL_LIBDIR}")
    install(CODE "
        set(cairn_library_folder \"${libraries}/\")
        set(cairn_folder_32 \"${folder_32}\")
        set(cairn_suffix_32 \"${suffix_32}\")
        set(cairn_searched \"${searched}\")
        list(FIND cairn_searched \"${libraries}\" cairn_place)
        if(NOT cairn_place EQUAL -1)
            set(cairn_library_folder)
            set(cairn_folder_32)
            set(cairn_suffix_32)
        endif()" ALL_COMPONENTS)
    function(cairn_install_manifest folder name library)
        cairn_install_configured(${PROJECT_SOURCE_DIR}/frontends/egl/cairn_egl.json.in
            ${folder} ${name} library_path "\${cairn_library_folder}${library}.so.0" ${ARGN})
    endfunction()
    # Each alone in its folder: `cairn run` names the folders to libEGL.
    set(folder "${CMAKE_INSTALL_DATADIR}/cairn\${cairn_folder_32}")
    cairn_install_manifest(${folder} cairn_egl.json libEGL_cairn)
    cairn_install_manifest(${folder}/last cairn_egl_last.json libEGL_cairn_last)
    # The EGL programs of all users: `cmake --install BUILD --component enable_for_all`, or the option. Whatever the prefix,
    # libEGL reads /etc/glvnd first and /usr/share/glvnd then, and in each of them it goes by the manifests' names. So
    # one is before those of all drivers, and the other one behind them.
    set(for_all COMPONENT enable_for_all)
    if(NOT CAIRN_ENABLE_FOR_ALL)
        list(APPEND for_all EXCLUDE_FROM_ALL)
    endif()
    set(suffix "\${cairn_suffix_32}")
    cairn_install_manifest(/etc/glvnd/egl_vendor.d 05_cairn${suffix}.json libEGL_cairn ${for_all})
    cairn_install_manifest(/usr/share/glvnd/egl_vendor.d 95_cairn_last${suffix}.json libEGL_cairn_last ${for_all})
endif()
