// Traces of look-ups, for policy_sim.
// SPDX-License-Identifier: MIT
//
// One line per look-up: KEY SIZE_BYTES COST_US, where the cost is what a miss costs, as `cairn run
// --trace FILE` writes. A line of KEY alone has the size and the cost of the key's first look-up.
// Lines that begin with # are comments; at "# start" a new process goes on.
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace policy_sim {

struct Request {
    std::uint32_t key;  // by the order of first look-ups, from 0
    std::uint32_t value_bytes;
    std::uint32_t record_bytes;  // what the store takes for it
    std::uint32_t cost_us;
    bool is_start;  // of a process
};

struct Trace {
    std::vector<Request> requests;
    std::size_t key_count = 0;
    std::uint64_t footprint_bytes = 0;  // of the records of all keys
    std::uint64_t bytes = 0;            // of the records of all look-ups
    std::uint64_t cost_us = 0;          // of all look-ups
};

// The first 8 bytes of a value are its key's number, so smaller ones count as 8.
inline constexpr std::uint32_t kValueBytesMin = 8;

// nullopt: the file cannot be read, or there is no look-up in it.
std::optional<Trace> read_trace(const char *path);

// How well a policy did.
struct Score {
    std::uint64_t hits = 0;
    std::uint64_t hit_bytes = 0;
    std::uint64_t avoided_us = 0;

    void count(const Request &request) {
        ++hits;
        hit_bytes += request.record_bytes;
        avoided_us += request.cost_us;
    }
};

}  // namespace policy_sim
