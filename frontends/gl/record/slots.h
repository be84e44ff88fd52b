// A hash of named numbers, of which each can change at any time: what a state is, in short.
// SPDX-License-Identifier: MIT
//
// Two sets of the same numbers under the same names have the same hash, in whatever order they came
// about. The hash is no proof: it decides only when to look closer.
//
// Thread safety: externally synchronised, but for hash(). Failure: set() throws without memory, and
// changes nothing then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::gl::record {

inline uint64_t mixed(uint64_t hash, uint64_t number) {
    hash = (hash ^ number) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

// A set of numbers that are not 0, and for each a second one.
class NumberMap {
  public:
    // The place of a number's second one, which is 0 when it was not there.
    uint64_t &at(uint64_t number);
    size_t size() const { return size_; }
    void clear();

  private:
    struct Place {
        uint64_t number = 0;
        uint64_t second = 0;
    };
    Place &find(uint64_t number);

    std::vector<Place> places_;  // a power of two of them, or none
    size_t size_ = 0;
};

class Slots {
  public:
    void set(uint64_t name, uint64_t number) {
        uint64_t &place = numbers_.at(name | 1);
        const uint64_t now = mixed(mixed(0, name), number) | 1;
        if (place == now) return;
        hash_.store(hash() ^ place ^ now, std::memory_order_relaxed);
        place = now;
    }
    uint64_t hash() const { return hash_.load(std::memory_order_relaxed); }

  private:
    NumberMap numbers_;
    std::atomic<uint64_t> hash_ = 0;
};

}  // namespace cairn::gl::record
