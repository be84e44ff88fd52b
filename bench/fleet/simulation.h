// Machines of a fleet that start one application after a driver's update: time is simulated, what they ask of the
// remote and keep on disk is real.
// SPDX-License-Identifier: MIT
//
// Thread safety: one thread. Failure: a std::exception with a message for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::fleet {

enum class Way {
    alone,    // nothing is shared
    scripts,  // `cairn pull` before each start, `cairn push` after it
    agent,    // the agent does both by itself
    asking,   // and applications that run ask it
};

struct Plan {
    Way way = Way::agent;
    std::string url;
    std::string name_space = "bench";
    std::string folder;  // for the machines' homes
    unsigned machines = 200;
    unsigned programs = 300;
    unsigned starts = 3;        // of each machine
    double window_s = 3600;     // in which the machines start for the first time
    double session_s = 600;     // a start takes so long
    double pause_s = 1200;      // between starts
    double latency_s = 0.02;    // of a request
    double bytes_per_s = 10e6;  // of a machine's line
    // As `ask_ms`. What an entry takes to compile bounds a question as well.
    double ask_s = 0.1;
    std::uint64_t seed = 1;
};

struct Outcome {
    std::uint64_t compiles = 0;        // of all programs on all machines
    std::uint64_t most_compiles = 0;   // of one program
    std::uint64_t compiles_first = 0;  // in machines' first starts, and in later ones
    std::uint64_t compiles_later = 0;
    double last_compile_s = 0;                          // after that nobody compiles
    std::vector<double> requests, bytes_in, bytes_out;  // of each machine
    std::uint64_t most_requests_in_a_second = 0;        // of all machines
    std::uint64_t pulls = 0, looks = 0, pushes = 0, fetches = 0, failures = 0;
    std::uint64_t answered = 0;  // entries that were not compiled, as somebody was asked
    std::uint64_t objects = 0, stored_bytes = 0;  // that the manifests list at the end
    std::uint64_t manifests = 0;
};

Outcome simulate(const Plan &plan);

}  // namespace bench::fleet
