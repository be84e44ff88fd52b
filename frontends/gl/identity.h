// The identity of a driver: its own words, the build-ids of its libraries, and the options that it
// was started with.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions of the driver, the file system and what is loaded in the process.
// Failure: a configuration file that cannot be read is not there for Mesa either.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace cairn::gl {

struct DriverNames {
    std::string vendor;
    std::string renderer;
    std::string version;
    std::string language;
};

// Readable lines. Two drivers with the same identity make the same of every program; the same
// driver has one identity in all window systems.
// `code` is an address in the vendor's library. REQUIRES: a context of the vendor has been current,
// so that all parts of its driver are loaded.
std::string driver_identity(const void *code, const DriverNames &names);

// Mesa's configuration files ("drirc") switch workarounds on by the name of the executable: a
// source that compiles in one application need not compile in the next. The whole of the files
// belongs to the identity; the name of the application does only if a file mentions it, so that all
// other applications share their programs.

// The first of the names of an executable that a file with this text may concern; null: none. The
// text is not parsed: in doubt, it concerns all.
const std::string *mentioned_executable(const std::string &text,
                                        std::span<const std::string> names);

// By which names Mesa may know a process whose program_invocation_name and executable file these
// are: by what follows the last slash of the invocation name, or the last backslash (Wine). An
// invocation name that begins with the file, as after a process has written all its arguments
// there, stands for the file.
std::vector<std::string> names_for_mesa(const std::string &invocation, const std::string &file);

// Lines for the identity: one for each of `files` that is there, and one for the application if
// they mention it.
std::string configuration_lines(const std::vector<std::string> &files,
                                const std::vector<std::string> &names);

}  // namespace cairn::gl
