// A thread beside a cache, for all that nobody should wait for: it brings entries into memory after
// a start, reads for those who wait for a bounded time, writes down the order of the start, tells
// the disk what was found in memory, and trims memory when it is short.
// SPDX-License-Identifier: MIT
//
// Who waits comes first. Then what the last start used, in its order, then the newest entries, one
// at a time, until the level is full; after each there is a pause that keeps the bytes per second
// below a bound. It takes the processor from nobody, holds no lock while it reads, and waits
// without looking about when there is nothing to do.
//
// Thread safety: any thread; destruction is the last call, and waits for one read at most, then
// writes the order down. A forked child has no such thread: it makes a loader of its own.
// Failure: without a descriptor or a thread nothing of all this happens, and get() is late.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cache/pressure.h"
#include "cache/start_order.h"
#include "cache/use_notes.h"
#include "os/event.h"
#include "os/thread.h"
#include "store/store.h"

namespace cairn {

// What the thread works for. Its methods are called by that thread only, without a lock.
class LoadTarget {
  public:
    enum class Kept { yes, no, full };
    struct Loaded {
        Kept kept = Kept::no;
        std::uint64_t read_bytes = 0;  // from disk
    };
    virtual ~LoadTarget() = default;
    // Reads an entry and keeps it, unless there is a newer one or no room.
    virtual Loaded load(Bytes key) = 0;
    virtual Loaded load_at(Location location) = 0;
    virtual std::vector<Location> newest() = 0;
    // As a look-up does.
    virtual Result<BlobRef> look_up(Bytes key) = 0;
    virtual void note_use(Bytes key) = 0;
    virtual void trim(Pressure pressure) = 0;
};

struct LoaderStats {
    std::uint64_t loaded_entries, loaded_bytes;  // kept in memory; keys and values
    std::uint64_t left;                          // entries that are yet to be looked at
    bool is_done;                                // or there is nothing to be loaded
    std::uint64_t start_keys;                    // noted of this start
    std::uint64_t late;                          // get() that did not wait for its answer
    std::uint64_t hits_told;                     // to the disk
    std::uint64_t trims;                         // for pressure
};

class Loader {
  public:
    struct Options {
        std::uint64_t bytes_per_second = 0;  // 0: nothing is loaded
        bool has_memory = true;              // else there are only requests
        bool may_write = true;               // the order
        PressureOptions pressure;
        // The order is written when the start is so old, and again when it has ended.
        std::uint64_t first_write_ns = 2'000'000'000, start_end_ns = 10'000'000'000;
        // Loading begins that long after the cache was opened: what the start does
        // first, it does with the processor and the disk for itself.
        std::uint64_t load_after_ns = 2'000'000;
        // So does watching for pressure: processes that live shorter do not pay for it at their
        // end.
        std::uint64_t watch_after_ns = 10'000'000'000;
        // Hits are told this often at most, and when so many are noted.
        std::uint64_t tell_each_ns = 1'000'000'000;
    };

    // `target` outlives the loader. Null: no descriptor is to be had.
    static std::unique_ptr<Loader> make(LoadTarget &target, Directory directory,
                                        const Options &options);
    ~Loader();
    Loader(const Loader &) = delete;
    Loader &operator=(const Loader &) = delete;

    // A key was used. Cheap, and waits for nobody.
    void note(Bytes key, UseNotes::Where where) {
        if (notes_.note(key, where)) event_.signal();
    }
    // The entry as it is on disk; null: a miss; nullopt: that is not known within `patience_us`,
    // and will be in memory later.
    Result<std::optional<BlobRef>> get(Bytes key, std::uint64_t patience_us);
    // The cache was emptied: nothing more is loaded, and the order is forgotten.
    void forget();
    // Nothing more is loaded ahead.
    void stop_loading() { has_enough_ = true; }
    LoaderStats stats() const;

  private:
    struct Request {
        std::string key;
        bool is_done = false;
        Error error = Error::none;
        BlobRef found;
    };
    using Requests = std::list<std::shared_ptr<Request>>;
    enum class Phase { wait, order, newest, done };

    Loader(LoadTarget &target, Directory directory, const Options &options, Event event)
        : target_(target),
          directory_(std::move(directory)),
          options_(options),
          event_(std::move(event)) {}

    void start() REQUIRES_LOCK(mutex_);
    static void *run(void *loader);
    void work_until_stopped();
    void plan();
    void watch_when_due(std::uint64_t now);
    bool answer_next();
    void load_next();
    void next_phase();
    void end_loading();
    void forget_when_told();
    std::uint64_t write_due() const;
    void write_when_due(std::uint64_t now);
    void write_start();
    void tell_when_due(std::uint64_t now);
    void tell_hits(std::uint64_t deadline_ns);
    void trim_when_short();
    std::uint64_t next_due() const;
    bool is_loading() const { return phase_ != Phase::done; }

    LoadTarget &target_;
    const Directory directory_;
    const Options options_;
    const Event event_;
    UseNotes notes_;
    std::atomic<bool> is_stopped_ = false;
    std::atomic<bool> is_forgotten_ = false;
    std::atomic<bool> has_enough_ = false;

    Mutex mutex_;
    Condition answered_;
    Requests requests_ GUARDED_BY(mutex_);  // what is at work is no longer there
    bool is_started_ GUARDED_BY(mutex_) = false;

    // The thread's.
    Phase phase_ = Phase::wait;
    StartOrder order_;
    std::vector<Location> newest_;
    std::size_t next_ = 0;          // in that of the phase
    unsigned full_ = 0;             // entries that found no room
    std::uint64_t began_ns_ = 0;    // the start
    std::uint64_t resume_ns_ = 0;   // the pause after a step ends
    std::uint64_t told_ns_ = 0;     // when the disk was last told
    unsigned writes_ = 0;           // of the order: the first, and the last of the start
    std::size_t written_keys_ = 0;  // of this start
    PressureWatch pressure_;
    bool is_watching_ = false;

    std::atomic<std::uint64_t> loaded_entries_ = 0, loaded_bytes_ = 0, left_ = 0;
    std::atomic<bool> is_done_ = false;
    std::atomic<std::uint64_t> late_ = 0, hits_told_ = 0, trims_ = 0;
    Thread thread_;  // last: it uses the others
};

}  // namespace cairn
