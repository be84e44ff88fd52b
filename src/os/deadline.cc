// SPDX-License-Identifier: MIT
#include "os/deadline.h"

#include <algorithm>
#include <atomic>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kPauseMaxUs = 1'000;

std::atomic<unsigned> times_patient = 1;

std::uint64_t ns_after_now(std::uint64_t count, std::uint64_t unit_ns) {
    const std::uint64_t now = monotonic_ns();
    return count > (UINT64_MAX - now) / unit_ns ? UINT64_MAX : now + count * unit_ns;
}

}  // namespace

Deadline Deadline::in_us(std::uint64_t microseconds) {
    return Deadline(ns_after_now(microseconds, 1'000));
}

Deadline Deadline::in_ms(std::uint64_t milliseconds) {
    return Deadline(ns_after_now(milliseconds, 1'000'000));
}

bool Deadline::has_passed() const {
    return ns_ != UINT64_MAX && monotonic_ns() >= ns_;
}

void be_patient(unsigned times) {
    times_patient.store(times, std::memory_order_relaxed);
}

Backoff::Backoff(std::uint64_t patience_us)
    : left_us_(patience_us * times_patient.load(std::memory_order_relaxed)) {}

bool Backoff::pause() {
    if (left_us_ == 0) return false;
    const std::uint64_t quarter = next_us_ / 4;
    const std::uint64_t chance = monotonic_ns() / 64 % (quarter + 1);  // the clock's last digits
    const std::uint64_t pause = std::min(next_us_ - chance, left_us_);
    sleep_us(static_cast<unsigned>(pause));
    left_us_ -= pause;
    next_us_ = std::min(2 * next_us_, kPauseMaxUs);
    return true;
}

}  // namespace cairn
