// Counters of one run: the front ends in its processes add to memory that they share with the
// launcher, `cairn run`.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread and any process. All fields are only ever added to, atomically and
// relaxed, so the counters are there however a process ends.
// Ownership: the launcher makes the memory; an attached process keeps it mapped as long as it
// lives.
// Failure: without a report nothing is counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "history/outcome.h"
#include "os/environment.h"

namespace cairn {

struct RunReport {
    std::uint64_t layout;         // kRunReportLayout
    std::uint64_t processes;      // that attached and used a front end
    std::uint64_t contexts;       // created
    std::uint64_t compile_calls;  // glCompileShader by the application
    std::uint64_t compile_ns;     // spent inside those calls
    std::uint64_t link_calls;     // glLinkProgram, glCreateShaderProgramv by the application
    // Spent inside those calls; deferred compiles, and status queries that waited, included.
    std::uint64_t link_ns;
    std::uint64_t driver_compiles;  // compiles that reached the driver
    std::uint64_t driver_links;     // links that reached the driver
    std::uint64_t hits;             // links answered with a cached binary that the driver accepted
    std::uint64_t misses;           // cacheable links that found no entry
    std::uint64_t rejected;         // cached binaries that the driver refused
    std::uint64_t stored;           // entries
    std::uint64_t store_failed;     // entries that could not be stored
    std::uint64_t bypassed;         // links of a kind that the front end does not cache
    // Sum over hits: the recorded cost of compiling and linking, less the time spent.
    std::uint64_t saved_ns;
    std::uint64_t bytes_read;     // program binaries, from the cache
    std::uint64_t bytes_written;  // program binaries, to the cache
    // Time in Cairn itself for contexts, and on misses: keys, look-ups, glGetProgramBinary, stores.
    std::uint64_t overhead_ns;
    std::uint64_t loads;         // processes that loaded a front end
    std::uint64_t displays;      // of EGL, initialised
    std::uint64_t own_binaries;  // that the application gave its driver by itself
    std::uint64_t problem;       // the first that any process had with the cache; 0: none
    char problem_text[160];      // why, with a terminating zero; written before `problem`
    std::uint64_t glx_contexts;  // of the contexts, those of GLX
    std::uint64_t remembered;    // links that were not found, and that `cairn why` knows of
    std::uint64_t reserved[19];
    std::uint64_t outcomes[kOutcomes];    // links by Outcome
    std::uint64_t outcome_ns[kOutcomes];  // the time that they took, compiles included
};

inline constexpr std::uint64_t kRunReportLayout = 2;
// The environment variable in which the launcher names the memory by a path.
inline constexpr const char *kRunReportVariable = "CAIRN_REPORT";
// The name of a recording: `cairn run --record`.
inline constexpr const char *kRecordVariable = "CAIRN_RECORD";
// Asks that the first lines of sources are kept: `cairn run --keep-sources`.
inline constexpr const char *kKeepSourcesVariable = "CAIRN_KEEP_SOURCES";

// Values of `problem`.
inline constexpr std::uint64_t kProblemNotUsed = 1;    // the cache could not be opened
inline constexpr std::uint64_t kProblemNotStored = 2;  // an entry could not be stored
inline constexpr std::uint64_t kProblemNotServed = 3;  // a process was passed through: permission.h

// Maps the report of that path. Null when it cannot be mapped or is of another layout.
RunReport *attach_run_report(const char *path);

using Counter = uint64_t RunReport::*;

// From now on this process counts in the report of that path, and is counted in. For when the front
// end is loaded; once.
void attach_counters(const char *path);

void count(Counter counter, uint64_t amount = 1);
// Counts a link, and the time that it took.
void count_link(Outcome outcome, uint64_t spent_ns);

// This process made its first context: counts it once.
void count_process();

// Tells the launcher of a problem (kProblem...) with the cache, and why there is one. Only the
// first problem of all processes is kept.
void note_problem(uint64_t problem, std::string_view why);

// Adds the time from its construction to its destruction to a counter.
class Stopwatch {
  public:
    explicit Stopwatch(Counter counter) : counter_(counter) {}
    // Counts the call as well.
    Stopwatch(Counter counter, Counter calls) : counter_(counter) { count(calls); }
    ~Stopwatch() { count(counter_, monotonic_ns() - start_); }
    Stopwatch(const Stopwatch &) = delete;
    Stopwatch &operator=(const Stopwatch &) = delete;

  private:
    Counter counter_;
    uint64_t start_ = monotonic_ns();
};

}  // namespace cairn
