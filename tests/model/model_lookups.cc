// The operations of the model that change nothing.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "model/model.h"
#include "support/files.h"

namespace cairn_test {

// ---- looking up

// Judges the answer of a lookup that gives the whole value.
void Model::check_value(const std::string &call, const ByteVector &key, int result,
                        std::optional<ByteView> value, std::optional<std::uint32_t> cost_us) {
    const auto entry = entries_.find(key);
    if (result == CAIRN_OK) ++current_->hits_min;
    if (entry == entries_.end()) {
        check_result(call + " of what is not there", result, {CAIRN_MISS});
        return;
    }
    if (result == CAIRN_MISS && missing_ == Missing::when_evicted) {
        entries_.erase(entry);
        return;
    }
    if (!check_result(call, result, {CAIRN_OK})) return;
    check(value && std::ranges::equal(*value, entry->second.value), call + ": wrong bytes");
    check(!cost_us || *cost_us == entry->second.cost_us, call + ": wrong cost");
}

void Model::get() {
    operation_ = "get";
    const ByteVector key = pick_key();
    int result = 0;
    const auto blob = current_->cache.get(key, &result);
    if (!blob) return check_value("get", key, result, std::nullopt, std::nullopt);
    check(reinterpret_cast<std::uintptr_t>(blob->bytes().data()) % 16 == 0, "blob not aligned");
    check(blob->bytes().data() != nullptr, "blob without data");
    check_value("get", key, result, blob->bytes(), blob->cost_us());
}

void Model::get_and_hold() {
    operation_ = "get and hold";
    const ByteVector key = pick_key();
    int result = 0;
    auto blob = current_->cache.get(key, &result);
    if (!blob) return check_value("get", key, result, std::nullopt, std::nullopt);
    check_value("get", key, result, blob->bytes(), blob->cost_us());
    if (!failure_.empty()) return;
    ByteVector shown(blob->bytes().begin(), blob->bytes().end());
    if (held_.size() < kHeldMax) {
        held_.emplace_back(std::move(*blob), std::move(shown));
    } else {
        held_[in_.below(kHeldMax)] = {std::move(*blob), std::move(shown)};
    }
}

void Model::get_into() {
    operation_ = "get_into";
    const ByteVector key = pick_key();
    const auto entry = entries_.find(key);
    const std::size_t full = entry == entries_.end() ? 40 : entry->second.value.size();
    const std::size_t capacities[] = {0, full, full + 1, full + 100, full / 2, full - (full > 0)};
    const std::size_t capacity = capacities[in_.below(std::size(capacities))];
    constexpr std::uint8_t kUntouched = 0xA5;
    ByteVector buffer(capacity + 64, kUntouched);
    const std::size_t size_before = 0x1234567;
    std::size_t size = size_before;
    const int result = cairn_get_into(current_->cache.handle(), key.data(), key.size(),
                                      capacity == 0 ? nullptr : buffer.data(), capacity, &size);
    if (result == CAIRN_TOO_SMALL) {
        check(entry != entries_.end() && size == full && capacity < full, "wrong TOO_SMALL");
    } else if (result == CAIRN_OK) {
        check(size <= capacity, "size beyond capacity");
        const auto value = ByteView(buffer).first(std::min(size, capacity));
        check_value("get_into", key, result, value, std::nullopt);
    } else {
        check(size == size_before, "size changed without a value");
        check_value("get_into", key, result, std::nullopt, std::nullopt);
    }
    const auto rest = ByteView(buffer).subspan(capacity);
    check(std::ranges::all_of(rest, [](std::uint8_t byte) { return byte == kUntouched; }),
          "bytes beyond the buffer were touched");
}

void Model::contains() {
    operation_ = "contains";
    const ByteVector key = pick_key();
    const int result = current_->cache.contains(key);
    if (!entries_.contains(key)) {
        check_result("contains", result, {CAIRN_MISS});
    } else if (missing_ == Missing::never) {
        check_result("contains", result, {CAIRN_OK});
    } else {
        check_result("contains", result, {CAIRN_OK, CAIRN_MISS});
    }
}

// ---- looking at

namespace {

struct Seen {
    ByteVector key;
    std::size_t value_size;
    std::uint32_t cost_us;
    std::uint32_t flags;
    std::uint64_t stored_at_ms;
};

struct Collector {
    std::vector<Seen> seen;
    std::size_t stop_after = SIZE_MAX;
    Cache *remove_from = nullptr;
    int remove_result = CAIRN_OK;

