// A hash of named numbers, of which each can change at any time: what a state is, in short. And things
// by the names that GL gives them.
// SPDX-License-Identifier: MIT
//
// Two sets of the same numbers under the same names have the same hash, in whatever order they came
// about. The hash is no proof: it decides only when to look closer.
//
// Thread safety: externally synchronised, but for hash(). Failure: set() throws without memory, and
// changes nothing then.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gl/functions.h"

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
    Slots() = default;
    Slots(const Slots &other) : numbers_(other.numbers_), hash_(other.hash()) {}
    Slots &operator=(const Slots &other) {
        if (this == &other) return *this;
        numbers_ = other.numbers_;
        hash_.store(other.hash(), std::memory_order_relaxed);
        return *this;
    }
    void set(uint64_t name, uint64_t number) {
        uint64_t &place = numbers_.at(name | 1);
        const uint64_t now = mixed(mixed(0, name), number) | 1;
        if (place == now) return;
        hash_.store(hash() ^ place ^ now, std::memory_order_relaxed);
        place = now;
    }
    void clear() {
        numbers_.clear();
        hash_.store(0, std::memory_order_relaxed);
    }
    uint64_t hash() const { return hash_.load(std::memory_order_relaxed); }

  private:
    NumberMap numbers_;
    std::atomic<uint64_t> hash_ = 0;
};

// GL's names are small numbers, but applications may choose their own. References stay valid until
// erase().
template <typename T>
class ByName {
  public:
    T &operator[](GLuint name) {
        if (name >= kNearMax) return far_[name];
        if (name >= near_.size()) near_.resize(std::bit_ceil(size_t{name} + 1));
        std::unique_ptr<T> &thing = near_[name];
        if (thing == nullptr) thing = std::make_unique<T>();
        return *thing;
    }
    void erase(GLuint name) {
        if (name >= kNearMax) {
            far_.erase(name);
        } else if (name < near_.size()) {
            near_[name].reset();
        }
    }

  private:
    static constexpr GLuint kNearMax = 1u << 14;

    std::vector<std::unique_ptr<T>> near_;
    std::unordered_map<GLuint, T> far_;
};

}  // namespace cairn::gl::record
