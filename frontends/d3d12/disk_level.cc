// SPDX-License-Identifier: MIT
#include "disk_level.h"

#include <algorithm>
#include <new>

#include "os/deadline.h"

namespace cairn::d3d12 {
namespace {

// The charge of an entry in a small cache, besides its record.
constexpr uint64_t kEntryOverhead = sizeof(KeyHash);

constexpr uint64_t kBusyPatienceUs = 200'000;

}  // namespace

Outcome DiskLevel::open(const CacheOptions &options, std::unique_ptr<DiskLevel> &level) {
    cairn_options open = {};
    open.size = sizeof open;
    open.root = options.root.c_str();
    open.identifier = options.identifier.c_str();
    open.version = options.version;
    open.flags = CAIRN_OPEN_REFUSE_WHEN_FULL | CAIRN_OPEN_NOTICE_DELETION;
    open.limit_bytes = std::max<uint64_t>(options.limit_bytes, CAIRN_LIMIT_BYTES_MIN);
    open.memory_bytes = options.memory_bytes;
    open.about = options.about.c_str();
    open.log = options.log;
    open.log_user = options.log_user;
    cairn_cache *cache = nullptr;
    const int result = cairn_open(&open, &cache);
    if (result != CAIRN_OK) {
        return result == CAIRN_ERROR_BUSY        ? Outcome::other_version
               : result == CAIRN_ERROR_NO_MEMORY ? Outcome::no_memory
                                                 : Outcome::cannot_open;
    }
    level.reset(new (std::nothrow) DiskLevel(cache, options));
    if (level == nullptr) {
        cairn_close(cache);
        return Outcome::no_memory;
    }
    const Outcome joined = level->join();
    if (joined != Outcome::ok) {
        level.reset();
    }
    return joined;
}

Outcome DiskLevel::join() {
    switch (presence_.join(options_.root + "/" + options_.identifier)) {
        case Presence::Joined::yes:
            return Outcome::ok;
        case Presence::Joined::must_clear:
            if (clear() != Outcome::ok) return Outcome::cannot_open;
            presence_.cleared();
            return Outcome::ok;
        case Presence::Joined::hidden:
            hidden_ = true;
            return Outcome::ok;
        case Presence::Joined::busy:
            return Outcome::busy;
        case Presence::Joined::impossible:
            break;
    }
    log().write(Severity::error,
                "sessions.lock of %s cannot be used: it must be a file of this user with no other "
                "name, and file descriptors must be left",
                options_.identifier.c_str());
    return Outcome::cannot_open;
}

DiskLevel::~DiskLevel() {
    // Left by the lock, not by the end of the process: so the next one finds nothing to do.
    if (presence_.leave() == Presence::Left::must_clear && clear() == Outcome::ok) {
        presence_.cleared();
    }
    cairn_close(cache_);
}

EntryRef DiskLevel::find(const KeyHash &hash) {
    cairn_blob *blob = nullptr;
    if (hidden_ || cairn_get(cache_, hash.data(), hash.size(), &blob) != CAIRN_OK) return nullptr;
    return Entry::adopt(blob);
}

Outcome DiskLevel::store(const KeyHash &hash, const Entry &entry) {
    if (entry.record().size() > std::min<uint64_t>(options_.limit_bytes, CAIRN_VALUE_SIZE_MAX)) {
        const int there = cairn_contains(cache_, hash.data(), hash.size());
        return there == CAIRN_OK ? Outcome::exists : Outcome::full;
    }
    return options_.limit_bytes < CAIRN_LIMIT_BYTES_MIN ? store_measured(hash, entry)
                                                        : put(hash, entry);
}

Outcome DiskLevel::put(const KeyHash &hash, const Entry &entry) {
    cairn_put_options options = {};
    options.size = sizeof options;
    options.flags = CAIRN_PUT_IF_ABSENT;
    options.cost_us = entry.cost_us();
    const Bytes record = entry.record();
    const auto put_once = [&] {
        return cairn_put(cache_, hash.data(), hash.size(), record.data(), record.size(), &options);
    };
    int result = put_once();
    if (result == CAIRN_ERROR_FULL) {
        // The first attempt has reclaimed the space of processes that were killed while they
        // stored.
        result = put_once();
    }
    // Others take space, one after the other; one that was stopped there must not keep us.
    for (Backoff backoff(kBusyPatienceUs); result == CAIRN_ERROR_BUSY && backoff.pause();) {
        result = put_once();
    }
    return result == CAIRN_ERROR_BUSY ? give_up() : Outcome{result};
}

Outcome DiskLevel::give_up() const {
    log().write(Severity::warning,
                "an entry was not stored: another process has been taking space in the cache for "
                "too long; is one stopped?");
    return Outcome::busy;
}

// The store keeps no limit below its own smallest: such a cache is measured and stored to by one
// thread at a time. It has few entries.
Outcome DiskLevel::store_measured(const KeyHash &hash, const Entry &entry) {
    const auto alone = presence_.lock_to_measure();
    if (alone.error() == Error::denied || alone.error() == Error::read_only) return Outcome::denied;
    if (!alone.ok() && alone.error() != Error::not_found) return give_up();
    if (cairn_contains(cache_, hash.data(), hash.size()) == CAIRN_OK) return Outcome::exists;
    // Sizes as given, for a limit that the store cannot keep.
    uint64_t size = entry.record().size() + kEntryOverhead;
    const auto add = [](void *sum, const cairn_entry *other) {
        *static_cast<uint64_t *>(sum) += other->value_size + kEntryOverhead;
        return 0;
    };
    (void)cairn_enumerate(cache_, add, &size);
    if (size > options_.limit_bytes) return Outcome::full;
    return put(hash, entry);
}

Outcome DiskLevel::clear() {
    return Outcome{cairn_clear(cache_)};
}

}  // namespace cairn::d3d12
