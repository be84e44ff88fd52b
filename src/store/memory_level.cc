// SPDX-License-Identifier: MIT
#include "store/memory_level.h"

namespace cairn {
namespace {

constexpr std::size_t kTableMin = 64;
// Entries seen only once are forgotten when a shard has this many entries: then it holds as many
// blobs as make sense.
constexpr std::size_t kTableMax = 1 << 16;

std::size_t home(std::uint64_t mixed, std::size_t table_size) {
    return static_cast<std::size_t>(mixed >> 20) & (table_size - 1);
}

}  // namespace

MemoryLevel::Entry *MemoryLevel::lookup(Shard &shard, std::uint64_t id) {
    if (shard.table.empty()) return nullptr;
    const std::size_t mask = shard.table.size() - 1;
    for (std::size_t i = home(mix(id), shard.table.size());; i = (i + 1) & mask) {
        if (shard.table[i].id == id) return &shard.table[i];
        if (shard.table[i].id == 0) return nullptr;
    }
}

MemoryLevel::Entry &MemoryLevel::insert(Shard &shard, std::uint64_t id) {
    if (shard.count * 2 >= shard.table.size()) grow(shard);
    const std::size_t mask = shard.table.size() - 1;
    std::size_t i = home(mix(id), shard.table.size());
    while (shard.table[i].id != 0) i = (i + 1) & mask;
    shard.table[i].id = id;
    ++shard.count;
    return shard.table[i];
}

// Doubles the table; at its largest, forgets what was seen once instead.
void MemoryLevel::grow(Shard &shard) {
    std::vector<Entry> old;
    old.swap(shard.table);
    const bool largest = old.size() >= kTableMax;
    shard.table.resize(old.empty() ? kTableMin : largest ? old.size() : old.size() * 2);
    shard.count = 0;
    shard.hand = 0;
    const std::size_t mask = shard.table.size() - 1;
    for (const Entry &entry : old) {
        if (entry.id == 0 || (largest && entry.blob == nullptr)) continue;
        std::size_t i = home(mix(entry.id), shard.table.size());
        while (shard.table[i].id != 0) i = (i + 1) & mask;
        shard.table[i] = entry;
        ++shard.count;
    }
}

// Removes an entry and moves back those that a search would no longer reach.
void MemoryLevel::erase(Shard &shard, std::size_t place) {
    const std::size_t mask = shard.table.size() - 1;
    std::size_t hole = place;
    for (std::size_t i = (hole + 1) & mask; shard.table[i].id != 0; i = (i + 1) & mask) {
        const std::size_t wanted = home(mix(shard.table[i].id), shard.table.size());
        if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
        shard.table[hole] = shard.table[i];
        hole = i;
    }
    shard.table[hole] = Entry{};
    --shard.count;
}

void MemoryLevel::drop_blob(Shard &shard, Entry &entry) {
    shard.bytes -= entry.blob->footprint();
    bytes_.fetch_sub(entry.blob->footprint(), std::memory_order_relaxed);
    entry.blob->release();
    entry.blob = nullptr;
}

// CLOCK: the hand clears marks and drops the first blob that was not used since it last came by.
void MemoryLevel::make_room(Shard &shard, std::uint64_t bytes) {
    const std::uint64_t capacity = capacity_bytes_ / kShardCount;
    std::size_t steps = shard.table.size() * 2;
    while (shard.bytes + bytes > capacity && steps-- > 0) {
        if (shard.hand >= shard.table.size()) shard.hand = 0;
        Entry &entry = shard.table[shard.hand];
        if (entry.blob != nullptr && !entry.used) {
            drop_blob(shard, entry);
            erase(shard, shard.hand);
            continue;  // another entry may have moved here
        }
        entry.used = false;
        ++shard.hand;
    }
}

BlobRef MemoryLevel::find(std::uint64_t id) {
    if (capacity_bytes_ == 0) return {};
    Shard &shard = this->shard(id);
    if (!shard.mutex.try_lock()) return {};
    BlobRef found;
    Entry *entry = lookup(shard, id);
    if (entry != nullptr && entry->blob != nullptr) {
        entry->used = true;
        entry->blob->retain();
        found = BlobRef::adopt(entry->blob);
    }
    shard.mutex.unlock();
    return found;
}

bool MemoryLevel::wants(std::uint64_t id, std::uint64_t bytes, Admission admission) {
    const std::uint64_t capacity = capacity_bytes_ / kShardCount;
    if (bytes > capacity) return false;
    Shard &shard = this->shard(id);
    if (!shard.mutex.try_lock()) return false;
    bool wanted = admission == Admission::at_once;
    if (!wanted && lookup(shard, id) == nullptr) {
        insert(shard, id);
    } else if (!wanted) {
        wanted = shard.bytes + bytes <= capacity || ++shard.turned_away % 16 == 0;
    }
    shard.mutex.unlock();
    return wanted;
}

void MemoryLevel::keep(std::uint64_t id, const BlobRef &blob) {
    const std::uint64_t bytes = blob->footprint();
    const std::uint64_t capacity = capacity_bytes_ / kShardCount;
    if (bytes > capacity) return;
    Shard &shard = this->shard(id);
    if (!shard.mutex.try_lock()) return;
    make_room(shard, bytes);
    Entry *entry = lookup(shard, id);
    if (entry == nullptr) entry = &insert(shard, id);
    if (entry->blob == nullptr && shard.bytes + bytes <= capacity) {
        blob->retain();
        entry->blob = blob.get();
        shard.bytes += bytes;
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }
    shard.mutex.unlock();
}

void MemoryLevel::clear() {
    for (Shard &shard : shards_) {
        if (!shard.mutex.try_lock()) continue;
        for (Entry &entry : shard.table) {
            if (entry.blob != nullptr) drop_blob(shard, entry);
        }
        shard.table.clear();
        shard.count = 0;
        shard.hand = 0;
        shard.mutex.unlock();
    }
}

}  // namespace cairn
