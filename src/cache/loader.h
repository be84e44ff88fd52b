// A thread beside a cache, which brings the newest entries into memory after a start, and reads for
// those who wait for a bounded time.
// SPDX-License-Identifier: MIT
//
// Those who wait come first: before each entry that is loaded the thread answers them. It takes the
// processor from nobody, holds no lock while it reads, and sleeps when there is nothing to do.
//
// Thread safety: any thread; destruction is the last call, and waits for one read at most. A forked
// child has no such thread: it makes a cache of its own.
// Failure: without a thread nothing is loaded, and get_within() finds nothing in time.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "cache/cache.h"
#include "os/worker.h"

namespace cairn {

class Loader {
  public:
    enum class Ahead { yes, no };  // `no`: the thread only reads for those who wait

    // Its thread calls `note` with the key of each entry that it finds for get_within(), also when
    // that no longer waits. `cache` and what `note` uses outlive the loader.
    Loader(Cache &cache, Ahead ahead, std::function<void(Bytes)> note);
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;

    // Looks up on disk what the cache's get_cached() has not found. nullopt: the disk did not answer
    // in time. The entry will be in memory when it has, where there is a tier in memory.
    Result<std::optional<BlobRef>> get_within(Bytes key, std::uint64_t patience_us);
    void add_stats(ProgramStats &stats) const;

  private:
    struct Request {
        std::string key;
        bool is_done = false;
        Error error = Error::none;
        BlobRef found;
    };

    void work_until_stopped();
    void load();
    bool answer_next();
    void answer_all();

    Cache &cache_;
    const std::function<void(Bytes)> note_;
    std::atomic<std::uint64_t> loaded_entries_ = 0, late_ = 0;
    std::atomic<bool> is_loaded_;

    Mutex mutex_;
    Condition answered_;
    std::list<std::shared_ptr<Request>> requests_ GUARDED_BY(mutex_);  // not those at work
    Worker reader_{[this] { work_until_stopped(); }, Worker::Priority::background};
};

}  // namespace cairn
