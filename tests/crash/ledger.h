// A record of what threads or processes have done to the cache that they share, so that each can
// judge every answer it gets.
// SPDX-License-Identifier: MIT
//
// Three kinds of keys, each with the strictest rule that holds for it without any lock:
//
//  owned      Only one worker writes a key, with versions that count up; some versions are
//  removals. A lookup may give any
//             version from the latest one that was acknowledged, or seen by anybody, when it began,
//             up to the latest one that had been started when it ended. Nothing else: an older one
//             is wrong, no value is a loss.
//  contended  Every worker writes. A value is wrong if its put had ended before another put began
//  that was acknowledged
//             before the lookup began.
//  once       Every worker puts if absent. The first value that is acknowledged or seen is the only
//  one ever seen.
//
// A worker that is killed between cairn_put and its acknowledgement leaves a version that may or
// may not be there; both are allowed for. A search of the segments may bring it back late, also
// after a removal that did not find it, until the key is stored again.
//
// Thread safety: atomics only; made for memory that processes share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cairn_test {

using Counter = std::atomic<std::uint64_t>;

inline constexpr std::size_t kWorkersMax = 16;
inline constexpr std::size_t kOwnedKeys = 1024;
inline constexpr std::size_t kContendedKeys = 32;
inline constexpr std::size_t kOnceKeys = 1024;

// Failures of all processes together. The first of each kind are printed to standard error
// as they are found.
struct Findings {
    Counter lost = 0;    // stored, and not found
    Counter wrong = 0;   // a value that cannot be, a crash, a hang
    Counter failed = 0;  // a call that gave an error it must not give here
    Counter printed = 0;

    bool none() const { return lost == 0 && wrong == 0 && failed == 0; }
};

[[gnu::format(printf, 3, 4)]] void report(Findings &findings, Counter &kind, const char *format,
                                          ...);

// The latest acknowledged put of an owned key; one word, so that its parts belong together.
struct Acked {
    std::uint64_t version = 0;
    // For caches that are cleared meanwhile: how many clears had begun when the put began
    // (kOverlapped: one was under way), and when it ended.
    std::uint64_t clears_at_begin = 0;
    std::uint64_t clears_at_end = 0;

    static constexpr std::uint64_t kOverlapped = 0xFFFF;
    std::uint64_t pack() const { return version << 32 | clears_at_begin << 16 | clears_at_end; }
    static Acked unpack(std::uint64_t word) {
        return {word >> 32, word >> 16 & 0xFFFF, word & 0xFFFF};
    }
};

struct OwnedKey {
    Counter started = 0;
    Counter seen = 0;
    Counter acked_word = 0;  // see Acked
    Counter cut_short = 0;   // the latest put that was started and never acknowledged
    Acked acked() const { return Acked::unpack(acked_word); }
};

struct Writer {
    static constexpr std::size_t kRing = 16384;
    Counter sequence = 0;  // of the latest contended or once put that was started
    std::array<Counter, kRing>
        ended{};  // the clock at the end of put number i modulo kRing; 0: not ended
};

struct Progress {
    alignas(64) Counter reads = 0;
    Counter writes = 0;   // acknowledged
    Counter refused = 0;  // given an error that the scenario allows
    std::uint64_t total() const { return reads + writes + refused; }
};

struct Ledger {
    Findings findings;
    Counter clock = 0;
    Counter stop = 0;
    Counter bytes_written = 0;
    Counter clears_started = 0;
    Counter clears_finished = 0;
    std::array<Progress, kWorkersMax> progress{};
    std::array<OwnedKey, kOwnedKeys> owned{};
    std::array<Counter, kContendedKeys>
        contended_begin{};                  // the latest begin of an acknowledged put
    std::array<Counter, kOnceKeys> once{};  // writer and sequence of the only value; 0: not known
    std::array<Writer, kWorkersMax> writers{};

    std::uint64_t tick() { return clock.fetch_add(1) + 1; }
};

// Raises a counter to at least `value`.
inline void raise_to(Counter &counter, std::uint64_t value) {
    std::uint64_t now = counter.load();
    while (now < value && !counter.compare_exchange_weak(now, value)) {
    }
}

// Whether version `version` of an owned key is a removal. Version 0 is the state before the first.
bool is_removal(std::uint64_t key, std::uint64_t version);

}  // namespace cairn_test
