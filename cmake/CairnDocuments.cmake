# What people read and type, installed: completions and man pages. They are complete whatever parts of Cairn are built: a
# command whose program is not there says so. Making them runs nothing that was built, so a cross build makes them, too.
set(CAIRN_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh's completion is installed; Debian has share/zsh/vendor-completions")

if(CAIRN_INSTALL_PROGRAMS AND TARGET cairn_command)
    set(completions ${PROJECT_SOURCE_DIR}/packaging/completions)
    install(FILES ${completions}/cairn.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cairn)
    install(FILES ${completions}/_cairn DESTINATION ${CAIRN_ZSH_COMPLETIONS})
    install(FILES ${completions}/cairn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Man pages: docs/man/*.scd, in which lines `@...` stand for what the headers say of calls. Commands of section 1 and what
# belongs to them are for those who have the programs.
find_program(CAIRN_SCDOC scdoc)
if(CAIRN_SCDOC)
    set(sections 3)
    if(TARGET cairn_command)
        list(APPEND sections 1 5 7)
    endif()
    set(pages ${PROJECT_BINARY_DIR}/man)
    file(GLOB page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.scd ${PROJECT_SOURCE_DIR}/include/cairn/*.h)
    add_custom_command(OUTPUT ${pages}.stamp
        COMMAND ${PROJECT_SOURCE_DIR}/cmake/make-man-pages.sh ${CAIRN_SCDOC} ${PROJECT_SOURCE_DIR}/docs/man
            ${PROJECT_SOURCE_DIR}/include ${PROJECT_VERSION} ${pages} ${sections}
        COMMAND ${CMAKE_COMMAND} -E touch ${pages}.stamp
        DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/cmake/make-man-pages.sh ${PROJECT_SOURCE_DIR}/cmake/expand-page.awk
        COMMENT "Making man pages" VERBATIM)
    set(all ALL)
    if(CAIRN_SANITIZE OR CAIRN_FUZZ)
        set(all)
    endif()
    add_custom_target(cairn_man ${all} DEPENDS ${pages}.stamp)
    if(TARGET ship)
        add_dependencies(ship cairn_man)
    endif()
    if(NOT CMAKE_SIZEOF_VOID_P LESS 8)
        install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
    endif()
elseif(NOT CMAKE_SIZEOF_VOID_P LESS 8)
    install(CODE "message(STATUS \"No man pages are installed, as scdoc was not found when Cairn was configured\")")
endif()
