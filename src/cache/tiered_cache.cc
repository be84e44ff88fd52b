// SPDX-License-Identifier: MIT
#include "cache/tiered_cache.h"

#include "base/guarded.h"

namespace cairn {
namespace {

// Entries that found no room above, after which the upper tier counts as full.
constexpr unsigned kFullMax = 8;

bool is_stored(const Result<PutOutcome> &outcome) {
    return outcome.ok() && outcome.value() == PutOutcome::stored;
}

}  // namespace

std::size_t TieredCache::place_of(Bytes key) {
    return KeyHash()(as_text(key)) % kPlaces;
}

std::uint64_t &TieredCache::changes_of(Bytes key) {
    return changes_[place_of(key)];
}

// A put above, as long as it is under way: what was read below meanwhile is not kept.
class TieredCache::PutAbove {
  public:
    PutAbove(TieredCache &cache, Bytes key) : cache_(cache), place_(place_of(key)) {
        const MutexLock lock(cache_.mutex_);
        ++cache_.puts_[place_];
    }
    ~PutAbove() {
        const MutexLock lock(cache_.mutex_);
        --cache_.puts_[place_];
        ++cache_.changes_[place_];
    }
    PutAbove(const PutAbove &) = delete;
    PutAbove &operator=(const PutAbove &) = delete;

