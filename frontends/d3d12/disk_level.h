// The entries of a DISK session, in a cache that all processes of the user share.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once, but for close.
// Failure: see Outcome; a damaged entry counts as absent.
#pragma once

#include <cairn/cairn.h>

#include <memory>
#include <string>

#include "entry.h"
#include "key_hash.h"
#include "presence.h"

namespace cairn::d3d12 {

class DiskLevel {
  public:
    struct Options {
        std::string root;  // empty: the library's
        std::string identifier;
        std::string about;
        uint64_t version = 0;
        uint64_t limit_bytes = 0;
        uint64_t memory_bytes = 0;  // for keeping entries that were found
        cairn_log_fn log = nullptr;
        void *log_user = nullptr;
    };
    // `level` is null after anything but ok.
    static Outcome open(const Options &options, std::unique_ptr<DiskLevel> &level);
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

  private:
    DiskLevel(cairn_cache *cache, const Options &options)
        : cache_(cache),
          limit_bytes_(options.limit_bytes),
          log_(options.log),
          log_user_(options.log_user) {}
    Outcome put(const KeyHash &hash, const Entry &entry);
    Outcome store_measured(const KeyHash &hash, const Entry &entry);
    Outcome give_up() const;
    void say(int severity, const std::string &line) const;

    cairn_cache *const cache_;
    const uint64_t limit_bytes_;
    const cairn_log_fn log_;
    void *const log_user_;
    Presence presence_;
    bool hidden_ = false;  // the entries were to be deleted; constant after opening
};

}  // namespace cairn::d3d12
