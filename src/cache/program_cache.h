// An engine's cache of compiled programs, composed of tiers and layers, in one generation of each
// driver.
// SPDX-License-Identifier: MIT
//
//     LoadingCache     brings entries into memory after a start, and bounds waiting for the disk
//     StartRecorder    writes down what the start uses; not where the cache is read only
//     CrashGuard       keeps out what drivers died with; not where the cache is read only
//     TieredCache      memory over the rest; not without a memory level
//     QueuedCache      writes off the calling thread; not without a queue
//     DiskCache        the generation
//
// Thread safety: any thread; destruction is the last call. A child of fork() composes the cache
// anew with its first call, and begins with an empty memory level and queue: threads, locks and
// what was queued stay with the parent.
// Failure: as the layers'. In a child that cannot open the cache, look-ups miss, and changes fail
// with io.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cache/cache_layer.h"
#include "cache/generation.h"
#include "cache/generations.h"
#include "cache/start_recorder.h"
#include "os/per_process.h"
#include "os/worker.h"

namespace cairn {

class ProgramCache final : public CacheLayer {
  public:
    struct Options {
        StoreOptions store;  // its identifier and `about` come from the generation
        Generation generation;
        std::uint64_t memory_bytes = 0;            // 0: no memory level
        std::uint64_t queue_bytes = 0;             // 0: no queue: a put writes
        bool load = true;                          // ahead, into memory
        Upkeep upkeep = {UINT64_MAX, UINT64_MAX};  // of all generations below the root
        // Of all generations of the application, where it was given one: see limit.h.
        std::optional<std::uint64_t> application_bytes;
        StartRecorder::Times times;
    };

    static Result<std::unique_ptr<ProgramCache>> open(const Options &options);
    ~ProgramCache() override;

    // These do not open the cache in a child that has not used it.
    Result<std::uint64_t> trim(std::uint64_t bytes) override;
    Status flush(std::uint64_t patience_us) override;
    void end_use(std::uint32_t ticket) override;
    const char *identifier() const override { return options_.store.identifier.c_str(); }
    std::optional<std::string> control_root() const override { return options_.store.root; }
    Result<LeasePlace> lease_place() const override {
        return LeasePlace{options_.store.root, options_.store.identifier};
    }

  private:
    struct Own {
        ~Own() { delete cache.load(); }
        Mutex mutex;  // held while it is composed
        std::atomic<Cache *> cache = nullptr;
    };

    explicit ProgramCache(const Options &options) : options_(options) {}

    Cache &find_inner() const override;
    Cache &composed() const;
    Result<std::unique_ptr<Cache>> compose() const;
    Status claim_generation(const Directory &directory, Cache &disk) const;
    void start_upkeep();

    const Options options_;
    mutable PerProcess<Own> own_;
    std::atomic<bool> upkeep_stops_ = false;
    Worker upkeep_{[this] {
        remove_superseded(options_.store.root, options_.upkeep, upkeep_stops_, options_.store.log);
    }};
};

}  // namespace cairn
