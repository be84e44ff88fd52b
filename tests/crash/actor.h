// A worker's operations on a cache, each of which judges the answer by the ledger.
// SPDX-License-Identifier: MIT
//
// Thread safety: one thread; actors with different numbers share a ledger and may share a cache.
// Failure: what is found goes to the ledger's findings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "crash/ledger.h"
#include "support/cache.h"
#include "support/random.h"
#include "support/stamped_value.h"

namespace cairn_test {

// Whether a lookup may find nothing although nothing was removed: where entries are evicted or the
// index is rebuilt. An older version than another lookup has shown is wrong even then.
enum class Losses { none, allowed };
// Which errors a store may give: none; BUSY, where a stopped process may hold up a change; any,
// where the cache is full. With none, a store is tried again after BUSY, as that asks for: the
// processes that hold up the change are slow, not stopped.
enum class Refusals { none, busy, any };

// store(), tried again for 10 s and counted as refused.
int try_again_while_busy(Ledger &ledger, unsigned self, Refusals refusals,
                         const std::function<int()> &store);

struct ActorRules {
    Losses losses = Losses::none;
    Refusals refusals = Refusals::none;
    unsigned worker_count = 1;
    std::size_t value_size_max = 65536;
    std::size_t key_size_max = 300;
};

class Actor {
  public:
    Actor(Ledger &ledger, unsigned self, const ActorRules &rules, std::uint64_t seed)
        : ledger_(ledger), self_(self), rules_(rules), random_(seed) {}

    void use(Cache *cache) { cache_ = cache; }
    Random &random() { return random_; }

    // One operation of any kind, as often as real programs would do them.
    void step();

    void write_owned();
    void read_owned(std::uint64_t key);
    void read_some_owned() { read_owned(random_.below(kOwnedKeys)); }
    void write_contended();
    void read_contended(std::uint64_t key);
    void put_once(std::uint64_t key);
    void read_once(std::uint64_t key);
    void enumerate_some();
    void compress();

    // Reads everything there is, as somebody who comes later.
    void read_everything();
    // Every entry is enumerated exactly once, and is one that was stored. For when nobody writes.
    void enumerate_everything();

  private:
    struct Lookup {
        enum class Outcome { hit, miss, unusable } outcome;
        Stamp stamp;
    };

    Lookup lookup(const ByteVector &key_bytes, std::uint64_t key);
    void judge_owned_hit(std::uint64_t key, std::uint64_t lower, std::uint64_t upper,
                         std::uint64_t version);
    void judge_owned_miss(std::uint64_t key, std::uint64_t lower, std::uint64_t upper);
    int put(const ByteVector &key, const ByteVector &value, std::uint32_t flags = 0,
            std::uint32_t cost_us = 0);
    bool stored(int result, const char *what);
    std::size_t random_size();
    Progress &progress() { return ledger_.progress[self_]; }

    Ledger &ledger_;
    const unsigned self_;
    const ActorRules rules_;
    Random random_;
    Cache *cache_ = nullptr;
};

// Families of numbered keys.
inline constexpr std::uint64_t kOwnedFamily = 1;
inline constexpr std::uint64_t kContendedFamily = 2;
inline constexpr std::uint64_t kOnceFamily = 3;
inline constexpr std::uint64_t kTinyFamily = 4;
inline constexpr std::uint64_t kWipeFamily = 5;

}  // namespace cairn_test
