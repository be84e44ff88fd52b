// Waiting for what another thread or process does.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <thread>

namespace cairn_test {

inline constexpr std::chrono::seconds kPatience{60};

// Whether `condition` becomes true in time. It is asked each fifth of a millisecond.
template <typename Condition>
bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return condition();
}

}  // namespace cairn_test
