// The identity of a driver: its own words, the build-ids of its libraries, and the options that it
// was started with.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions of the driver, the file system and what is loaded in the process.
// Failure: a configuration file that cannot be read is not there for Mesa either.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::gl {

struct DriverNames {
    std::string vendor;
    std::string renderer;
    std::string version;
    std::string language;
};

// Drivers that draw with the processor (llvmpipe, softpipe, lavapipe below zink) compile for it. Their
// identity has the processor's type and features, so that nothing that was compiled for another one
// is used: LLVM makes use of all that it finds, and Mesa's keys do not have all of that.
enum class Processor {
    unimportant,
    type,
    // And how many there are: Mesa refuses program binaries that were made with another number.
    type_and_number,
};
// Whether a driver's name, as GL_RENDERER or eglGetDisplayDriverName says it, is of one that draws
// with the processor, or may be.
bool draws_with_processor(std::string_view name);
// Lines for the identity. The processors are counted once in a process, as Mesa does.
std::string processor_lines(Processor processor);

// Readable lines. Two drivers with the same identity make the same of every program; the same
// driver has one identity in all window systems.
// `code` is an address in the vendor's library. REQUIRES: a context of the vendor has been current,
// or a display is initialised, so that all parts of its driver are loaded.
std::string driver_identity(const void *code, const DriverNames &names, Processor processor);

// Whether a line of an identity may differ between contexts of one driver.
bool is_of_context(std::string_view line);

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
