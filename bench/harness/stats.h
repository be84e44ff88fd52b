// Time stamps and percentiles.
// Thread safety: Ticks is calibrated once per process, thereafter concurrent; Samples belongs to
// one thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace bench {

// Nanoseconds of the monotonic clock.
inline std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

// A cheaper time stamp for single operations: the time stamp counter where there is one, since
// asking the system's clock costs as much as the fastest lookups here do.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
    unsigned core;
    return __rdtscp(&core);
#else
    return now_ns();
#endif
}

double ns_per_tick();

// The cost of one measurement with ticks(), which every single-operation figure contains.
double tick_overhead_ns();

double median(std::vector<double> values);

// The smallest of the values that at least so many percent of them do not exceed; reorders them.
template <typename Value>
Value percentile(std::vector<Value> &values, double percent) {
    const auto count = static_cast<double>(values.size());
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * count));
    const std::size_t position = std::min(std::max<std::size_t>(rank, 1), values.size()) - 1;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// Durations of single operations, in ticks.
class Samples {
  public:
    explicit Samples(std::size_t expected) { ticks_.reserve(expected); }
    void add(std::uint64_t ticks) { ticks_.push_back(ticks); }
    std::size_t count() const { return ticks_.size(); }
    double percentile_ns(double percent);  // reorders the samples
    double max_ns() { return percentile_ns(100); }
    double sum_ns() const;

  private:
    std::vector<std::uint64_t> ticks_;
};

// Involuntary context switches of this thread so far.
std::int64_t preemptions();

// Durations of single puts. The longest one is also told without those in which another program
// took the processor away: that is what a store's own work, and the kernel's for it, makes a caller
// wait.
class PutSamples {
  public:
    explicit PutSamples(std::size_t expected) : all_(expected) {}

    template <typename Put>
    bool time(Put put) {
        const std::int64_t preempted = preemptions();
        const std::uint64_t start = ticks();
        const bool done = put();
        const std::uint64_t duration = ticks() - start;
        all_.add(duration);
        if (preemptions() == preempted) {
            own_max_ = std::max(own_max_, duration);
        }
        return done;
    }

    Samples &all() { return all_; }
    double own_max_ns() const { return static_cast<double>(own_max_) * ns_per_tick(); }

  private:
    Samples all_;
    std::uint64_t own_max_ = 0;
};

}  // namespace bench
