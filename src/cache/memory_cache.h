// A cache that lives in one handle: bounded, evicts by a policy as the store does, no files.
// SPDX-License-Identifier: MIT
//
// Entries stand in the order of their age. What a hit changes, and which entry goes, the policy
// says (store/policy.h):
//
//  - where hits count, the oldest sixteen are compared, as a part of a segment is. The least of
//    them goes. The others that are worth a copy become the youngest, with a hit less. Here that
//    copies nothing.
//  - where a hit renews an entry ("lru"), that is done at the hit, so the oldest one goes: exact
//    least-recently-used order.
//  - where hits change nothing, the oldest or the newest goes.
//
// So an eviction looks at sixteen entries at most. Pinned ones are in an order of their own, as
// nothing else must pass over them.
//
// Thread safety: internally synchronised by one mutex; blobs are shared, not copied.
// Failure: too_large (a single entry exceeds the limit: nothing is evicted for it), no_memory.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "cache/cache.h"
#include "store/policy.h"

namespace cairn {

// The part of an entry that counts towards the limit: the APIs of the front ends differ in this.
enum class Charge { key_and_value, value };

class MemoryCache final : public Cache {
  public:
    struct Options {
        std::uint64_t limit_bytes = 0;
        std::uint64_t limit_entries = 0;  // 0: none
        std::uint64_t version = 0;
        bool refuse_when_full = false;
        Charge charge = Charge::key_and_value;
        const Policy *policy = &default_policy();
    };

    explicit MemoryCache(const Options &options)
        : limit_entries_(options.limit_entries),
          version_(options.version),
          refuse_when_full_(options.refuse_when_full),
          charge_(options.charge),
          policy_(*options.policy),
          limit_bytes_(options.limit_bytes) {}

    Result<BlobRef> get(Bytes key) override { return find(key); }
    // Its time does not depend on a disk.
    BlobRef get_cached(Bytes key) override { return find(key); }
    Result<std::optional<BlobRef>> get_within(Bytes key, std::uint64_t) override {
        return std::optional(find(key));
    }
    Result<bool> contains(Bytes key) override;
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override;
    Result<PutOutcome> put_behind(BlobRef entry) override;
    Result<bool> remove(Bytes key) override;
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override;
    // Evicts until at most `bytes` are charged: the pinned entries last, of these the oldest first.
    // With 0 nothing stays, nor what is charged nothing.
    Result<std::uint64_t> trim(std::uint64_t bytes) override;
    Result<std::uint64_t> resize(std::uint64_t limit_bytes, std::uint64_t keep_bytes) override;
    CacheStats stats() override;
    void enumerate(const Visit &visit) override;
    // Takes time in proportion to `index`; the order stays as it is.
    Result<BlobRef> nth(std::uint64_t index) override;
    const CachePlace *place() const override { return &place_; }

  private:
    struct Entry {
        BlobRef blob;
        std::uint64_t stamp_ns;
        bool pinned;
        std::uint64_t turn = 0;  // the younger, the greater; 0: put behind all
        unsigned hits = 0;       // as in a slot
        bool copied = false;     // kept in an eviction once
    };
    using Order = std::list<Entry>;  // the youngest first

    BlobRef find(Bytes key);
    void note_hit(Order::iterator entry) REQUIRES_LOCK(mutex_);
    std::uint64_t charge(Bytes key, Bytes value) const {
        return value.size() + (charge_ == Charge::value ? 0 : key.size());
    }
    std::uint64_t charge(const Entry &entry) const {
        return charge(entry.blob->key(), entry.blob->value());
    }
    // The outcome that a put will have; `stored` when nothing is in its way.
    Result<PutOutcome> judge(Bytes key, std::uint64_t bytes, bool if_absent) REQUIRES_LOCK(mutex_);
    void erase(Order::iterator entry) REQUIRES_LOCK(mutex_);
    void forget(Order::iterator entry) REQUIRES_LOCK(mutex_);
    void name(Order::iterator entry) REQUIRES_LOCK(mutex_);
    Order &order_of(const Entry &entry) REQUIRES_LOCK(mutex_) {
        return entry.pinned ? pinned_ : order_;
    }
    void make_youngest(Order::iterator entry) REQUIRES_LOCK(mutex_);
    std::uint64_t entry_count() const REQUIRES_LOCK(mutex_) {
        return order_.size() + pinned_.size();
    }
    template <typename Take>
    void for_each(Take take) REQUIRES_LOCK(mutex_);
    void clear_locked() REQUIRES_LOCK(mutex_);
    bool can_make_room(std::uint64_t bytes, const Entry *replaced) const REQUIRES_LOCK(mutex_);
    // Whether there is room, without anything going.
    bool fits(std::uint64_t bytes) const REQUIRES_LOCK(mutex_) {
        return bytes_ + bytes <= limit_bytes_ &&
               (limit_entries_ == 0 || entry_count() < limit_entries_);
    }
    // Takes no memory. REQUIRES: there is an entry that is not pinned.
    void evict_one() REQUIRES_LOCK(mutex_);
    void evict_least_of_oldest() REQUIRES_LOCK(mutex_);
    std::uint64_t trim_locked(std::uint64_t bytes) REQUIRES_LOCK(mutex_);

    const std::uint64_t limit_entries_;
    const std::uint64_t version_;
    const bool refuse_when_full_;
    const Charge charge_;
    const Policy &policy_;
    const CachePlace place_;

    Mutex mutex_;
    std::uint64_t limit_bytes_ GUARDED_BY(mutex_);
    Order order_ GUARDED_BY(mutex_);  // without the pinned ones
    Order pinned_ GUARDED_BY(mutex_);
    std::uint64_t last_turn_ GUARDED_BY(mutex_) = 0;
    std::unordered_map<std::string_view, Order::iterator, KeyHash> entries_ GUARDED_BY(mutex_);
    std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t pinned_bytes_ GUARDED_BY(mutex_) = 0;
    StoreStats counts_ GUARDED_BY(mutex_) = {};
};

}  // namespace cairn
