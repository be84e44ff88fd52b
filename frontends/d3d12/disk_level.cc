// SPDX-License-Identifier: MIT
#include "disk_level.h"

#include <time.h>

#include <algorithm>
#include <new>
#include <vector>

namespace cairn::d3d12 {
namespace {

// What an entry counts in a small cache, besides its record.
constexpr uint64_t kEntryOverhead = sizeof(KeyHash);
// How long nobody looks again for space that dead processes hold.
constexpr int64_t kReclaimPauseS = 10;

Outcome outcome_of_open(int result) {
    switch (result) {
        case CAIRN_OK:
            return Outcome::ok;
        case CAIRN_ERROR_BUSY:
            return Outcome::other_version;
        case CAIRN_ERROR_NO_MEMORY:
            return Outcome::no_memory;
        default:
            return Outcome::cannot_open;
    }
}

Outcome outcome_of_put(int result) {
    switch (result) {
        case CAIRN_OK:
            return Outcome::ok;
        case CAIRN_EXISTS:
            return Outcome::exists;
        case CAIRN_ERROR_FULL:
        case CAIRN_ERROR_TOO_LARGE:
        case CAIRN_ERROR_NO_SPACE:
            return Outcome::full;
        case CAIRN_ERROR_READ_ONLY:
        case CAIRN_ERROR_DENIED:
            return Outcome::cannot_write;
        case CAIRN_ERROR_BUSY:
            return Outcome::busy;
        case CAIRN_ERROR_NO_MEMORY:
            return Outcome::no_memory;
        default:
            return Outcome::failed;
    }
}

std::string default_root() {
    std::vector<char> buffer(4096);
    return cairn_resolve_root(buffer.data(), buffer.size()) == CAIRN_OK ? buffer.data() : "";
}

// Sizes as given, for a limit that the store cannot keep.
int add_size(void *sum, const cairn_entry *entry) {
    *static_cast<uint64_t *>(sum) += entry->value_size + kEntryOverhead;
    return 0;
}

int add_stored_size(void *sum, const cairn_entry *entry) {
    *static_cast<uint64_t *>(sum) += entry->stored_size + kEntryOverhead;
    return 0;
}

uint64_t sum_of(cairn_cache *cache, cairn_entry_fn add) {
    uint64_t sum = 0;
    (void)cairn_enumerate(cache, add, &sum);
    return sum;
}

int64_t now_s() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

}  // namespace

Outcome DiskLevel::open(const Options &options, std::unique_ptr<DiskLevel> &level) {
    const std::string root = options.root.empty() ? default_root() : options.root;
    cairn_options open = {};
    open.size = sizeof open;
    open.root = root.c_str();
    open.identifier = options.identifier.c_str();
    open.version = options.version;
    open.flags = CAIRN_OPEN_REFUSE_WHEN_FULL;
    open.limit_bytes = std::max<uint64_t>(options.limit_bytes, CAIRN_LIMIT_BYTES_MIN);
    open.memory_bytes = UINT64_MAX;  // the memory level is ours
    open.about = options.about.c_str();
    open.log = options.log;
    open.log_user = options.log_user;
    cairn_cache *cache = nullptr;
    const int result = root.empty() ? CAIRN_ERROR_NOT_FOUND : cairn_open(&open, &cache);
    if (result != CAIRN_OK) {
        return outcome_of_open(result);
    }
    level.reset(new (std::nothrow) DiskLevel(cache, options.limit_bytes));
    if (level == nullptr) {
        cairn_close(cache);
        return Outcome::no_memory;
    }
    switch (level->presence_.join(root + "/" + options.identifier)) {
        case Presence::Joined::yes:
            return Outcome::ok;
        case Presence::Joined::must_clear:
            if (level->clear() == Outcome::ok) {
                level->presence_.cleared();
                return Outcome::ok;
            }
            level.reset();
            return Outcome::cannot_open;
        case Presence::Joined::busy:
            break;
    }
    level.reset();
    return Outcome::busy;
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
    if (cairn_get(cache_, hash.data(), hash.size(), &blob) != CAIRN_OK) {
        return nullptr;
    }
    return Entry::adopt(blob);
}

Outcome DiskLevel::store(const KeyHash &hash, const Entry &entry) {
    if (entry.record().size() > std::min<uint64_t>(limit_bytes_, CAIRN_VALUE_SIZE_MAX)) {
        const int there = cairn_contains(cache_, hash.data(), hash.size());
        return there == CAIRN_OK ? Outcome::exists : Outcome::full;
    }
    return limit_bytes_ < CAIRN_LIMIT_BYTES_MIN ? store_measured(hash, entry) : put(hash, entry);
}

Outcome DiskLevel::put(const KeyHash &hash, const Entry &entry) {
    cairn_put_options options = {};
    options.size = sizeof options;
    options.flags = CAIRN_PUT_IF_ABSENT;
    const Bytes record = entry.record();
    const auto put_once = [&] {
        return cairn_put(cache_, hash.data(), hash.size(), record.data(), record.size(), &options);
    };
    int result = put_once();
    if (result == CAIRN_ERROR_FULL && reclaim(record.size())) {
        result = put_once();
    }
    return outcome_of_put(result);
}

// A cache that evicts makes room from whatever there is; one that refuses keeps what processes left
// that were killed inside a store. Compressing gives that back, and takes long: it is done where
// what is left is much, and then some time not again.
bool DiskLevel::reclaim(uint64_t record_size) {
    const int64_t now = now_s();
    int64_t next = next_reclaim_s_.load();
    if (now < next || !next_reclaim_s_.compare_exchange_strong(next, now + kReclaimPauseS)) {
        return false;
    }
    cairn_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_get_stats(cache_, &stats) != CAIRN_OK) {
        return false;
    }
    const uint64_t used = sum_of(cache_, add_stored_size);
    const uint64_t lost = stats.disk_bytes - std::min(stats.disk_bytes, used);
    return lost >= record_size && lost > limit_bytes_ / 8 && cairn_compress(cache_) == CAIRN_OK;
}

// The store keeps no limit below its own smallest: such a cache is measured and stored to by one
// thread at a time. It has few entries.
Outcome DiskLevel::store_measured(const KeyHash &hash, const Entry &entry) {
    const std::lock_guard lock(measure_mutex_);
    const Presence::MeasureLock among_processes(presence_);
    if (!among_processes.held()) {
        return Outcome::busy;
    }
    if (cairn_contains(cache_, hash.data(), hash.size()) == CAIRN_OK) {
        return Outcome::exists;
    }
    if (sum_of(cache_, add_size) + entry.record().size() + kEntryOverhead > limit_bytes_) {
        return Outcome::full;
    }
    return put(hash, entry);
}

Outcome DiskLevel::clear() {
    const int result = cairn_clear(cache_);
    return result == CAIRN_OK ? Outcome::ok : outcome_of_put(result);
}

}  // namespace cairn::d3d12
