// What becomes of the look-ups of an application: counts each by its outcome, and finds out why an
// entry was not there: docs/why.md.
// SPDX-License-Identifier: MIT
//
// One Account for each cache, and one for look-ups without any. What is counted goes to the launcher
// (RunReport), to the cache's history, and to the numbers of the day.
//
// Thread safety: any thread. Ownership: the cache outlives its account; the account outlives a cache
// whose queue it watches.
// Failure: what cannot be remembered is not; then the outcome of a miss is `unknown`, with a reason.
// Construction and explain() throw where there is no memory, the others never.
#pragma once

#include <cairn/cairn.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "history/counters.h"
#include "history/history.h"
#include "history/outcome.h"

namespace cairn {

class Account {
  public:
    // A cache on disk of which it may be remembered what becomes of look-ups.
    struct Remembered {
        cairn_cache *cache;
        std::string application;    // as people know it
        std::string root;           // of the cache
        std::string counters_root;  // below which the numbers of the day are; empty: none are kept
        std::uint64_t driver;       // see HistoryHeader
    };
    explicit Account(const Remembered &remembered);
    // Of look-ups of which nothing is remembered, and why. Of `not_remembered` nothing is counted, either.
    Account(const std::string &application, Detail unknown_because);

    // Null: nothing is remembered.
    History *history() { return history_.get(); }
    void add(Number number, std::uint64_t amount);
    // A look-up, and the time that it took, with that of making the entry.
    void count(Outcome outcome, std::uint64_t spent_ns);
    // One that was a hit, of an entry that it had cost `cost_ns` to make.
    void count_hit(Outcome outcome, std::uint64_t cost_ns, std::uint64_t spent_ns);
    // From now on the history says what is queued.
    void watch_queue();
    // Entries that the cache has evicted since this was called last.
    void note_evictions();

    // Why the entry of this key was not found just now.
    Link explain(Bytes key, const ProgramParts &program);

  private:
    bool is_made_meanwhile(Bytes key, const Seen &seen);

    cairn_cache *const cache_ = nullptr;
    std::unique_ptr<History> history_;
    std::optional<DayTally> day_;
    const Detail unknown_because_;
    std::atomic<std::uint64_t> evicted_seen_ = 0;
};

// By which a history names the program of this key: by its beginning.
LinkKey link_key(std::span<const std::uint8_t> key);

// A link of which only this is known.
Link link_of(Outcome outcome, Detail detail = Detail::none, std::uint64_t other = 0);

}  // namespace cairn
