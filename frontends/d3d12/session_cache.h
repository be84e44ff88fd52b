// The cache that all sessions of one identity in this process share, and the registry of those that
// are open.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods and functions at once. Opening and closing a cache hold up nobody but
// those who want the same one.
// Lifetime: the registry itself is never destroyed, so that objects may be released at any time,
// also at the end of the process. Forking: a child has a registry of its own, empty at first;
// sessions that it inherited can be released, and what they share stays open.
// Failure: see Outcome.
#pragma once

#include <cairn/cairn_control.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "disk_level.h"
#include "os/per_process.h"
#include "session_account.h"
#include "session_memory.h"

namespace cairn::d3d12 {

struct CloseControl {
    void operator()(cairn_control *control) const { cairn_control_close(control); }
};
using ControlRef = std::unique_ptr<cairn_control, CloseControl>;
// `root` empty: the library's. Null where there is no memory.
ControlRef open_control(const std::string &root, uint32_t flags, cairn_log_fn log, void *user);

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
    struct State {
        Mutex mutex;
        // How many sessions have each; guarded by mutex
        std::map<std::pair<cairn_log_fn, void *>, unsigned> sessions;
    };
    PerProcess<State> state_;
};

class SessionCache {
  public:
    // `cache` is null after anything but ok; else the log of the options is one of its listeners.
    static Outcome open(const CacheOptions &options, std::unique_ptr<SessionCache> &cache);
    ~SessionCache() { delete account_.load(); }
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
    // ok, exists, collision, disabled, or an error of cairn_put.
    Outcome store(Bytes key, Bytes value);
    // False: it will not be deleted.
    bool delete_on_destroy() { return disk_ == nullptr || disk_->delete_on_destroy(); }
    Outcome clear();

    const CacheOptions &options() const { return options_; }
    Listeners &listeners() { return listeners_; }

  private:
    explicit SessionCache(const CacheOptions &options);
    SessionAccount &account();
    void follow_clears();
    EntryRef take_held(Bytes key);
    Outcome store(const KeyHash &hash, Bytes key, const EntryRef &entry);
    Outcome store_on_disk(const KeyHash &hash, Bytes key, const EntryRef &entry);

    Listeners listeners_;
    CacheOptions options_;  // with the listeners' log; constant after construction
    SessionMemory memory_;  // of MEMORY; for DISK the store keeps entries in memory
    ControlRef control_;    // null: nothing is ever disabled
    std::atomic<uint64_t> clears_seen_ = 0;
    TryMutex held_mutex_;
    EntryRef held_ GUARDED_BY(held_mutex_);  // of DISK
    std::thread::id held_by_ GUARDED_BY(held_mutex_);
    std::unique_ptr<DiskLevel>
        disk_;  // null for MEMORY; behind the log, of which it hears to its end
    std::atomic<SessionAccount *> account_ = nullptr;  // owned; made with the first look-up
};

// Joins the cache of this identity, which is opened where nobody has it open. `cache` is the
// session's share in it: the cache closes with the last, and the log of the options hears of it
// until then. ok, disabled, other_version, cannot_open, busy, no_memory.
Outcome join_cache(const CacheOptions &options, std::shared_ptr<SessionCache> &cache);

// Clears the caches that are open and obey the control of this root. ok, or how one failed.
Outcome clear_caches(const std::string &control_root);

}  // namespace cairn::d3d12
