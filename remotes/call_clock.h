// How long one call may still take: to its end, and to the end of a window in which too little moved.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: none; the engine asks and gives up by itself.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "remotes/remote.h"

namespace cairn::remotes {

class CallClock {
  public:
    enum class State { going, over, stalled };

    explicit CallClock(const Limits &limits) : limits_(limits) {}

    // Bytes that came or went.
    void moved(std::uint64_t bytes) { bytes_in_window_ += bytes; }
    // A request begins. The time between two requests is ours and not the other side's.
    void begin_window() {
        window_ms_ = elapsed_ms();
        bytes_in_window_ = 0;
    }
    State look() {
        const std::uint64_t now = elapsed_ms();
        if (now >= limits_.call_ms) return State::over;
        if (now - window_ms_ < limits_.stall_ms) return State::going;
        if (bytes_in_window_ < limits_.stall_bytes) return State::stalled;
        begin_window();
        return State::going;
    }
    // Until look() may have something else to say; 1 at least, so that nobody waits in a busy loop.
    int wait_ms() const {
        const std::uint64_t now = elapsed_ms();
        const std::uint64_t end = std::min(limits_.call_ms, window_ms_ + limits_.stall_ms);
        const std::uint64_t left = end > now ? end - now : 1;
        return static_cast<int>(std::clamp<std::uint64_t>(left, 1, kWaitMaxMs));
    }
    // To the end of the call.
    std::uint64_t left_ms() const {
        const std::uint64_t now = elapsed_ms();
        return limits_.call_ms > now ? limits_.call_ms - now : 0;
    }

  private:
    static constexpr std::uint64_t kWaitMaxMs = 1'000;

    std::uint64_t elapsed_ms() const {
        const auto elapsed = std::chrono::steady_clock::now() - begin_;
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
    }

    const Limits limits_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::uint64_t window_ms_ = 0;
    std::uint64_t bytes_in_window_ = 0;
};

}  // namespace cairn::remotes
