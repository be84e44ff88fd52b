// The work that a torture round's workers do until they are killed, and the checks of the cache
// afterwards.
// SPDX-License-Identifier: MIT
//
// Thread safety: functions for processes of their own that share one Arena.
// Failure: what is found goes to the arena's findings.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "crash/actor.h"
#include "crash/ledger.h"

namespace cairn_test {

enum class Scenario : unsigned {
    mixed,        // values of all sizes, replaced, removed, read, enumerated, pinned, put if absent
    short_lived,  // the same by processes that open the cache for a few operations only
    growth,       // a great many tiny entries, so that the index grows all the time
    clear,        // one worker clears the cache again and again
    wipe,         // workers open the cache in different versions
    rebuild,      // the index has been deleted, and the next process rebuilds it
    full,         // the cache is at its limits all the time, and evicts
    remember,     // the same, and what becomes of entries is remembered and counted
    count
};

std::string_view scenario_name(Scenario scenario);

inline constexpr unsigned kClearingWorker = 0;
inline constexpr std::size_t kTinyMax = 60000;  // tiny entries of one worker
inline constexpr std::size_t kWipeLog = 1 << 18;
inline constexpr std::uint64_t kFullLimit = 8u << 20;  // bytes
inline constexpr std::uint64_t kFullEntries = 900;

// remember: what one worker has done.
inline constexpr std::size_t kRememberedMax = 4096;
inline constexpr std::uint8_t kIsStored = 1, kIsNoted = 2;
struct Remembered {
    Counter begun = 0, counted = 0;  // additions to the numbers of the day
    Counter started = 0;             // entries
    std::array<std::atomic<std::uint8_t>, kRememberedMax> acked{};
};

// Everything that the processes of one round share.
struct Arena {
    Ledger ledger;
    Scenario scenario = Scenario::mixed;
    unsigned worker_count = 0;
    Refusals refusals = Refusals::none;
    std::uint64_t tiny_max = kTinyMax;
    // growth: how many each worker has started, and which were acknowledged
    std::array<Counter, kWorkersMax> tiny_started{};
    std::array<std::array<std::atomic<std::uint8_t>, kTinyMax>, kWorkersMax> tiny_acked{};
    // wipe: acknowledged puts in the order of their acknowledgement, see pack_wipe
    Counter wipe_logged = 0;
    std::array<Counter, kWipeLog> wipe_log{};
    std::array<Counter, kWorkersMax> wipe_sequence{};
    Counter wipe_opened = 0;
    std::array<Remembered, kWorkersMax> remembered{};

    Findings &findings() { return ledger.findings; }
};

// Runs until the arena's ledger says stop. Worker numbers count from 0.
void run_worker(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed);

// Stores what the scenario expects to be there before its workers start.
void prepare_cache(Arena &arena, const std::string &root);

// Reads everything as a process that comes afterwards.
void verify_cache(Arena &arena, const std::string &root);

// The directory of the cache that all scenarios use.
std::string cache_directory(const std::string &root);

}  // namespace cairn_test
