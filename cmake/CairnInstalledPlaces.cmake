# Files that name where something else is installed, which is known only when installing.

# A folder as a GNUInstallDirs variable names it, for code that runs when installing: below the prefix that is chosen then,
# or absolute.
function(cairn_installed_folder variable folder)
    if(NOT IS_ABSOLUTE "${folder}")
        string(PREPEND folder "\${CMAKE_INSTALL_PREFIX}/")
    endif()
    set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# cairn_install_configured(SOURCE FOLDER NAME VARIABLE VALUE [INSTALL_OPTION...]): SOURCE with @VARIABLE@ replaced, as
# FOLDER/NAME. FOLDER and VALUE may name variables of the code that runs when installing.
function(cairn_install_configured source folder name variable value)
    cairn_installed_folder(folder "${folder}")
    install(CODE "
        set(${variable} \"${value}\")
        set(file \"${folder}/${name}\")
        message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
        configure_file(\"${source}\" \"\$ENV{DESTDIR}\${file}\" @ONLY)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")" ${ARGN})
endfunction()

# Units for users' sessions. A service's ExecStart is the place of its PROGRAM.
set(CAIRN_UNITS lib/systemd/user)
function(cairn_install_service source variable program)
    cmake_path(GET source STEM LAST_ONLY name)
    cairn_installed_folder(programs "${CMAKE_INSTALL_BINDIR}")
    cairn_install_configured("${source}" ${CAIRN_UNITS} ${name} ${variable} "${programs}/${program}")
endfunction()
