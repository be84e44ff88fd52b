// A cache whose entries are put by any thread, and written by one thread of its own.
// SPDX-License-Identifier: MIT
//
// A put costs its caller a copy in memory at most. The thread starts with the first entry, looks
// every four milliseconds for what has come, until nothing has for a while, and takes the processor
// from nobody; a queue that is half full wakes it. So the queue is empty again within milliseconds.
// Look-ups find a queued entry as if it were stored. A process that is killed loses its queue.
// When the queue is full, the newest entry is dropped, and counted. An entry put if absent, and
// one that alone fills the queue, is written at once.
//
// Thread safety: any thread; destruction is the last call, and writes what is queued. A forked
// child has no such thread: it makes a queue of its own.
// Failure: busy: the queue is full; nothing changed. An entry that cannot be stored later is
// counted and forgotten, and the entry that it was to replace is removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "cache/cache.h"
#include "os/worker.h"

namespace cairn {

class QueuedCache final : public Cache {
  public:
    // At any time another one, or null. The place outlives the cache.
    using WatcherPlace = std::atomic<const QueueWatcher *>;

    // `limit_bytes`: of keys and values.
    QueuedCache(std::unique_ptr<Cache> inner, std::uint64_t limit_bytes,
                const WatcherPlace *watcher = nullptr)
        : inner_(std::move(inner)), limit_bytes_(limit_bytes), watcher_(watcher) {}

    Result<BlobRef> get(Bytes key) override;
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override;
    Result<bool> contains(Bytes key) override;
    BlobRef get_cached(Bytes key) override;
    Fate fate_of(Bytes key) override { return inner_->fate_of(key); }
    BlobRef peek(Bytes key) override;
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override;
    Result<bool> remove(Bytes key) override;
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override;
    Status flush(std::uint64_t patience_us) override;
    // These wait for what is queued first.
    Status sync() override;
    Status compress() override;
    void enumerate(const Visit &visit) override;
    CacheStats stats() override;
    std::uint64_t evicted() override { return inner_->evicted(); }
    std::uint64_t disk_limit() override { return inner_->disk_limit(); }
    // These are the inner cache's alone.
    void visit_newest(const std::function<bool(Bytes key)> &visit) override {
        inner_->visit_newest(visit);
    }
    std::uint64_t clears() const override { return inner_->clears(); }
    const CachePlace *place() const override { return inner_->place(); }

  private:
    struct Item {
        BlobRef entry;
        PutOptions options;
        std::uint64_t number;  // in the order of pushing
    };
    using Items = std::list<Item>;  // oldest first
    // As long as it lives nothing is written; it waits for the write in progress first. Its holder
    // must not push, or wait for a thread that does.
    class Pause;

    static std::uint64_t size_of(const Item &item) {
        return item.entry->key().size() + item.entry->value().size();
    }
    BlobRef find(Bytes key);
    // The same for a look-up that counts.
    BlobRef find_hit(Bytes key);
    bool push(BlobRef entry, const PutOptions &options);
    void write_until_stopped();
    void write_next() REQUIRES_LOCK(mutex_);
    void tell() const REQUIRES_LOCK(mutex_);
    bool all_written_up_to(std::uint64_t number) const REQUIRES_LOCK(mutex_);

    const std::unique_ptr<Cache> inner_;
    const std::uint64_t limit_bytes_;
    const WatcherPlace *const watcher_;  // null: nobody is told
    std::atomic<std::uint64_t> hits_ = 0, bytes_read_ = 0;

    Mutex mutex_;
    Condition written_;  // something was written, or is not going to be
    Items items_ GUARDED_BY(mutex_);
    std::unordered_map<std::string_view, Items::iterator, KeyHash> by_key_ GUARDED_BY(mutex_);
    Items writing_ GUARDED_BY(mutex_);  // one item, or none
    std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
    std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
    std::uint64_t failed_ GUARDED_BY(mutex_) = 0;
    unsigned pauses_ GUARDED_BY(mutex_) = 0;
    bool is_idle_ GUARDED_BY(mutex_) = true;  // the writer does not look by itself
    Worker writer_{[this] { write_until_stopped(); }, Worker::Priority::background};
};

}  // namespace cairn
