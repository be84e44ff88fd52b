// How a process was started, as far as the system and its memory still say it.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions. Failure: a field that the system does not tell is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

struct ProcessStart {
    std::string file;    // the executable, absolute
    std::string called;  // another file that was executed, which has `file` as its interpreter
    // The arguments that are still in place. A process that overwrites them leaves one text of its
    // own, which is the first.
    std::vector<std::string> arguments;
    std::string folder;  // the working directory
    // Of an AppImage that has `file` inside: its own file.
    std::string app_image;
    bool has_app =
        false;  // `file` is Electron, and has resources/app or resources/app.asar beside it
};

// The part after the last slash or backslash.
std::string_view file_name(std::string_view path);

// The arguments that begin where the last one ends, as the system lays them out, or behind zeros
// that a shorter title has left.
std::vector<std::string> arguments_in_place(int count, char **arguments);

// Of this process. Reads the environment.
ProcessStart own_start(int count, char **arguments);

}  // namespace cairn
