// SPDX-License-Identifier: MIT
#include "session_memory.h"

namespace cairn::d3d12 {
namespace {

uint64_t charge(const Entry &entry) {
    return entry.key().size() + entry.value().size();
}

}  // namespace

EntryRef SessionMemory::find(const KeyHash &hash) {
    State &state = state_.get();
    const MutexLock lock(state.mutex);
    const auto found = state.places.find(hash);
    if (found == state.places.end()) return nullptr;
    state.order.splice(state.order.begin(), state.order, found->second);
    return found->second->entry;
}

EntryRef SessionMemory::insert(const KeyHash &hash, const EntryRef &entry) {
    State &state = state_.get();
    Order &order = state.order;
    const MutexLock lock(state.mutex);
    Order place = {{hash, entry}};
    const auto [found, is_new] = state.places.emplace(hash, place.begin());
    if (!is_new) return found->second->entry;
    order.splice(order.begin(), place);
    state.bytes += charge(*entry);
    while (order.size() > 1 && (state.bytes > limit_bytes_ || order.size() > limit_entries_)) {
        state.bytes -= charge(*order.back().entry);
        state.places.erase(order.back().hash);
        order.pop_back();
    }
    return nullptr;
}

void SessionMemory::clear() {
    Order gone;  // freed when the lock is given up
    State &state = state_.get();
    const MutexLock lock(state.mutex);
    state.places.clear();
    gone.swap(state.order);
    state.bytes = 0;
}

}  // namespace cairn::d3d12
