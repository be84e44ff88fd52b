// SPDX-License-Identifier: MIT
// How an application draws, if not through us, by the libraries that its processes have loaded.
// They are read from /proc now and then while the processes run, since nobody can tell afterwards.
// A process that ends between two looks was not seen.
// Thread safety: externally synchronised. Failure: a process that cannot be looked into was not
// seen.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>

namespace cairn::cli {

struct Seen {
    bool glx = false;                  // a driver's library for GLX
    bool vulkan = false;               // a driver's library for Vulkan
    bool egl_past_us = false;          // a driver's library for EGL and not ours
    bool cleared_environment = false;  // ... in a process that does not have our variables
    bool of_32_bits = false;           // ... that ours cannot be loaded into
    std::string advice;                // how what uses GLX is made to use EGL; empty: not known

    bool anything() const { return glx || vulkan || egl_past_us; }
};

// Adds what a process uses that has mapped files of these names.
void add_libraries(const std::set<std::string, std::less<>> &libraries, Seen &seen);

// Adds what the process and all that it has started use.
void look_at_processes(pid_t first, Seen &seen);

}  // namespace cairn::cli
