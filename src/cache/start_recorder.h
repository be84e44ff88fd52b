// Records which entries of a cache a start uses, in the order of their first use: start_order.h.
// SPDX-License-Identifier: MIT
//
// A use is a look-up that finds the entry, or a put. One costs a hash and a look at one word if the
// key was noted before; a new key costs a mutex and a copy of the key; after the start, a use costs
// a look at a flag. A thread writes the file when the start is two seconds old, if the cache is
// used then, and again when it ends; flush() and the destructor write what is new.
//
// What a clear by any process has removed is forgotten: before the file is written, and after that.
//
// Thread safety: any thread; destruction is the last call. A forked child makes its own.
// Failure: a key that cannot be noted is left out, and a file that cannot be written stays.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <unordered_set>

#include "base/mutex.h"
#include "cache/start_order.h"
#include "os/worker.h"

namespace cairn {

class StartRecorder {
  public:
    // Ages of the start.
    struct Times {
        std::uint64_t first_write_us = 2'000'000;
        std::uint64_t end_us = 10'000'000;
    };

    // `directory` is that of the cache, and `clears` counts what processes clear in it.
    StartRecorder(Directory directory, const Times &times, std::function<std::uint64_t()> clears);
    ~StartRecorder();
    StartRecorder(const StartRecorder &) = delete;
    StartRecorder &operator=(const StartRecorder &) = delete;

    // Notes a use.
    void note(Bytes key);
    // How many keys are noted.
    std::size_t count() const { return count_; }
    // Writes what is new, once a second at most.
    void flush();
    // Forgets what is noted and what is in the file.
    void clear();

  private:
    static constexpr std::size_t kPlaces = 4096;

    bool add(Bytes key, std::uint64_t hash) REQUIRES_LOCK(mutex_);
    void forget_noted() REQUIRES_LOCK(file_mutex_);
    void write_twice();
    void write();

    const Directory directory_;
    const Deadline first_write_, end_;
    const std::function<std::uint64_t()> clears_;

    std::array<std::atomic<std::uint64_t>, kPlaces> seen_ = {};  // hashes, and a count of uses
    std::atomic<std::size_t> count_ = 0;
    std::atomic<bool> has_ended_ = false;
    std::atomic<bool> is_started_ = false;  // the writer

    Mutex file_mutex_;  // held while the file is written; taken before the other
    std::size_t written_ GUARDED_BY(file_mutex_) = 0;
    OrderWrite next_write_ GUARDED_BY(file_mutex_) = OrderWrite::first;
    std::uint64_t clears_seen_ GUARDED_BY(file_mutex_);
    std::uint64_t written_ns_ GUARDED_BY(file_mutex_) = 0;  // 0: not yet

    Mutex mutex_;
    StartOrder start_ GUARDED_BY(mutex_);
    std::unordered_set<std::uint64_t> hashes_ GUARDED_BY(mutex_);
    Worker writer_{[this] { write_twice(); }, Worker::Priority::background};
};

}  // namespace cairn
