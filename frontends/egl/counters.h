// Counts for `cairn run`: the fields of RunReport, in memory shared with the launcher.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread, any process; relaxed atomic additions. Failure: without a report
// nothing is counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/run_report.h"
#include "os/environment.h"

namespace cairn::egl {

using Counter = uint64_t RunReport::*;

// Maps the report that the settings name, and counts this process in. Called once, when the library
// is loaded.
void attach_counters();

void count(Counter counter, uint64_t amount = 1);

// This process made its first context: counts it once.
void count_process();

// Tells the launcher of a problem (kProblem...) with the cache, and why there is one. The
// first of all processes counts.
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

}  // namespace cairn::egl