    static int collect(void *user, const cairn_entry *entry) {
        auto *self = static_cast<Collector *>(user);
        const auto *key = static_cast<const std::uint8_t *>(entry->key);
        self->seen.push_back({ByteVector(key, key + entry->key_size), entry->value_size,
                              entry->cost_us, entry->flags, entry->stored_at_ms});
        if (self->remove_from != nullptr) {
            const int result = self->remove_from->remove(self->seen.back().key);
            if (result != CAIRN_OK) self->remove_result = result;
        }
        return self->seen.size() >= self->stop_after ? 1 : 0;
    }
};

}  // namespace

void Model::enumerate_all() {
    operation_ = "enumerate";
    Collector collector;
    const int result = cairn_enumerate(current_->cache.handle(), &Collector::collect, &collector);
    if (!check_result("enumerate", result, {CAIRN_OK})) return;
    std::set<ByteVector> once;
    for (const Seen &seen : collector.seen) {
        check(once.insert(seen.key).second, "an entry was enumerated twice");
        const auto entry = entries_.find(seen.key);
        if (!check(entry != entries_.end(), "an entry was enumerated that is not there")) return;
        check(seen.value_size == entry->second.value.size(), "enumerated with a wrong size");
        check(seen.cost_us == entry->second.cost_us, "enumerated with a wrong cost");
        const bool pinned = (seen.flags & CAIRN_PUT_PINNED) != 0;
        check(pinned == entry->second.pinned, "enumerated with a wrong pinned flag");
        check(seen.stored_at_ms != 0, "enumerated without a time");
    }
    if (missing_ == Missing::never)
        check(once.size() == entries_.size(), "an entry was not enumerated");
}

void Model::enumerate_until_stopped() {
    operation_ = "enumerate, stopped";
    Collector collector;
    collector.stop_after = 1 + in_.below(5);
    const int result = cairn_enumerate(current_->cache.handle(), &Collector::collect, &collector);
    check_result("enumerate", result, {CAIRN_OK});
    if (missing_ == Missing::never) {
        check(collector.seen.size() == std::min(collector.stop_after, entries_.size()),
              "enumeration did not stop when told");
    }
}

void Model::enumerate_and_remove() {
    operation_ = "enumerate, removing each";
    if (current_->read_only) return;
    Collector collector;
    collector.remove_from = &current_->cache;
    const int result = cairn_enumerate(current_->cache.handle(), &Collector::collect, &collector);
    check_result("enumerate", result, {CAIRN_OK});
    check_result("remove inside enumerate", collector.remove_result, {CAIRN_OK});
    if (missing_ == Missing::never)
        check(collector.seen.size() == entries_.size(), "not every entry was enumerated");
    entries_.clear();
    check(current_->cache.stats().entries == 0, "entries are left");
}

void Model::check_stats() {
    operation_ = "stats";
    const cairn_stats stats = current_->cache.stats();
    if (missing_ == Missing::never) {
        check(stats.entries == entries_.size(), "stats: " + std::to_string(stats.entries) +
                                                    " entries, not " +
                                                    std::to_string(entries_.size()));
    } else {
        check(stats.entries <= entries_.size(), "stats: too many entries");
    }
    check(stats.version == options_.version, "stats: wrong version");
    check(stats.puts == current_->puts, "stats: wrong number of puts");
    check(stats.hits >= current_->hits_min, "stats: too few hits");
    check(stats.damaged == 0, "stats: damage where there is none");
    const std::uint64_t limit =
        options_.limit_bytes != 0 ? options_.limit_bytes : CAIRN_LIMIT_BYTES_DEFAULT;
    if (!current_->read_only) check(stats.limit_bytes == limit, "stats: wrong limit");
    if (!disk()) {
        check(stats.disk_bytes == 0, "stats: bytes on disk in memory mode");
        return;
    }
    check(stats.disk_bytes <= limit, "stats: more bytes on disk than the limit");
    check(blocks_held(options_.root + "/model") <= limit, "more bytes on disk than the limit");
}

void Model::check_held() {
    operation_ = "blobs held";
    for (const auto &[blob, shown] : held_)
        check(std::ranges::equal(blob.bytes(), shown), "a blob changed its bytes");
}

void Model::check_everything() {
    operation_ = "looking everything up, " + operation_;
    for (std::size_t i = 0; i < kModelKeyCount && failure_.empty(); ++i) {
        const ByteVector key = model_key(i);
        int result = 0;
        const auto blob = current_->cache.get(key, &result);
        check_value("get", key, result,
                    blob ? std::optional<ByteView>(blob->bytes()) : std::nullopt, std::nullopt);
    }
    enumerate_all();
}

}  // namespace cairn_test
