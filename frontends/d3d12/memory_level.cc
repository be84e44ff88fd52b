// SPDX-License-Identifier: MIT
#include "memory_level.h"

namespace cairn::d3d12 {
namespace {

uint64_t charge(const Entry &entry) {
    return entry.key().size() + entry.value().size();
}

}  // namespace

EntryRef MemoryLevel::find(const KeyHash &hash) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(hash);
    if (found == places_.end()) {
        return nullptr;
    }
    order_.splice(order_.begin(), order_, found->second);
    return found->second->entry;
}

EntryRef MemoryLevel::insert(const KeyHash &hash, const EntryRef &entry) {
    const std::lock_guard lock(mutex_);
    return insert_locked(hash, entry);
}

void MemoryLevel::keep(const KeyHash &hash, const EntryRef &entry, uint64_t clears) {
    const std::lock_guard lock(mutex_);
    if (clears == clears_) {
        (void)insert_locked(hash, entry);
    }
}

EntryRef MemoryLevel::insert_locked(const KeyHash &hash, const EntryRef &entry) {
    const auto found = places_.find(hash);
    if (found != places_.end()) {
        return found->second->entry;
    }
    order_.push_front({hash, entry});
    places_.emplace(hash, order_.begin());
    bytes_ += charge(*entry);
    evict();
    return nullptr;
}

void MemoryLevel::evict() {
    while (order_.size() > 1 && (bytes_ > limit_bytes_ || order_.size() > limit_entries_)) {
        bytes_ -= charge(*order_.back().entry);
        places_.erase(order_.back().hash);
        order_.pop_back();
    }
}

void MemoryLevel::clear() {
    Order gone;  // freed when the lock is given up
    const std::lock_guard lock(mutex_);
    places_.clear();
    gone.swap(order_);
    bytes_ = 0;
    ++clears_;
}

uint64_t MemoryLevel::clears() {
    const std::lock_guard lock(mutex_);
    return clears_;
}

uint64_t MemoryLevel::bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

size_t MemoryLevel::count() {
    const std::lock_guard lock(mutex_);
    return order_.size();
}

}  // namespace cairn::d3d12
