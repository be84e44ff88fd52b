// SPDX-License-Identifier: MIT
#include "store/memory_level.h"

#include <algorithm>

#include "base/guarded.h"

namespace cairn {
namespace {

constexpr std::size_t kTableMin = 8;
// A full table of this size first forgets entries that are not kept, and grows only for those that
// are, which are bounded by their bytes.
constexpr std::size_t kForgetFrom = 1 << 16;
constexpr unsigned kUsesToKeep = 2;
// How many entries may be looked at for one that wants to come in.
constexpr std::size_t kLookAt = 256;

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

void MemoryLevel::drop_blob(Shard &shard, Cell &cell) {
    Blob *blob = cell.blob();
    shard.bytes -= blob->footprint();
    bytes_.fetch_sub(blob->footprint(), std::memory_order_relaxed);
    blob->release();
    cell.set_blob(nullptr);
}

std::uint64_t MemoryLevel::room(const Shard &shard) const {
    return capacity_bytes_ / kShardCount - shard.bytes;
}

// Whether those behind the hand that would have to go were used less than half as often. Else the hand
// moves behind the first one that was not, and halves the uses of all that it passes.
bool MemoryLevel::is_worth_more(Shard &shard, unsigned uses, std::uint64_t bytes) {
    const std::size_t mask = shard.table.size() - 1;
    std::uint64_t freed = room(shard);
    std::size_t seen = 0;
    for (bool stays = false; !stays && seen < kLookAt && seen <= mask; ++seen) {
        const Cell &cell = shard.table[(shard.hand + seen) & mask];
        if (cell.blob() == nullptr) continue;
        stays = cell.uses() * 2 >= uses;
        freed += cell.blob()->footprint();
        if (!stays && freed >= bytes) return true;
    }
    for (; seen != 0; --seen, shard.hand = (shard.hand + 1) & mask) {
        Cell &cell = shard.table[shard.hand & mask];
        cell.set_uses(cell.uses() / 2);
    }
    return false;
}

// Evicts what is behind the hand.
void MemoryLevel::evict(Shard &shard, std::uint64_t bytes) {
    for (std::size_t left = shard.table.size(); room(shard) < bytes && left != 0; --left) {
        Cell &cell = shard.table[shard.hand & (shard.table.size() - 1)];
        if (cell.blob() != nullptr) drop_blob(shard, cell);
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
        cell->count_use();
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
    if (bytes > capacity_bytes_ / kShardCount) return false;
    Shard &shard = this->shard(hash);
    if (!shard.mutex.try_lock()) return false;
    const AdoptedLock lock(shard.mutex);
    Cell *cell = lookup(shard, hash);
    if (cell == nullptr) cell = try_insert(shard, hash);
    if (cell == nullptr) return false;
    cell->count_use();
    if (cell->uses() < kUsesToKeep) return false;
    return bytes <= room(shard) || is_worth_more(shard, cell->uses(), bytes);
}

void MemoryLevel::keep(std::uint64_t hash, std::uint64_t place, const BlobRef &blob) {
    const std::uint64_t bytes = blob->footprint();
    if (bytes > capacity_bytes_ / kShardCount) return;
    Shard &shard = this->shard(hash);
    if (!shard.mutex.try_lock()) return;
    const AdoptedLock lock(shard.mutex);
    evict(shard, bytes);
    Cell *cell = lookup(shard, hash);
    if (cell == nullptr) cell = try_insert(shard, hash);
    if (cell == nullptr) return;
    const bool older = cell->blob() != nullptr && cell->blob()->place() != place;
    if (older) drop_blob(shard, *cell);
    if (cell->blob() == nullptr && bytes <= room(shard)) {
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
