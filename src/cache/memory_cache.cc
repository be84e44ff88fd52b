// SPDX-License-Identifier: MIT
#include "cache/memory_cache.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr unsigned kHitsMax = 3;  // as many as a slot counts

}  // namespace

BlobRef MemoryCache::find(Bytes key) {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(as_text(key));
    if (found == entries_.end()) {
        ++counts_.misses;
        return {};
    }
    note_hit(found->second);
    ++counts_.hits;
    counts_.bytes_read += found->second->blob->value().size();
    return found->second->blob;
}

void MemoryCache::note_hit(Order::iterator entry) {
    if (policy_.on_hit == Policy::OnHit::renews) {
        make_youngest(entry);
    } else if (policy_.on_hit == Policy::OnHit::counts && entry->hits < kHitsMax) {
        ++entry->hits;
    }
}

void MemoryCache::make_youngest(Order::iterator entry) {
    Order &order = order_of(*entry);
    order.splice(order.begin(), order, entry);
    entry->turn = ++last_turn_;
}

// Calls take(entry) for each entry, the youngest first, until it returns true. It may erase the
// entry.
template <typename Take>
CAIRN_ANNOTATION(no_thread_safety_analysis)
void MemoryCache::for_each(Take take) {
    auto entry = order_.begin(), pinned = pinned_.begin();
    while (entry != order_.end() || pinned != pinned_.end()) {
        const bool is_pinned =
            entry == order_.end() || (pinned != pinned_.end() && pinned->turn > entry->turn);
        if (take(is_pinned ? pinned++ : entry++)) return;
    }
}

Result<bool> MemoryCache::contains(Bytes key) {
    const MutexLock lock(mutex_);
    return entries_.contains(as_text(key));
}

void MemoryCache::erase(Order::iterator entry) {
    entries_.erase(as_text(entry->blob->key()));
    forget(entry);
}

void MemoryCache::forget(Order::iterator entry) {
    bytes_ -= charge(*entry);
    if (entry->pinned) pinned_bytes_ -= charge(*entry);
    order_of(*entry).erase(entry);
}

// Lets the name lead to an entry that is not in the order yet; takes no memory where it led to one.
void MemoryCache::name(Order::iterator entry) {
    const std::string_view key = as_text(entry->blob->key());
    auto named = entries_.extract(key);
    if (named.empty()) {
        entries_.emplace(key, entry);
        return;
    }
    forget(named.mapped());
    named.key() = key;
    named.mapped() = entry;
    entries_.insert(std::move(named));
}

// Whether `bytes` more fit in place of `replaced`, when all goes that may go.
bool MemoryCache::can_make_room(std::uint64_t bytes, const Entry *replaced) const {
    std::uint64_t stay_bytes = refuse_when_full_ ? bytes_ : pinned_bytes_;
    std::uint64_t stay_count = refuse_when_full_ ? entry_count() : pinned_.size();
    if (replaced != nullptr && (refuse_when_full_ || replaced->pinned)) {
        stay_bytes -= charge(*replaced);
        --stay_count;
    }
    return stay_bytes + bytes <= limit_bytes_ &&
           (limit_entries_ == 0 || stay_count < limit_entries_);
}

void MemoryCache::evict_one() {
    if (policy_.order == Policy::Order::newest_segment_first) return erase(order_.begin());
    if (policy_.on_hit == Policy::OnHit::counts) return evict_least_of_oldest();
    erase(std::prev(order_.end()));
}

void MemoryCache::evict_least_of_oldest() {
    std::array<Candidate, kPolicySample> candidates;
    std::array<Order::iterator, kPolicySample> entries;
    std::size_t count = 0;
    for (auto entry = order_.end(); entry != order_.begin() && count < kPolicySample; ++count) {
        --entry;
        Candidate &candidate = candidates[count];
        candidate = {};
        candidate.size_bytes = entry->blob->key().size() + entry->blob->value().size();
        candidate.stamp_ns = entry->turn;
        candidate.cost_us = entry->blob->cost_us();
        candidate.hits = entry->hits;
        candidate.copied = entry->copied;
        entries[count] = entry;
    }
    const std::size_t first = policy_.first_to_go(std::span(candidates).first(count));
    for (std::size_t i = 0; i < count; ++i) {
        if (i == first || !candidates[i].keep) continue;
        make_youngest(entries[i]);
        entries[i]->hits = hits_after_copy(entries[i]->hits);
        entries[i]->copied = true;
    }
    erase(entries[first]);
}

Result<PutOutcome> MemoryCache::judge(Bytes key, std::uint64_t bytes, bool if_absent) {
    const auto found = entries_.find(as_text(key));
    if (found != entries_.end() && if_absent) return PutOutcome::exists;
    if (bytes > limit_bytes_) {
        ++counts_.puts_refused;
        return Error::too_large;
    }
    if (!can_make_room(bytes, found != entries_.end() ? &*found->second : nullptr)) {
        ++counts_.puts_refused;
        return Error::full;
    }
    return PutOutcome::stored;
}

