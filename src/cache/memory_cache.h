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

// What of an entry counts towards the limit: front ends follow APIs that differ in this.
enum class Charge { key_and_value, value };

class MemoryCache {
  public:
    struct Options {
        std::uint64_t limit_bytes = 0;
        std::uint64_t limit_entries = 0;  // 0: none
        std::uint64_t version = 0;
        bool refuse_when_full = false;
        Charge charge = Charge::key_and_value;
    };

    explicit MemoryCache(const Options &options)
        : limit_entries_(options.limit_entries),
          version_(options.version),
          refuse_when_full_(options.refuse_when_full),
          charge_(options.charge),
          limit_bytes_(options.limit_bytes) {}

    BlobRef get(Bytes key);
    bool contains(Bytes key);
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options);
    // The same without a copy.
    Result<PutOutcome> put(BlobRef entry, const PutOptions &options);
    // As the least recently used one, if there is none of the key and none has to go for it. full:
    // there is no room.
    Result<PutOutcome> put_behind(BlobRef entry);
    bool remove(Bytes key);
    void clear();
    // Removes what was put at begin_ns or later and before end_ns (ns since 1970); returns how many
    // entries that were.
    std::uint64_t clear_range(std::uint64_t begin_ns, std::uint64_t end_ns);
    // Evicts until at most `bytes` are charged, the pinned entries last. With 0 nothing stays, nor
    // what is charged nothing. Returns what was freed.
    std::uint64_t trim(std::uint64_t bytes);
    // The same to the lesser of both, and the first is the limit from now on, in one step.
    std::uint64_t resize(std::uint64_t limit_bytes, std::uint64_t keep_bytes);
    // The entry at a place in the order, 0 being the most recently used; that order stays as it is.
    // Takes time in proportion to `index`.
    BlobRef nth(std::uint64_t index);
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
    std::uint64_t charge(Bytes key, Bytes value) const {
        return value.size() + (charge_ == Charge::value ? 0 : key.size());
    }
    std::uint64_t charge(const Entry &entry) const {
        return charge(entry.blob->key(), entry.blob->value());
    }
    // What a put comes to; `stored` when nothing is in its way.
    Result<PutOutcome> judge(Bytes key, std::uint64_t bytes, bool if_absent) REQUIRES_LOCK(mutex_);
    void erase(Order::iterator entry) REQUIRES_LOCK(mutex_);
    void forget(Order::iterator entry) REQUIRES_LOCK(mutex_);
    void name(Order::iterator entry) REQUIRES_LOCK(mutex_);
    void clear_locked() REQUIRES_LOCK(mutex_);
    bool can_make_room(std::uint64_t bytes, const Entry *replaced) const REQUIRES_LOCK(mutex_);
    void make_room(std::uint64_t bytes) REQUIRES_LOCK(mutex_);
    void evict_down_to(std::uint64_t bytes, bool pinned) REQUIRES_LOCK(mutex_);
    std::uint64_t trim_locked(std::uint64_t bytes) REQUIRES_LOCK(mutex_);

    const std::uint64_t limit_entries_;
    const std::uint64_t version_;
    const bool refuse_when_full_;
    const Charge charge_;

    Mutex mutex_;
    std::uint64_t limit_bytes_ GUARDED_BY(mutex_);
    Order order_ GUARDED_BY(mutex_);
    std::unordered_map<std::string_view, Order::iterator> entries_ GUARDED_BY(mutex_);
    std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
    // Of pinned entries.
    std::uint64_t pinned_bytes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t pinned_count_ GUARDED_BY(mutex_) = 0;
    StoreStats counts_ GUARDED_BY(mutex_) = {};
};

}  // namespace cairn
