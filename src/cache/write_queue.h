// Entries on their way to the disk: put by any thread, written by one thread of its own.
// SPDX-License-Identifier: MIT
//
// Who puts pays for a copy in memory. The thread starts with the first entry, looks each
// millisecond for what has come, until nothing has for a while, and takes the processor from
// nobody; so the queue is empty again within milliseconds. What is queued is found as if it were
// stored. When the process is killed, what was queued is lost; when the queue is full, the newest
// entry is dropped, and counted.
//
// Thread safety: any thread; destruction is the last call, and writes what is queued. A forked
// child has no such thread: it makes a queue of its own.
// Failure: what cannot be stored is counted and forgotten, and what it was to replace is removed.
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "os/thread.h"
#include "store/store.h"

namespace cairn {

struct WriteQueueStats {
    std::uint64_t entries;  // queued now, or being written
    std::uint64_t bytes;    // of them, keys and values
    std::uint64_t dropped;  // because the queue was full
    std::uint64_t failed;   // the store did not take them
};

class WriteQueue {
  public:
    // `store` outlives the queue. `limit_bytes`: of keys and values.
    WriteQueue(Store &store, std::uint64_t limit_bytes)
        : store_(store), limit_bytes_(limit_bytes) {}
    ~WriteQueue();
    WriteQueue(const WriteQueue &) = delete;
    WriteQueue &operator=(const WriteQueue &) = delete;

    // In place of what is queued for the key. False: it was dropped, and what was queued stays.
    bool push(BlobRef entry, const PutOptions &options);
    // What is queued for a key; null: nothing.
    BlobRef find(Bytes key);
    // As long as it lives nothing is written: it waits for what is being written first. What is
    // queued is found until it is cancelled. Who holds it must not push, or wait for who does.
    class Pause {
      public:
        explicit Pause(WriteQueue &queue);
        ~Pause();
        Pause(const Pause &) = delete;
        Pause &operator=(const Pause &) = delete;
        // Forgets what is queued for a key, or everything. Returns whether there was something.
        bool cancel(Bytes key);
        void cancel_all();

      private:
        WriteQueue &queue_;
    };
    // Waits until all that was pushed before is written or cancelled, `patience_us` at most. False:
    // it is not.
    bool flush(std::uint64_t patience_us);
    WriteQueueStats stats();

  private:
    struct Item {
        BlobRef entry;
        PutOptions options;
        std::uint64_t number;  // in the order of pushing
    };
    using Items = std::list<Item>;  // oldest first

    static std::string_view view(Bytes bytes) {
        return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    }
    static std::uint64_t size_of(const Item &item) {
        return item.entry->key().size() + item.entry->value().size();
    }
    void wake_writer() REQUIRES_LOCK(mutex_);
    void forget(Items::iterator item) REQUIRES_LOCK(mutex_);
    static void *run(void *queue);
    void write_until_stopped();
    void gather() REQUIRES_LOCK(mutex_);
    void write_next() REQUIRES_LOCK(mutex_);
    bool all_written_up_to(std::uint64_t number) const REQUIRES_LOCK(mutex_);

    Store &store_;
    const std::uint64_t limit_bytes_;

    Mutex mutex_;
    Condition work_;     // for the writer: there is something to do
    Condition written_;  // for others: something was written, or is not going to be
    Items items_ GUARDED_BY(mutex_);
    std::unordered_map<std::string_view, Items::iterator> by_key_ GUARDED_BY(mutex_);
    Items writing_ GUARDED_BY(mutex_);  // one item, or none
    std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
    std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
    std::uint64_t failed_ GUARDED_BY(mutex_) = 0;
    unsigned pauses_ GUARDED_BY(mutex_) = 0;
    unsigned hurried_ GUARDED_BY(mutex_) = 0;  // threads that wait: nothing is gathered then
    bool is_started_ GUARDED_BY(mutex_) = false;
    bool is_idle_ GUARDED_BY(mutex_) = false;  // the writer waits for work
    bool is_stopped_ GUARDED_BY(mutex_) = false;
    Thread thread_;
};

}  // namespace cairn