  private:
    TieredCache &cache_;
    const std::size_t place_;
};

// Asked before the lower tier is; keep() is told what this said.
std::uint64_t TieredCache::seen_changes(Bytes key) {
    const MutexLock lock(mutex_);
    return changes_of(key);
}

std::uint64_t TieredCache::note_change(Bytes key) {
    const MutexLock lock(mutex_);
    return ++changes_of(key);
}

// `is_behind`: without anything going for it.
Result<PutOutcome> TieredCache::keep(const BlobRef &entry, std::uint64_t seen, bool is_behind) {
    PutOptions options;
    options.cost_us = entry->cost_us();
    const MutexLock lock(mutex_);
    const std::size_t place = place_of(entry->key());
    if (changes_[place] != seen || puts_[place] != 0) return PutOutcome::exists;
    if (is_behind && was_trimmed_) return PutOutcome::exists;
    if (is_behind) return upper_->put_behind(entry);
    TRY_ASSIGN(const bool is_there, upper_->contains(entry->key()));
    if (is_there) return PutOutcome::exists;
    return upper_->put_blob(entry, options);
}

Result<bool> TieredCache::drop(Bytes key) {
    const MutexLock lock(mutex_);
    ++changes_of(key);
    return upper_->remove(key);
}

Status TieredCache::drop_all() {
    const MutexLock lock(mutex_);
    for (std::uint64_t &count : changes_) ++count;
    return upper_->clear();
}

void TieredCache::follow_clears() {
    if (home_ == Home::upper) return;
    const std::uint64_t now = lower_->clears();
    if (now == clears_seen_.load(std::memory_order_relaxed)) return;
    (void)drop_all();
    clears_seen_.store(now, std::memory_order_relaxed);
}

Result<BlobRef> TieredCache::get(Bytes key) {
    follow_clears();
    auto found = upper_->get(key);
    if (!found.ok() || *found) return found;
    const std::uint64_t seen = seen_changes(key);
    found = lower_->get(key);
    if (!found.ok() && home_ == Home::upper) found = BlobRef();
    if (found.ok() && *found) (void)guarded([&] { return keep(*found, seen, false); });
    return found;
}

BlobRef TieredCache::get_cached(Bytes key) {
    follow_clears();
    if (BlobRef found = upper_->get_cached(key)) return found;
    const std::uint64_t seen = seen_changes(key);
    BlobRef found = lower_->get_cached(key);
    if (found) (void)guarded([&] { return keep(found, seen, false); });
    return found;
}

Result<bool> TieredCache::contains(Bytes key) {
    follow_clears();
    auto above = upper_->contains(key);
    if (!above.ok() || *above) return above;
    auto below = lower_->contains(key);
    return below.ok() || home_ == Home::lower ? std::move(below) : false;
}

std::uint64_t TieredCache::load_newest(const std::function<bool()> &go_on) {
    std::uint64_t loaded = upper_->load_newest(go_on);
    if (home_ == Home::upper) return loaded;
    unsigned full = 0;
    lower_->visit_newest([&](Bytes key) {
        if (was_trimmed_ || !go_on()) return false;
        follow_clears();
        const std::uint64_t seen = seen_changes(key);
        const BlobRef entry = lower_->peek(key);
        if (!entry) return true;
        const auto kept = keep(entry, seen, true);
        if (is_stored(kept)) ++loaded;
        return kept.ok() || ++full < kFullMax;
    });
    return loaded;
}

Result<PutOutcome> TieredCache::put(Bytes key, Bytes value, const PutOptions &options) {
    follow_clears();
    if (home_ == Home::upper) {
        const PutAbove put_above(*this, key);
        auto outcome = upper_->put(key, value, options);
        if (is_stored(outcome)) (void)lower_->put(key, value, options);
        return outcome;
    }
    if (options.if_absent) {
        // The lower tier says which put is the first.
        auto outcome = lower_->put(key, value, options);
        if (is_stored(outcome)) (void)drop(key);
        return outcome;
    }
    BlobRef entry = Blob::copy(key, value, options.cost_us);
    if (!entry) return Error::no_memory;
    return put_blob(std::move(entry), options);
}

Result<PutOutcome> TieredCache::put_blob(BlobRef entry, const PutOptions &options) {
    const Bytes key = entry->key();
    if (home_ == Home::upper || options.if_absent) return put(key, entry->value(), options);
    const std::uint64_t begun = note_change(key);
    auto outcome = lower_->put_blob(entry, options);
    const MutexLock lock(mutex_);
    if (is_stored(outcome)) {
        // The entry is stored, also where the copy fails.
        const auto copy = [&] { return upper_->put_blob(entry, options); };
        const bool is_kept = changes_of(key) == begun && guarded(copy).ok();
        if (!is_kept) (void)upper_->remove(key);
    }
    ++changes_of(key);
    return outcome;
}

// The lower tier first: its older entry must not be found when nothing is above it any more. The
// upper one last: an entry that is being read below meanwhile is not kept.
Result<bool> TieredCache::remove(Bytes key) {
    const auto below = lower_->remove(key);
    if (!below.ok() && home_ == Home::lower) return below.error();
    TRY_ASSIGN(const bool was_above, drop(key));
    return was_above || (below.ok() && below.value());
}

Status TieredCache::clear() {
    const Status below = lower_->clear();
    if (!below.ok() && home_ == Home::lower) return below;
    return drop_all();
}

Result<std::uint64_t> TieredCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    auto below = lower_->clear_range(begin_ns, end_ns);
    if (home_ == Home::lower) {
        (void)drop_all();
        return below;
    }
    const MutexLock lock(mutex_);
    for (std::uint64_t &count : changes_) ++count;
    return upper_->clear_range(begin_ns, end_ns);
}

Result<std::uint64_t> TieredCache::trim(std::uint64_t bytes) {
    const MutexLock lock(mutex_);  // what is being loaded now does not come after this
    was_trimmed_ = true;
    return upper_->trim(bytes);
}

CacheStats TieredCache::stats() {
    const CacheStats above = upper_->stats();
    const CacheStats below = lower_->stats();
    CacheStats stats = home_ == Home::upper ? above : below;
    stats.hits = above.hits + below.hits;
    stats.misses = below.misses;
    stats.bytes_read = above.bytes_read + below.bytes_read;
    if (home_ == Home::upper) return stats;
    stats.memory_bytes = above.memory_bytes;
    if (!stats.program) stats.program.emplace();
    stats.program->memory_entries = above.entries;
    stats.program->memory_limit_bytes = above.limit_bytes;
    stats.program->memory_hits = above.hits;
    return stats;
}

}  // namespace cairn
