// What an engine keeps its compiled programs in: memory over disk, one generation of each driver,
// writes off the calling thread, and entries that a driver died with remembered.
// SPDX-License-Identifier: MIT
//
// Look-ups go to the memory level, then to what is queued for the disk, then to the store. What was
// read from disk is kept in memory only if the key was not put, removed or cleared meanwhile: a
// late load never replaces something newer. What other processes clear is dropped from memory by
// the next look-up.
//
// A thread of the cache's own (loader.h) brings entries into memory after a start, in the order in
// which the last start used them.
//
// Thread safety: any thread; destruction is the last call. A child of fork() opens the cache anew
// with its first call, and begins with an empty memory level and queue: threads, locks and what was
// queued stay with the parent.
// Failure: as the store's. Without the file of crashes nothing is remembered of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cache/crash_memory.h"
#include "cache/generation.h"
#include "cache/generations.h"
#include "cache/loader.h"
#include "cache/write_queue.h"
#include "os/mapping.h"
#include "store/store.h"

namespace cairn {

struct ProgramCacheStats {
    std::uint64_t memory_entries, memory_bytes, memory_limit_bytes;
    std::uint64_t memory_hits;
    WriteQueueStats queue;
    CrashCounts crashes;
    LoaderStats loader;
};

class ProgramCache {
  public:
    struct Options {
        StoreOptions store;  // its identifier and `about` come from the generation
        Generation generation;
        std::uint64_t memory_bytes = 0;            // 0: no memory level
        std::uint64_t queue_bytes = 0;             // 0: no queue: a put writes
        Upkeep upkeep = {UINT64_MAX, UINT64_MAX};  // of all generations below the root
        // Of all generations of the application, where it was given one: see limit.h.
        std::optional<std::uint64_t> application_bytes;
        Loader::Options loader;  // `has_memory` and `may_write` follow the others
    };

    static Result<std::unique_ptr<ProgramCache>> open(const Options &options);
    ~ProgramCache();
    ProgramCache(const ProgramCache &) = delete;
    ProgramCache &operator=(const ProgramCache &) = delete;

    Result<BlobRef> get(Bytes key);
    // The same; nullopt: it is not in memory, and the disk did not answer within `patience_us`. It
    // will be in memory when it has.
    Result<std::optional<BlobRef>> get_within(Bytes key, std::uint64_t patience_us);
    // As Store::get_into().
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer);
    Result<bool> contains(Bytes key);
    // kept_out: the driver has died with the entry, twice. busy: the queue is full; nothing
    // changed.
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options);
    Result<bool> remove(Bytes key);
    Status clear();
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns);
    // Waits until what was put before is on disk. busy: not within `patience_us`.
    Status flush(std::uint64_t patience_us);
    Status sync();
    Status compress();

    // Around handing the entry to a driver: see crash_memory.h.
    std::uint32_t begin_use(Bytes key);
    void end_use(std::uint32_t ticket);

    // Of the memory level: evicts the least recently used entries until `bytes` are left, a piece
    // at a time. Nothing more is loaded ahead.
    std::uint64_t trim(std::uint64_t bytes);

    const std::string &root() const { return options_.store.root; }
    const std::string &identifier() const { return options_.store.identifier; }
    StoreStats stats();
    ProgramCacheStats own_stats();
    // Of what is on disk.
    void enumerate(const std::function<bool(const EntryInfo &)> &visit);

  private:
    struct Local;
    // Zeroed in a forked child.
    struct Page {
        Mutex mutex;
        std::atomic<Local *> local;
    };

    ProgramCache(const Options &options, Mapping page)
        : options_(options), page_(std::move(page)) {}

    Page &page() const { return *reinterpret_cast<Page *>(page_.data()); }
    Result<std::unique_ptr<Store>> open_store() const;
    Result<std::unique_ptr<Local>> open_local() const;
    void start_upkeep(Local &local) const;
    void open_crash_memory(Local &local, const Directory &directory) const;
    void start_loader(Local &local, Directory directory) const;
    // This process's; null: it cannot be opened in this child.
    Local *local();
    static BlobRef find_in_memory(Local &own, Bytes key);

    const Options options_;
    const Mapping page_;
};

}  // namespace cairn