Result<PutOutcome> MemoryCache::put(Bytes key, Bytes value, const PutOptions &options) {
    const std::uint64_t bytes = charge(key, value);
    {
        // A refused entry is not copied. The limit may still change before the entry is stored.
        const MutexLock lock(mutex_);
        auto outcome = judge(key, bytes, options.if_absent);
        if (!outcome.ok() || *outcome != PutOutcome::stored) return outcome;
    }
    BlobRef entry = Blob::copy(key, value, options.cost_us);
    if (!entry) return Error::no_memory;
    return put_blob(std::move(entry), options);
}

Result<PutOutcome> MemoryCache::put_blob(BlobRef entry, const PutOptions &options) {
    const Bytes key = entry->key();
    const std::uint64_t size = entry->value().size();
    const std::uint64_t bytes = charge(key, entry->value());
    const MutexLock lock(mutex_);
    auto outcome = judge(key, bytes, options.if_absent);
    if (!outcome.ok() || *outcome != PutOutcome::stored) return outcome;
    // First what may find no memory: then nothing has changed.
    Order added;
    added.push_front(Entry{std::move(entry), wall_clock_ns(), options.pinned});
    name(added.begin());
    while (!fits(bytes) && !order_.empty()) evict_one();
    Order &order = order_of(added.front());
    order.splice(order.begin(), added);
    order.front().turn = ++last_turn_;
    bytes_ += bytes;
    if (options.pinned) pinned_bytes_ += bytes;
    ++counts_.puts;
    counts_.bytes_written += size;
    return PutOutcome::stored;
}

Result<PutOutcome> MemoryCache::put_behind(BlobRef entry) {
    const Bytes key = entry->key();
    const std::uint64_t bytes = charge(key, entry->value());
    const MutexLock lock(mutex_);
    if (entries_.contains(as_text(key))) return PutOutcome::exists;
    if (!fits(bytes)) return Error::full;
    Order added;
    added.push_back(Entry{std::move(entry), wall_clock_ns(), false});
    name(added.begin());
    order_.splice(order_.end(), added);
    bytes_ += bytes;
    return PutOutcome::stored;
}

Result<bool> MemoryCache::remove(Bytes key) {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(as_text(key));
    if (found == entries_.end()) return false;
    erase(found->second);
    return true;
}

Result<std::uint64_t> MemoryCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    const MutexLock lock(mutex_);
    std::uint64_t removed = 0;
    for_each([&](Order::iterator entry) REQUIRES_LOCK(mutex_) {
        if (entry->stamp_ns >= begin_ns && entry->stamp_ns < end_ns) {
            erase(entry);
            ++removed;
        }
        return false;
    });
    return removed;
}

void MemoryCache::clear_locked() {
    entries_.clear();
    order_.clear();
    pinned_.clear();
    bytes_ = 0;
    pinned_bytes_ = 0;
}

Status MemoryCache::clear() {
    const MutexLock lock(mutex_);
    clear_locked();
    return {};
}

std::uint64_t MemoryCache::trim_locked(std::uint64_t bytes) {
    const std::uint64_t before = bytes_;
    if (bytes == 0) clear_locked();
    while (bytes_ > bytes && !order_.empty()) evict_one();
    while (bytes_ > bytes && !pinned_.empty()) erase(std::prev(pinned_.end()));
    return before - bytes_;
}

Result<std::uint64_t> MemoryCache::trim(std::uint64_t bytes) {
    const MutexLock lock(mutex_);
    return trim_locked(bytes);
}

Result<std::uint64_t> MemoryCache::resize(std::uint64_t limit_bytes, std::uint64_t keep_bytes) {
    const MutexLock lock(mutex_);
    limit_bytes_ = limit_bytes;
    return trim_locked(std::min(limit_bytes, keep_bytes));
}

Result<BlobRef> MemoryCache::nth(std::uint64_t index) {
    const MutexLock lock(mutex_);
    BlobRef found;
    if (index >= entry_count()) return found;
    for_each([&](Order::iterator entry) {
        if (index-- != 0) return false;
        found = entry->blob;
        return true;
    });
    return found;
}

CacheStats MemoryCache::stats() {
    const MutexLock lock(mutex_);
    CacheStats stats = {counts_, {}, {}};
    stats.entries = entry_count();
    stats.limit_bytes = limit_bytes_;
    stats.memory_bytes = bytes_;
    stats.version = version_;
    return stats;
}

void MemoryCache::enumerate(const Visit &visit) {
    // A copy of the order, so that the visitor may call us.
    std::vector<Entry> entries;
    {
        const MutexLock lock(mutex_);
        entries.reserve(entry_count());
        for_each([&](Order::iterator entry) {
            entries.push_back(*entry);
            return false;
        });
    }
    for (const Entry &entry : entries) {
        const std::size_t size = entry.blob->value().size();
        if (!visit({entry.blob->key(), size, size, entry.stamp_ns, entry.blob->cost_us(),
                    entry.pinned})) {
            return;
        }
    }
}

}  // namespace cairn
