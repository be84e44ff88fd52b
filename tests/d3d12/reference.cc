// SPDX-License-Identifier: MIT
#include "d3d12/reference.h"

#include <algorithm>

namespace d3d12_test {
namespace {

constexpr unsigned kApplicationManaged = 0x8;
// Bytes that an entry counts on disk besides key and value: docs/formats/d3d12.md.
constexpr size_t kHeader = 8;
constexpr size_t kStoredKey = 32;

}  // namespace

Desc Reference::with_defaults(Desc desc) {
    if (desc.MaximumInMemoryCacheSizeBytes == 0) desc.MaximumInMemoryCacheSizeBytes = 1048576;
    if (desc.MaximumInMemoryCacheEntries == 0) desc.MaximumInMemoryCacheEntries = 128;
    if (desc.MaximumValueFileSizeBytes == 0) desc.MaximumValueFileSizeBytes = 134217728;
    return desc;
}

HRESULT Reference::create(const Desc &desc) {
    if (is_disabled_) return kNotCurrentlyAvailable;
    Cache &cache = this->cache(desc);
    if (cache.sessions != 0 && cache.desc.Version != desc.Version) return kAlreadyExists;
    if (cache.sessions == 0) {
        if (cache.desc.Version != desc.Version) cache.entries.clear();
        cache.desc = with_defaults(desc);
    }
    ++cache.sessions;
    return kOk;
}

void Reference::release(const Desc &desc) {
    Cache &cache = this->cache(desc);
    if (--cache.sessions != 0) return;
    if (cache.is_marked || !is_on_disk(desc)) cache.entries.clear();
    cache.is_marked = false;
}

std::list<Reference::Entry>::iterator Reference::entry_of(Cache &cache, const std::string &key) {
    return std::find_if(cache.entries.begin(), cache.entries.end(),
                        [&](const Entry &entry) { return have_one_hash(entry.key, key); });
}

HRESULT Reference::find(const Desc &desc, const std::string &key, std::string &value) {
    if (is_disabled_) return kNotCurrentlyAvailable;
    Cache &cache = this->cache(desc);
    const auto entry = entry_of(cache, key);
    if (entry == cache.entries.end()) return kNotFound;
    cache.entries.splice(cache.entries.begin(), cache.entries, entry);
    if (entry->key != key) return kHashCollision;
    value = entry->value;
    return kOk;
}

bool Reference::fits(const Cache &cache, const Entry &entry) {
    const size_t limit = cache.desc.MaximumValueFileSizeBytes;
    size_t sum = entry.bytes() + kHeader + kStoredKey;
    for (const Entry &other : cache.entries) sum += other.bytes() + kHeader + kStoredKey;
    return limit >= 1048576 || sum <= limit;
}

void Reference::evict(Cache &cache) {
    const auto bytes = [&] {
        size_t sum = 0;
        for (const Entry &entry : cache.entries) sum += entry.bytes();
        return sum;
    };
    while (cache.entries.size() > 1 &&
           (bytes() > cache.desc.MaximumInMemoryCacheSizeBytes ||
            cache.entries.size() > cache.desc.MaximumInMemoryCacheEntries)) {
        cache.entries.pop_back();
    }
}

HRESULT Reference::store(const Desc &desc, const std::string &key, const std::string &value) {
    if (is_disabled_) return kNotCurrentlyAvailable;
    Cache &cache = this->cache(desc);
    const auto there = entry_of(cache, key);
    if (there != cache.entries.end()) return there->key == key ? kAlreadyExists : kHashCollision;
    const Entry entry = {key, value};
    if (is_on_disk(desc) && !fits(cache, entry)) return kCacheFull;
    cache.entries.push_front(entry);
    if (!is_on_disk(desc)) evict(cache);
    return kOk;
}

HRESULT Reference::control(unsigned kinds, unsigned flags) {
    if (kinds == 0 || kinds > 0xF || flags == 0 || flags > 7 || (flags & 3) == 3) {
        return kInvalidArgument;
    }
    if ((kinds & kApplicationManaged) == 0) return kOk;
    if ((flags & 1) != 0) is_disabled_ = true;
    if ((flags & 4) != 0) {
        for (auto &[name, cache] : caches_) cache.entries.clear();
    }
    if ((flags & 2) != 0) is_disabled_ = false;
    return kOk;
}

}  // namespace d3d12_test
