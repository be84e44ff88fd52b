// A rate with room for bursts: what is left to be spent now.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cairn {

class TokenBucket {
  public:
    // Two seconds' worth may be spent at once.
    TokenBucket(double per_second, std::uint64_t now_ns)
        : per_second_(per_second), left_(2 * per_second), filled_ns_(now_ns) {}

    // May go below zero: what is large is paid off later.
    void spend(double amount) { left_ -= amount; }
    bool empty() const { return left_ <= 0; }
    void refill(std::uint64_t now_ns) {
        const double seconds = static_cast<double>(now_ns - filled_ns_) / 1e9;
        left_ = std::min(2 * per_second_, left_ + seconds * per_second_);
        filled_ns_ = now_ns;
    }
    double left() const { return left_; }

  private:
    double per_second_;
    double left_;
    std::uint64_t filled_ns_;
};

}  // namespace cairn
