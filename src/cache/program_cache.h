// An engine's cache of compiled programs, one generation of each driver, composed of other caches.
// SPDX-License-Identifier: MIT
//
//     AskingCache      what all below miss, the user's agent may have; only where the user says so
//     TieredCache      memory over the rest; not without a memory level
//     QueuedCache      writes off the calling thread; not without a queue
//     LayeredCache     packs under the generation, where there are any
//     DiskCache        the generation
//
// Beside these, a Loader brings entries into memory after a start and bounds waiting for the disk.
// Where the cache is not read only, a CrashMemory says which entries are kept out because drivers
// died with them, and a StartRecorder writes down which entries the start uses.
//
// Thread safety: any thread; destruction is the last call. A child of fork() composes the cache
// anew with its first call, and begins with an empty memory level and queue: threads, locks and
// what was queued stay with the parent.
// Failure: as those of its parts. In a child that cannot open the cache, look-ups miss, and changes
// fail with io.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/cache.h"
#include "cache/crash_memory.h"
#include "cache/generations.h"
#include "cache/layers.h"
#include "cache/loader.h"
#include "cache/start_recorder.h"
#include "os/per_process.h"
#include "os/worker.h"

namespace cairn {

class ProgramCache final : public Cache {
  public:
    struct Options {
        StoreOptions store;  // its identifier and `about` come from the generation
        Generation generation;
        std::uint64_t memory_bytes = 0;            // 0: no memory level
        std::uint64_t queue_bytes = 0;             // 0: no queue: a put writes
        bool load = true;                          // ahead, into memory
        Upkeep upkeep = {UINT64_MAX, UINT64_MAX};  // of all generations below the root
        // Of all generations of the application, where it was given one.
        std::optional<std::uint64_t> application_bytes;
        StartRecorder::Times times;
        bool records = true;  // what the start uses
        bool with_layers = true;
        bool shares = false;              // packs that come while it is open become layers
        std::uint64_t ask_ms = 0;         // that a miss may wait for the user's agent
        std::vector<std::string> layers;  // paths of packs, see layers.h

        // Limits the generation to `percent` of what the user gives the application (`given`), which
        // is `otherwise` where the user says nothing.
        void share_limit(std::optional<std::uint64_t> given, std::uint64_t percent,
                         std::uint64_t otherwise);
    };

    static Result<std::unique_ptr<ProgramCache>> open(const Options &options);
    ~ProgramCache() override;

    Result<BlobRef> get(Bytes key) override;
    Result<std::optional<BlobRef>> get_within(Bytes key, std::uint64_t patience_us) override;
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override;
    Result<bool> contains(Bytes key) override;
    Fate fate_of(Bytes key) override;
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override;
    Result<bool> remove(Bytes key) override { return parts().cache->remove(key); }
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override {
        return parts().cache->clear_range(begin_ns, end_ns);
    }
    Status sync() override { return parts().cache->sync(); }
    Status compress() override { return parts().cache->compress(); }
    CacheStats stats() override;
    std::uint64_t evicted() override { return existing_parts().cache->evicted(); }
    std::uint64_t disk_limit() override { return existing_parts().cache->disk_limit(); }
    void watch_queue(const QueueWatcher &watcher) override {
        queue_watcher_.store(&watcher, std::memory_order_release);
    }
    void enumerate(const Visit &visit) override { parts().cache->enumerate(visit); }
    std::uint32_t begin_use(Bytes key) override;

    // These do not open the cache in a child that has not used it.
    Result<std::uint64_t> trim(std::uint64_t bytes) override;
    Status flush(std::uint64_t patience_us) override;
    void end_use(std::uint32_t ticket) override;
    const CachePlace *place() const override { return &place_; }

  private:
    struct Parts {
        bool keeps_out(Bytes key) const { return crashes != nullptr && crashes->is_kept_out(key); }
        void note_use(Bytes key) const {
            if (recorder != nullptr) recorder->note(key);
        }

        std::unique_ptr<Cache> cache;             // never null
        std::unique_ptr<CrashMemory> crashes;     // null: nothing is remembered
        std::unique_ptr<StartRecorder> recorder;  // null: nothing is recorded
        std::unique_ptr<Loader> loader;           // last: it uses the cache
    };
    // Of one process.
    struct Own {
        ~Own() { delete parts.load(); }
        Mutex mutex;  // held while they are made
        std::atomic<Parts *> parts = nullptr;
    };

    explicit ProgramCache(const Options &options)
        : options_(options), place_{options.store.root, options.store.identifier} {}

    static Parts &no_parts();
    Parts &make_parts();
    // This process's; null: it has made none.
    Parts *existing() const {
        const Own *own = own_.existing();
        return own == nullptr ? nullptr : own->parts.load(std::memory_order_acquire);
    }
    Parts &parts() {
        Parts *found = existing();
        return found != nullptr ? *found : make_parts();
    }
    Parts &existing_parts() const {
        Parts *found = existing();
        return found != nullptr ? *found : no_parts();
    }
    Result<std::unique_ptr<Parts>> compose() const;
    std::unique_ptr<Parts> compose_without_disk(Error failure) const;
    LayeredSubject subject() const;
    void start_upkeep();

    const Options options_;
    const CachePlace place_;
    std::atomic<const QueueWatcher *> queue_watcher_ = nullptr;  // of each process's queue
    PerProcess<Own> own_;
    std::atomic<bool> upkeep_stops_ = false;
    Worker upkeep_{[this] {
        remove_superseded(options_.store.root, options_.upkeep, upkeep_stops_, options_.store.log);
    }};
};

}  // namespace cairn
