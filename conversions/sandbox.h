// Runs a converter in a process of its own, so that no input can do us more harm than a failure.
// SPDX-License-Identifier: MIT
//
// The child has bounds on its time, memory, output and messages. Before it looks at the input it
// gives up the memory that it shares with other processes (caches that are open) and its
// descriptors, and has the kernel refuse every system call but those for memory, time and its
// answer: it opens, changes and names no file, starts no process and signals nobody. It dies with
// its parent.
//
// Thread safety: any thread; see fork(2) about other threads: none of ours may hold a lock that
// converters need.
// Failure: an outcome with a message that says what happened.
#pragma once

#include <cstddef>

#include "conversions/converter.h"

namespace cairn::conversions {

struct Limits {
    std::size_t input_bytes = 16u << 20;
    std::size_t output_bytes = 64u << 20;
    std::size_t messages_bytes = 64u << 10;  // longer ones are cut
    std::size_t memory_bytes = std::size_t{2} << 30;
    unsigned seconds = 60;
};

// Gives up when the other end of the socket `client` is closed; -1: nobody else waits.
Converted convert_in_child(const ShaderConverter &converter, const Options &options,
                           std::string_view input, const Limits &limits = {}, int client = -1);

}  // namespace cairn::conversions
