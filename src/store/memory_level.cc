// SPDX-License-Identifier: MIT
#include "store/memory_level.h"

#include <algorithm>

#include "base/guarded.h"

namespace cairn {
namespace {

constexpr std::size_t kTableMin = 8;
// A full table of this size first forgets entries that were seen only once, and grows only for
// those with blobs, which are bounded by their bytes.
constexpr std::size_t kForgetFrom = 1 << 16;

std::size_t home(std::uint64_t hash, std::size_t mask) {
    return static_cast<std::size_t>(hash >> 20) & mask;
}

// Under the shard's mutex, so a load and a store will do.
void add(std::atomic<std::uint64_t> &counter, std::uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

MemoryLevel::Cell *MemoryLevel::lookup(Shard &shard, std::uint64_t hash) {
    if (shard.table.empty()) return nullptr;
    const std::size_t mask = shard.table.size() - 1;
    for (std::size_t i = home(hash, mask);; i = (i + 1) & mask) {
        if (shard.table[i].hash == hash) return &shard.table[i];
        if (shard.table[i].hash == 0) return nullptr;
    }
}

// Null: there is no memory.
MemoryLevel::Cell *MemoryLevel::try_insert(Shard &shard, std::uint64_t hash) {
    const auto make_place = [&]() REQUIRES_LOCK(shard.mutex) {
        if (shard.count * 4 >= shard.table.size() * 3) grow(shard);
        return true;
    };
    if (!guarded(make_place, false)) return nullptr;
    const std::size_t mask = shard.table.size() - 1;
    std::size_t i = home(hash, mask);
    while (shard.table[i].hash != 0) i = (i + 1) & mask;
    shard.table[i].hash = hash;
    ++shard.count;
    return &shard.table[i];
}

// Makes at least half of the table free.
void MemoryLevel::grow(Shard &shard) {
    std::vector<Cell> &old = shard.table;
    const bool forget = old.size() >= kForgetFrom;
    const auto stays = [&](const Cell &cell) {
        return cell.hash != 0 && (!forget || cell.blob() != nullptr);
    };
    const auto kept = static_cast<std::size_t>(std::ranges::count_if(old, stays));
    std::size_t size = std::max(kTableMin, old.size());
    while (kept * 2 >= size) size *= 2;
    std::vector<Cell> table(size);
    shard.count = 0;
    shard.hand = 0;
    const std::size_t mask = size - 1;
    for (const Cell &cell : old) {
        if (!stays(cell)) continue;
        std::size_t i = home(cell.hash, mask);
        while (table[i].hash != 0) i = (i + 1) & mask;
        table[i] = cell;
        ++shard.count;
    }
    shard.table.swap(table);
    shard.table_hint.store(shard.table.data(), std::memory_order_relaxed);
    shard.mask_hint.store(mask, std::memory_order_relaxed);
}

// Removes a cell, and moves back cells that the hole would cut off.
void MemoryLevel::erase(Shard &shard, std::size_t place) {
    const std::size_t mask = shard.table.size() - 1;
    std::size_t hole = place;
    for (std::size_t i = (hole + 1) & mask; shard.table[i].hash != 0; i = (i + 1) & mask) {
        const std::size_t wanted = home(shard.table[i].hash, mask);
        if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
        shard.table[hole] = shard.table[i];
        hole = i;
    }
    shard.table[hole] = Cell{};
    --shard.count;
}

void MemoryLevel::drop_blob(Shard &shard, Cell &cell) {
    Blob *blob = cell.blob();
    shard.bytes -= blob->footprint();
    bytes_.fetch_sub(blob->footprint(), std::memory_order_relaxed);
    blob->release();
    cell.set_blob(nullptr);
}

// CLOCK: the hand clears marks and evicts the first blob that was not used since it last passed.
void MemoryLevel::evict(Shard &shard, std::uint64_t bytes) {
    const std::uint64_t capacity = capacity_bytes_ / kShardCount;
    std::size_t steps = shard.table.size() * 2;
    while (shard.bytes + bytes > capacity && steps-- > 0) {
        if (shard.hand >= shard.table.size()) shard.hand = 0;
        Cell &cell = shard.table[shard.hand];
        if (cell.blob() != nullptr && !cell.used()) {
            drop_blob(shard, cell);
            erase(shard, shard.hand);
            continue;  // another cell may have moved here
        }
        cell.set_used(false);
        ++shard.hand;
    }
}

// The hints may be out of date, or of two tables: then this fetches the wrong line or none.
void MemoryLevel::prefetch(std::uint64_t hash) const {
    const Shard &shard = shards_[static_cast<std::size_t>(hash >> 60)];
    const auto table =
        reinterpret_cast<std::uintptr_t>(shard.table_hint.load(std::memory_order_relaxed));
    const std::size_t mask = shard.mask_hint.load(std::memory_order_relaxed);
    if (table == 0) return;  // prefetching an unmapped address is slow
    __builtin_prefetch(reinterpret_cast<const void *>(table + home(hash, mask) * sizeof(Cell)));
}

BlobRef MemoryLevel::find(std::uint64_t hash, std::uint64_t place) {
    if (capacity_bytes_ == 0) return {};
    Shard &shard = this->shard(hash);
    if (!shard.mutex.try_lock()) return {};
    BlobRef found;
    Cell *cell = lookup(shard, hash);
    Blob *blob = cell != nullptr ? cell->blob() : nullptr;
    if (blob != nullptr && blob->place() == place) {
        add(shard.found, 1);
        add(shard.found_bytes, blob->value().size());
        // Write only a change, so that readers on other processors can share the line.
        if (!cell->used()) cell->set_used(true);
        blob->retain();
        found = BlobRef::adopt(blob);
    }
    shard.mutex.unlock();
    return found;
}

std::uint64_t MemoryLevel::found() const {
    std::uint64_t sum = 0;
    for (const Shard &shard : shards_) sum += shard.found.load(std::memory_order_relaxed);
    return sum;
}

std::uint64_t MemoryLevel::found_bytes() const {
    std::uint64_t sum = 0;
    for (const Shard &shard : shards_) sum += shard.found_bytes.load(std::memory_order_relaxed);
    return sum;
}

bool MemoryLevel::wants(std::uint64_t hash, std::uint64_t bytes) {
    const std::uint64_t capacity = capacity_bytes_ / kShardCount;
    if (bytes > capacity) return false;
    Shard &shard = this->shard(hash);
    if (!shard.mutex.try_lock()) return false;
    const AdoptedLock lock(shard.mutex);
    if (lookup(shard, hash) != nullptr) {
        return shard.bytes + bytes <= capacity || ++shard.turned_away % 16 == 0;
    }
    (void)try_insert(shard, hash);
    return false;
}

void MemoryLevel::keep(std::uint64_t hash, std::uint64_t place, const BlobRef &blob) {
    const std::uint64_t bytes = blob->footprint();
    const std::uint64_t capacity = capacity_bytes_ / kShardCount;
    if (bytes > capacity) return;
    Shard &shard = this->shard(hash);
    if (!shard.mutex.try_lock()) return;
    const AdoptedLock lock(shard.mutex);
    evict(shard, bytes);
    Cell *cell = lookup(shard, hash);
    if (cell == nullptr) cell = try_insert(shard, hash);
    if (cell == nullptr) return;
    const bool older = cell->blob() != nullptr && cell->blob()->place() != place;
    if (older) drop_blob(shard, *cell);
    if (cell->blob() == nullptr && shard.bytes + bytes <= capacity) {
        blob->set_place(place);
        blob->retain();
        cell->set_blob(blob.get());
        shard.bytes += bytes;
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }
}

void MemoryLevel::clear() {
    for (Shard &shard : shards_) {
        if (!shard.mutex.try_lock()) continue;
        for (Cell &cell : shard.table) {
            if (cell.blob() != nullptr) drop_blob(shard, cell);
        }
        shard.table.clear();  // keeps its memory, and the hints true
        shard.count = 0;
        shard.hand = 0;
        shard.mutex.unlock();
    }
}

}  // namespace cairn
