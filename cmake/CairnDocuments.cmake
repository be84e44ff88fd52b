# What people read and type, installed: completions, man pages, documents and licences. The first two are complete
# whatever parts of Cairn are built: a command whose program is not there says so. Making all of this runs nothing that
# was built, so a cross build makes it, too.
set(CAIRN_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh's completion is installed; Debian has share/zsh/vendor-completions")

if(CAIRN_INSTALL_PROGRAMS AND TARGET cairn_command)
    set(completions ${PROJECT_SOURCE_DIR}/packaging/completions)
    install(FILES ${completions}/cairn.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cairn)
    install(FILES ${completions}/_cairn DESTINATION ${CAIRN_ZSH_COMPLETIONS})
    install(FILES ${completions}/cairn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# cairn_installed_files(TARGET FILE): a target that makes the file, a part of all that is shipped.
function(cairn_installed_files target file)
    set(all ALL)
    if(CAIRN_SANITIZE OR CAIRN_FUZZ)
        set(all)
    endif()
    add_custom_target(${target} ${all} DEPENDS ${file})
    if(TARGET ship)
        add_dependencies(ship ${target})
    endif()
endfunction()

# Man pages: docs/man/*.scd, in which lines `@...` stand for what the headers say of calls. Commands of section 1 and
# what belongs to them are for those who have the programs.
find_program(CAIRN_SCDOC scdoc)
if(CAIRN_SCDOC)
    set(sections 3)
    if(TARGET cairn_command)
        list(APPEND sections 1 5 7)
    endif()
    set(pages ${PROJECT_BINARY_DIR}/man)
    file(GLOB page_sources CONFIGURE_DEPENDS
        ${PROJECT_SOURCE_DIR}/docs/man/*.scd ${PROJECT_SOURCE_DIR}/include/cairn/*.h)
    add_custom_command(OUTPUT ${pages}.stamp
        COMMAND ${PROJECT_SOURCE_DIR}/cmake/make-man-pages.sh ${CAIRN_SCDOC} ${PROJECT_SOURCE_DIR}/docs/man
            ${PROJECT_SOURCE_DIR}/include ${PROJECT_VERSION} ${pages} ${sections}
        COMMAND ${CMAKE_COMMAND} -E touch ${pages}.stamp
        DEPENDS ${page_sources}
            ${PROJECT_SOURCE_DIR}/cmake/make-man-pages.sh ${PROJECT_SOURCE_DIR}/cmake/expand-page.awk
        COMMENT "Making man pages" VERBATIM)
    cairn_installed_files(cairn_man ${pages}.stamp)
    if(NOT CMAKE_SIZEOF_VOID_P LESS 8)
        install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
    endif()
elseif(NOT CMAKE_SIZEOF_VOID_P LESS 8)
    install(CODE "message(STATUS \"No man pages are installed, as scdoc was not found when Cairn was configured\")")
endif()

# The documents in the shape that they have here, so that their links lead to each other: README.md, docs/ and
# examples/. Links to what is not installed, such as sources, become plain text.
set(documents ${PROJECT_BINARY_DIR}/documents)
file(GLOB_RECURSE document_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/* ${PROJECT_SOURCE_DIR}/examples/*)
add_custom_command(OUTPUT ${documents}.stamp
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/make-documents.sh ${PROJECT_SOURCE_DIR} ${documents}
    COMMAND ${CMAKE_COMMAND} -E touch ${documents}.stamp
    DEPENDS ${document_sources} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        ${PROJECT_SOURCE_DIR}/cmake/make-documents.sh ${PROJECT_SOURCE_DIR}/cmake/installed-links.awk
    COMMENT "Copying documents" VERBATIM)
cairn_installed_files(cairn_documents ${documents}.stamp)
if(NOT CMAKE_SIZEOF_VOID_P LESS 8)
    install(DIRECTORY ${documents}/ DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
endif()

# Cairn's licence, and those of what is linked in statically or compiled in from headers, which ask to be passed on with
# the binaries. COPYRIGHT names all of these packages.
install(FILES ${PROJECT_SOURCE_DIR}/COPYRIGHT DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
set(packages libxxhash-dev libzstd-dev)
foreach(target_and_packages "cairn_command libcli11-dev libfmt-dev nlohmann-json3-dev libsodium-dev libncurses-dev"
        "cairn_dashboard libcpp-httplib-dev" "cairn_convert glslang-dev spirv-tools"
        "cairn_warm_player libseccomp-dev")
    separate_arguments(words UNIX_COMMAND "${target_and_packages}")
    list(POP_FRONT words target)
    if(TARGET ${target} AND CAIRN_INSTALL_PROGRAMS)
        list(APPEND packages ${words})
    endif()
endforeach()
foreach(package ${packages})
    install(FILES /usr/share/doc/${package}/copyright
        DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright.${package} OPTIONAL)
endforeach()
