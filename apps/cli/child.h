// SPDX-License-Identifier: MIT
// Runs another program so that neither the program nor our own parent can tell that we stand in
// between: signals reach it, stopping and continuing a job works, and its end is ours.
// Thread safety: for the main thread of a process without other threads; one run at a time.
// Failure: see ChildEnd; a Failure is thrown only when no process could be made at all.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text.h"

namespace cairn::cli {

struct ChildEnd {
    // Of the program; 128 + n when signal n ended it; 126 or 127 when it was not started.
    int exit_code = 0;
    std::optional<int> signal;  // that ended it
    int start_error = 0;        // errno of a program that could not be executed
};

// The words as the exec calls take them, valid as long as the words.
std::vector<char *> argument_pointers(const Words &words);

// A program of ours that people call: beside this one where both are installed, in apps/`folder` of a
// build tree. A Failure where it is not installed.
std::string find_program(const std::string &name, const std::string &folder);

// This process becomes a program of ours. A Failure where that cannot be executed; `hint` asks what may be
// missing.
[[noreturn]] void become_program(const std::string &program, const Words &arguments,
                                 const char *hint);

// Called with the program's process while it runs, ever more seldom. False: do not call again.
using Look = std::function<bool(pid_t)>;

// Runs `command` in our environment (the program is looked for as a shell does), and waits.
//
// Signals. This process sends on a signal that was sent to it alone. A signal of the terminal
// (Ctrl-C and so on) has reached the program as well, which is in the same process group, so it is
// not sent twice. When the program stops because of SIGTSTP, SIGTTIN or SIGTTOU this process stops
// too, so that the shell sees the job as stopped.
ChildEnd run_child(const Words &command, const Look &look);

// How an application draws, if not through us, by the libraries that its processes have loaded.
// They are read from /proc now and then while the processes run, since nobody can tell afterwards.
// A process that ends between two looks, or cannot be looked into, was not seen.
struct Seen {
    bool vulkan = false;               // a driver's library for Vulkan
    bool past_us = false;              // a driver's library for EGL or GLX and not ours
    bool glx = false;                  // ... that for GLX
    bool cleared_environment = false;  // ... in a process that does not have our variables
    bool of_32_bits = false;           // ... of 32 bits

    bool anything() const { return vulkan || past_us; }
};

// Adds what a process uses that has mapped files of these names.
void add_libraries(const std::set<std::string, std::less<>> &libraries, Seen &seen);

// Adds what the process and all that it has started use.
void look_at_processes(pid_t first, Seen &seen);

}  // namespace cairn::cli
