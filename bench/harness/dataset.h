// The data all engines are given: 20-byte keys and values cut from the machine code of this
// system's libraries. Everything about entry i follows from the seed and i, so that each process
// knows the expected bytes without being told.
// Thread safety: const methods concurrent. Ownership: a Dataset keeps the pool (a memfd that
// children inherit) mapped; spans stay valid as long as it lives.
// Failure: throws std::runtime_error when no pool can be made.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

using Bytes = std::span<const std::byte>;

inline constexpr std::size_t kKeySize = 20;
inline constexpr std::uint64_t kSeed = 0x6361697236010203;

// The size and content of values.
enum class Shape {
    program,  // lognormal, median 6 KiB, 1 to 64 KiB: compiled programs
    tiny      // 64 to 128 bytes, evenly: for a million entries
};

// A key with what is known about its value; half a cache line, so that checking a size costs a
// timed loop nothing.
struct Entry {
    std::array<std::byte, kKeySize> key;
    std::uint32_t value_size;
    std::uint64_t value_head;  // the value's first 8 bytes

    Bytes key_bytes() const { return key; }
};
static_assert(sizeof(Entry) == 32);

// SplitMix64: a stream of random numbers, and a hash of its position.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    std::uint64_t below(std::uint64_t bound);  // evenly in [0, bound); bound > 0
    double unit();                             // evenly in (0, 1]

  private:
    std::uint64_t state_;
};

class Dataset {
  public:
    // Makes the pool from the system's libraries.
    Dataset();
    // Takes the pool from a parent process. The descriptor stays the caller's.
    explicit Dataset(int pool_fd);
    ~Dataset();
    Dataset(const Dataset &) = delete;
    Dataset &operator=(const Dataset &) = delete;

    Bytes value(std::uint64_t index, Shape shape) const;
    Entry entry(std::uint64_t index, Shape shape) const;
    std::vector<Entry> entries(std::uint64_t first, std::uint64_t count, Shape shape) const;
    bool matches(std::uint64_t index, Shape shape, Bytes found) const;

    // A key that is in no store.
    static Entry missing(std::uint64_t index);

    int pool_fd() const { return pool_fd_; }
    std::size_t pool_size() const { return pool_.size(); }

  private:
    void map();

    Bytes pool_;
    int pool_fd_ = -1;
    int own_fd_ = -1;
};

// `count` positions in [0, entries): evenly spread, or by Zipf's law with exponent 0.99 over
// shuffled ranks.
std::vector<std::uint32_t> uniform_order(std::uint64_t entries, std::size_t count, Random random);
std::vector<std::uint32_t> zipf_order(std::uint64_t entries, std::size_t count, Random random);

}  // namespace bench
