// The name by which people know this process's program. Caches are named after it, and the
// configuration calls an application by it.
// SPDX-License-Identifier: MIT
//
// The name is that of the executable file, whatever the process says of itself: Chromium, Electron
// and users of setproctitle overwrite their arguments. Where the file runs other people's programs
// (an interpreter, Wine, the loader), it is that program's. Two programs of one name share it.
//
// Thread safety: any thread. Failure: there is always a name, by whatever the system tells.
#pragma once

#include <string>

#include "common/process_start.h"

namespace cairn {

// The most characters of a name. A front end can put up to 8 in front and keep below the 64 of an
// application of cairn_program_cache.h.
inline constexpr size_t kApplicationNameMax = 56;

// The program that a process runs that was started so: letters, digits, '.', '_' and '-', not
// beginning with a dot. A name that is too long ends in digits that tell it from others.
std::string application_of(const ProcessStart &start);

// The same for this process, computed when the library is loaded, before a sandbox closes. The player
// of `cairn warm` (recipe/player.h) has the name of the application that it makes programs for.
const std::string &application_name();
// Whether this process is such a player.
bool is_player();
// The path of the file that the application runs; "" where nobody knows it.
std::string application_executable();

}  // namespace cairn
