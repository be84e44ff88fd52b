// How long something is waited for: until a moment, or as long as a number of pauses takes.
// SPDX-License-Identifier: MIT
//
// Thread safety: values; be_patient() in any thread.
#pragma once

#include <cstdint>

namespace cairn {

class Deadline {
  public:
    static Deadline never() { return Deadline(UINT64_MAX); }
    // So long after now; never() where no clock gets there.
    static Deadline in_us(std::uint64_t microseconds);
    static Deadline in_ms(std::uint64_t milliseconds);

    // By monotonic_ns().
    std::uint64_t ns() const { return ns_; }
    bool has_passed() const;

  private:
    explicit Deadline(std::uint64_t ns) : ns_(ns) {}
    std::uint64_t ns_;
};

// The pauses between attempts at something that another thread or process is to let go of:
//
//     Backoff backoff(kPatienceUs);
//     do {
//         if (try_it()) return true;
//     } while (backoff.pause());
//
// The first pause is short, each later one twice as long, up to a millisecond. Chance changes each
// a little, so that two that are in each other's way do not stay so.
//
// The patience is the sum of the pauses and not a moment by the clock. On a loaded machine a pause
// takes longer than it should, and so does the work of the one that is waited for.
class Backoff {
  public:
    explicit Backoff(std::uint64_t patience_us);
    // Sleeps. False, at once: the patience is at its end.
    bool pause();
    std::uint64_t left_us() const { return left_us_; }

  private:
    std::uint64_t left_us_;
    std::uint64_t next_us_ = 20;
};

// For tests of what is lost only where somebody gives up: from now on each Backoff that is made in this
// process, or in a child that it forks, is so many times as patient. What left_us() is compared with
// does not change: puts of the store wait for room no longer.
void be_patient(unsigned times);

}  // namespace cairn
