// What the rows about more than one process have another process do: this program again, with its
// environment changed. SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <map>
#include <string>

namespace conformance {

// Where this program is. Once, at the start.
void set_own_path(const char *path);

// In the other process: does what the scene says and prints what it sees. The exit code.
int play_scene(const std::string &name);

// Has another process play a scene; what it prints, or how it failed.
std::string play_elsewhere(const std::string &scene,
                           const std::map<std::string, std::string> &environment);

}  // namespace conformance
