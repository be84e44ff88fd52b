// Numbers of look-ups over time: by day, application and generation, in one file that all processes
// of a user share: docs/formats/counters.md.
// SPDX-License-Identifier: MIT
//
// Use: open_counters() when the process opens a cache on disk. Each cache has a DayTally, and adds to it.
// Both may lock the file: a process in a sandbox that ends it for that has no cache on disk, either.
//
// Thread safety: any thread, in a forked child, too. Ownership: a process keeps the file open and mapped until it ends.
// Failure: what cannot be counted is lost, and nothing else. A process that was killed has counted
// all that add() had returned from.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "history/counters_format.h"
#include "history/tally.h"

namespace cairn {

// The name of the file in the root of all caches.
inline constexpr const char *kCountersName = ".counters";

// False: this process counts nothing there, as there is no such file and none can be made, or it counts
// below another root: it does below the first that this was called with.
bool open_counters(const std::string &root);

// Generations of one application have identifiers that differ in their ends only: in "-" and 16
// hexadecimal digits, or, of D3D12's sessions, in "-" and 12 digits twice (adapter and driver).
// The size of that end; 0: it is the identifier of no generation.
std::size_t generation_end_size(std::string_view identifier);
// A number for the end: the 16 digits', or a hash of those of D3D12; 0: there is none.
std::uint64_t generation_number(std::string_view identifier);

// The numbers of an application in a generation, those of today.
//
// It has a pointer to a row of the mapped file, which is the right one as long as the row's check is
// that of this application, generation and day. The check changes before the row becomes another's.
// Only rows of days that are over do, so no add() that has just looked is late.
class DayTally {
  public:
    // `application` as people know it, of 64 bytes at most; `generation` 0: of none.
    DayTally(const std::string &application, std::uint64_t generation);
    DayTally(const DayTally &) = delete;
    DayTally &operator=(const DayTally &) = delete;

    // Mostly a look at a coarse clock and a compare-and-swap. When the day has changed it looks for
    // the row of the new one, and may wait for other processes, 20 ms at most. Where there can be
    // none, nothing is counted, and it tries again after a second.
    void add(Number which, std::uint64_t amount);

  private:
    CounterRow *find_row(std::uint64_t day);

    // Constant after construction.
    const CounterIdentity identity_;
    const std::uint64_t seed_;

    std::atomic<CounterRow *> row_ = nullptr;
    std::atomic<std::uint64_t> day_ = 0;
    std::atomic<std::uint64_t> check_ = 0;     // of its row of that day
    std::atomic<std::uint64_t> retry_ns_ = 0;  // by the coarse monotonic clock
};

// The day it is, since 1970, UTC.
std::uint64_t counters_today();
// For tests: from now on it is this day for this process; 0: that of the clock.
void pretend_day(std::uint64_t day);

struct DayRow {
    std::uint64_t day = 0;         // kEarlierDay: of all that are too long ago
    std::string application;       // empty, of kEarlierDay: of applications that had no more room
    std::uint64_t generation = 0;  // 0: of none, or of all
    Numbers numbers;
};

// All rows that are whole, in no order; empty where there is no file. Reads the file and does not
// map it, so that one that somebody cuts meanwhile does no harm.
std::vector<DayRow> read_counters(const std::string &root);

// Forgets the numbers of an application, or of all where it is empty. Processes that run count on
// from 0. busy: others have the file for too long.
Status forget_counters(const std::string &root, const std::string &application);

}  // namespace cairn
