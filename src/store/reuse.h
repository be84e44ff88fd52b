// Learns how long an entry is worth keeping: watches when a sample of the keys is looked up again, and
// what each Taste would have saved. Format: docs/formats/reuse.md.
// SPDX-License-Identifier: MIT
//
// A key is in the sample if some bits of its hash are 0; of its look-ups, count and time are kept, also
// when its entry is gone. So for each taste it is known which keys a cache with that taste would hold
// now: those of the greatest worth, as many as fit. A look-up of a key that such a cache holds is saved
// cost for that taste; the taste that has saved most lately is the one that counts. Nothing is tried out
// on the entries themselves.
//
// Look-ups only leave a word in a ring; who makes room reads the rings of its own process into the
// file. What another process has in its ring, or one that was killed, is missed by the sample, and so
// are the oldest of too many.
//
// Thread safety: note_hit() and note_put() from any thread. Else externally synchronised, and by the
// eviction lock among processes.
// Failure: without the file, or where it is damaged, the sample begins with the entries that are there.
// Where the file can be neither made nor written, or not be read now, there is no taste.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "os/file.h"
#include "store/account.h"
#include "store/index.h"
#include "store/record_reader.h"
#include "store/uses.h"

namespace cairn {

inline constexpr const char *kReuseFileName = "reuse";

class Reuse {
  public:
    static constexpr std::uint64_t kHeaderSize = 80;
    static constexpr std::uint64_t kWordsPerSet = 8;
    static constexpr std::uint64_t kWordsMin = 512;
    static constexpr std::uint64_t kWordsMax = 4096;
    // Of the file of a cache with this limit.
    static std::uint64_t word_count(std::uint64_t limit_bytes);
    static constexpr unsigned kTastes = 4;

    // `directory` is that of the cache, and outlives this.
    explicit Reuse(const Directory &directory) : directory_(directory) {}
    Reuse(const Reuse &) = delete;
    Reuse &operator=(const Reuse &) = delete;

    void note_hit(const Index &index, std::uint64_t hash) {
        if (is_sampled(index, hash)) note(hash & kHashMask);
    }
    void note_put(const Index &index, std::uint64_t hash, std::uint32_t cost_us,
                  std::uint64_t size_bytes);
    bool has_notes() const { return noted_.load(std::memory_order_relaxed) != 0; }
    // Half of what can be noted before learn() must take it in.
    bool has_many_notes() const { return noted_.load(std::memory_order_relaxed) > kNotesMax / 2; }

    // Takes in what was noted, and returns the taste that counts now; nullopt: too little is known.
    std::optional<Taste> learn(Index &index, Account &account, RecordReader &reader);
    // Of a key in the sample, as far as learn() has seen.
    std::optional<Uses> uses_of(std::uint64_t hash) const;
    // What was cleared is of no interest any more.
    void forget_all(Index &index);

  private:
    // A note: the upper 40 bits of a hash, and of a put density and size.
    static constexpr std::uint64_t kHashMask = ~((std::uint64_t{1} << 24) - 1);
    static constexpr std::size_t kNotesMax = 1024;

    // Of the words and their header, as in the file.
    struct State {
        std::uint64_t cache_id = 0;
        unsigned shift = 0;  // of 2^shift keys, one is in the sample
        unsigned chosen = kTastes - 1;
        UseTime learned = 0;
        unsigned usual = kDensityAtFirst;
        unsigned begins = 0;  // eighths of a turnover in which nothing need come back
        std::array<int, kTastes> thresholds = {};
        std::array<std::uint8_t, kTastes> lots = {};
        std::array<std::uint64_t, kTastes> saved_us = {};
        std::uint64_t asked_us = 0;  // the cost of all that was looked up or put
        std::vector<std::uint64_t> words;
    };

    static bool is_sampled(const Index &index, std::uint64_t hash) {
        const std::uint64_t sampling = index.sampling();  // the shift + 1
        return sampling != 0 && is_in_sample(hash, static_cast<unsigned>(sampling - 1) % 16);
    }
    static bool is_in_sample(std::uint64_t hash, unsigned shift) {
        return is_tag_in_sample(Slot::tag_of(hash), shift);
    }
    static bool is_tag_in_sample(std::uint32_t tag, unsigned shift) {
        return (tag & ((1u << shift) - 1)) == 0;
    }
    void note(std::uint64_t note);
    Taste taste(unsigned number) const;
    // By how many keys are known, in as many words.
    static unsigned shift_for(const Index &index, std::size_t words);
    Status load(const Index &index);
    Status decode(Bytes bytes);
    Status save(Index &index, Account &account);
    void begin(Index &index, const Account &account, RecordReader &reader);
    void narrow(unsigned shift);
    void take_notes(UseTime now);
    void enter(std::uint64_t hash, Uses uses, unsigned density, unsigned size);
    std::size_t set_of(std::uint64_t hash) const;
    // nullopt: it is not known.
    std::optional<std::size_t> find(std::uint64_t hash) const;
    bool choose(UseTime now, std::uint64_t capacity_bytes);

    const Directory &directory_;
    std::array<std::atomic<std::uint64_t>, kNotesMax> notes_ = {};
    std::atomic<std::uint64_t> noted_ = 0;  // since the last learn()
    State state_;
};

}  // namespace cairn
