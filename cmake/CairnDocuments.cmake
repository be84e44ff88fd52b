# What people read and type, installed: completions. They are complete whatever parts of Cairn are built: a command whose
# program is not there says so.
set(CAIRN_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh's completion is installed; Debian has share/zsh/vendor-completions")

if(CAIRN_INSTALL_PROGRAMS AND TARGET cairn_command)
    set(completions ${PROJECT_SOURCE_DIR}/packaging/completions)
    install(FILES ${completions}/cairn.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cairn)
    install(FILES ${completions}/_cairn DESTINATION ${CAIRN_ZSH_COMPLETIONS})
    install(FILES ${completions}/cairn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
