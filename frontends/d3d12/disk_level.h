// The entries of a DISK session, in a cache that all processes of the user share.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once, but for close.
// Failure: see Outcome; a damaged entry counts as absent.
#pragma once

#include <cairn/cairn.h>

#include <memory>
#include <string>

#include "base/log.h"
#include "entry.h"
#include "presence.h"

namespace cairn::d3d12 {

// What a session wants of its cache.
struct CacheOptions {
    std::string identity;  // sessions of one identity share a cache
    bool is_on_disk = false;
    std::string root;         // empty: none can be had
    std::string identifier;   // below the root
    std::string about;        // for people
    std::string application;  // the same, of whose numbers its look-ups are
    std::string driver;       // that its entries are for; empty: for any
    uint64_t version = 0;
    uint64_t limit_bytes = 0;   // on disk
    uint64_t memory_bytes = 0;  // of a MEMORY session; on disk for keeping entries that were found
    uint64_t memory_entries = 0;
    std::string control_root;  // whose control it obeys; empty: the library's
    KeyHashFunction hash = hash_key;
    cairn_log_fn log = nullptr;
    void *log_user = nullptr;
};

class DiskLevel {
  public:
    // `level` is null after anything but ok. `options` must outlive it.
    static Outcome open(const CacheOptions &options, std::unique_ptr<DiskLevel> &level);
    // Clears, if a session wished it and no other process has one.
    ~DiskLevel();
    DiskLevel(const DiskLevel &) = delete;
    DiskLevel &operator=(const DiskLevel &) = delete;

    // The entry of this hash, whatever its key is; null: there is none.
    EntryRef find(const KeyHash &hash);
    // ok: it was absent, and every process finds it now. exists: there is one of this hash.
    Outcome store(const KeyHash &hash, const Entry &entry);
    // False: it cannot be noted.
    bool delete_on_destroy() { return presence_.mark_for_clearing(); }
    Outcome clear();
    // In which its entries are; null while a session's wish hides them.
    cairn_cache *visible() const { return hidden_ ? nullptr : cache_; }

  private:
    DiskLevel(cairn_cache *cache, const CacheOptions &options) : cache_(cache), options_(options) {}
    Outcome join();
    Outcome put(const KeyHash &hash, const Entry &entry);
    Outcome store_measured(const KeyHash &hash, const Entry &entry);
    Outcome give_up() const;
    Log log() const { return {options_.log, options_.log_user}; }

    cairn_cache *const cache_;
    const CacheOptions &options_;
    Presence presence_;
    bool hidden_ = false;  // the entries were to be deleted; constant after opening
};

}  // namespace cairn::d3d12
