// A cache that lives in one handle: bounded, exact least-recently-used order, no files.
// SPDX-License-Identifier: MIT
//
// Thread safety: internally synchronised by one mutex; blobs are shared, not copied.
// Failure: too_large (a single entry exceeds the limit: nothing is evicted for it), no_memory.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "base/result.h"
#include "store/store.h"

namespace cairn {

class MemoryCache {
  public:
    // Limits on the bytes of keys and values together, and on entries (0: none).
    MemoryCache(std::uint64_t limit_bytes, std::uint64_t limit_entries, std::uint64_t version,
                bool refuse_when_full)
        : limit_bytes_(limit_bytes),
          limit_entries_(limit_entries),
          version_(version),
          refuse_when_full_(refuse_when_full) {}

    BlobRef get(Bytes key);
    bool contains(Bytes key);
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options);
    bool remove(Bytes key);
    void clear();
    StoreStats stats();
    void enumerate(const std::function<bool(const EntryInfo &)> &visit);

  private:
    struct Entry {
        BlobRef blob;
        std::uint64_t stamp_ns;
        bool pinned;
    };
    using Order = std::list<Entry>;  // most recently used first

    static std::string_view view(Bytes bytes) {
        return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    }
    static std::uint64_t charge(const Entry &entry) {
        return entry.blob->key().size() + entry.blob->value().size();
    }
    void erase(Order::iterator entry) REQUIRES_LOCK(mutex_);
    bool can_make_room(std::uint64_t bytes, const Entry *replaced) const REQUIRES_LOCK(mutex_);
    void make_room(std::uint64_t bytes) REQUIRES_LOCK(mutex_);

    const std::uint64_t limit_bytes_;
    const std::uint64_t limit_entries_;
    const std::uint64_t version_;
    const bool refuse_when_full_;

    Mutex mutex_;
    Order order_ GUARDED_BY(mutex_);
    std::unordered_map<std::string_view, Order::iterator> entries_ GUARDED_BY(mutex_);
    std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
    // Of pinned entries.
    std::uint64_t pinned_bytes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t pinned_count_ GUARDED_BY(mutex_) = 0;
    StoreStats counts_ GUARDED_BY(mutex_) = {};
};

}  // namespace cairn
