// Mesa's configuration files ("drirc"), which can change the compiled shaders of an application.
// SPDX-License-Identifier: MIT
//
// The files switch workarounds on by the name of the executable: a source that compiles in one
// application need not compile in the next. The whole of the files belongs to the driver's
// identity; the name of the application does only if a file mentions it, so that all other
// applications share their programs.
//
// Thread safety: pure functions of the file system. Failure: a file that cannot be read is not
// there for Mesa either.
#pragma once

#include <string>
#include <vector>

namespace cairn::egl {

// The files that Mesa reads, in its order.
std::vector<std::string> driver_configuration_files();

// Whether a file with this text may concern an executable of this name. The text is not parsed: in
// doubt, the answer is yes.
bool mentions_executable(const std::string &text, const std::string &name);

// By which names Mesa may know a process whose program_invocation_name and executable file these
// are: by what follows the last slash of the invocation name, or the last backslash (Wine). An
// invocation name that begins with the file, as after a process has written all its arguments
// there, stands for the file.
std::vector<std::string> names_for_mesa(const std::string &invocation, const std::string &file);

// Lines for the identity: one for each of `files` that is there, and one for the application if
// they mention it.
std::string configuration_lines(const std::vector<std::string> &files,
                                const std::vector<std::string> &names);

// The same for this process, computed once.
const std::string &driver_configuration();

}  // namespace cairn::egl
