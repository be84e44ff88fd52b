// The cache that all sessions of one identity in this process share.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once. Failure: see Outcome.
#pragma once

#include <cairn/cairn_control.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "disk_level.h"
#include "os/per_process.h"
#include "session_memory.h"

namespace cairn::d3d12 {

// The functions that get the log lines of a cache that several sessions share. Once remove() has
// returned, the function is not called any more. In a child of fork() none is called for its
// parent's caches. add() throws std::bad_alloc.
class Listeners {
  public:
    void add(cairn_log_fn log, void *user);
    void remove(cairn_log_fn log, void *user);

    // The cairn_log_fn that the cache is opened with; `self` is a Listeners.
    static void receive(void *self, int severity, const char *line);

  private:
    struct Listener {
        cairn_log_fn log;
        void *user;
        unsigned sessions;
    };
    struct State {
        Mutex mutex;
        std::vector<Listener> listeners;  // guarded by mutex

        std::vector<Listener>::iterator find(cairn_log_fn log, void *user);
    };
    PerProcess<State> state_;
};

class SessionCache {
  public:
    struct Options {
        uint64_t version = 0;
        uint64_t memory_bytes = 0;
        uint64_t memory_entries = 0;
        // For a DISK session; the cache sets the fields that it knows itself.
        std::optional<DiskLevel::Options> disk;
        std::string control_root;  // empty: the library's
        KeyHashFunction hash = hash_key;
    };
    // `cache` is null after anything but ok.
    static Outcome open(const Options &options, cairn_log_fn log, void *user,
                        std::unique_ptr<SessionCache> &cache);
    SessionCache(const SessionCache &) = delete;
    SessionCache &operator=(const SessionCache &) = delete;

    // Whether sessions are disabled, by whatever process.
    bool disabled() const;

    enum class Wanted { size, value };
    // ok, not_found, collision, disabled.
    Outcome find(Bytes key, Wanted wanted, EntryRef &entry);
    // Keeps an entry whose size this thread was told. If the thread's next call asks for the value,
    // it gets this entry: so the two calls agree, and the disk is read once.
    void hold(EntryRef entry);
    // ok, exists, collision, full, disabled, busy, cannot_write, no_memory, failed.
    Outcome store(Bytes key, Bytes value);
    // cannot_write: it will not be deleted.
    Outcome delete_on_destroy();
    Outcome clear();
    // Closes the disk level; no other call may follow.
    void close() { disk_.reset(); }

    uint64_t version() const { return version_; }
    const std::string &control_root() const { return control_root_; }
    Listeners &listeners() { return listeners_; }

  private:
    explicit SessionCache(const Options &options)
        : version_(options.version),
          control_root_(options.control_root),
          hash_(options.hash),
          memory_(options.memory_bytes, options.memory_entries) {}
    void follow_clears();
    EntryRef take_held(Bytes key);
    Outcome store_on_disk(const KeyHash &hash, Bytes key, const EntryRef &entry);

    // Constant after opening.
    const uint64_t version_;
    const std::string control_root_;
    const KeyHashFunction hash_;

    struct CloseControl {
        void operator()(cairn_control *control) const { cairn_control_close(control); }
    };

    Listeners listeners_;
    SessionMemory memory_;  // of MEMORY; for DISK the store keeps entries in memory
    std::unique_ptr<cairn_control, CloseControl> control_;  // null: nothing is ever disabled
    std::atomic<uint64_t> clears_seen_ = 0;
    TryMutex held_mutex_;
    EntryRef held_ GUARDED_BY(held_mutex_);  // of DISK
    std::thread::id held_by_ GUARDED_BY(held_mutex_);
    std::unique_ptr<DiskLevel> disk_;  // null for MEMORY; last: it writes log lines to its end
};

}  // namespace cairn::d3d12
