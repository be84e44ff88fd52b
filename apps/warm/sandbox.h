// Shuts the player in before it reads a recipe: drivers compile what strangers may have written.
// SPDX-License-Identifier: MIT
//
// From then on no thread of the process can start a program, look into or signal another process, use
// a network, change the system, or write a file but below the caches' directories, the driver's own,
// devices, and the temporary ones. It reads what its user can. It is bounded in memory, the kernel
// kills it before others where memory is short, and it dies with its parent. Its priority is the
// lowest there is.
//
// Thread safety: shut_in() before any other thread runs. Failure: what a kernel cannot do is left out and
// said; a driver that needs what is refused fails as it would without the rights.
#pragma once

#include <string>
#include <vector>

namespace cairn::warm {

// The directories that a player may write below, by its environment.
std::vector<std::string> writable_folders();

// Returns what it cannot hold players back from, for people; "": nothing.
std::string shut_in(const std::vector<std::string> &writable);

// What is left to write below once the context is there: the cache that programs go to, the driver's own
// caches, devices.
std::vector<std::string> folders_of_caches(const std::string &cache);

// Once the context is there: no socket is made or connected any more, and no thread, of the driver's
// neither, writes but below these. REQUIRES: shut_in() was called; no other thread handles SIGSYS.
// Returns as shut_in().
std::string shut_in_further(const std::vector<std::string> &writable);

}  // namespace cairn::warm
