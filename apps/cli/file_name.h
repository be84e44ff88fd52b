// SPDX-License-Identifier: MIT
// What a FILE stands for that a user names.
// Thread safety: pure functions, and the file system.
// Failure: none; what is not there has a path all the same.
#pragma once

#include <string>

namespace cairn::cli {

struct FileName {
    int descriptor =
        -1;            // `-`, and names of what this process has open, as /dev/stdout and /dev/fd/3
    std::string path;  // of all else, links followed; empty: a link of /proc, which is no name
};

// `standard` is the descriptor that `-` stands for.
FileName look_up(const std::string &name, int standard);

}  // namespace cairn::cli
