// One shape for every cache: on disk, in memory, behind a broker, and tiers and layers of those.
// SPDX-License-Identifier: MIT
//
// A cache implements what it can. All else is inherited: looking up has its meaning in terms of
// get(), changes are unsupported, and what needs no work succeeds.
//
// Thread safety: all methods may be called from any thread at once; destruction is the last call.
// Ownership: blobs outlive the cache.
// Failure: a miss is a null BlobRef, or nullopt, and no error.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/result.h"
#include "cache/fate.h"
#include "store/blob.h"
#include "store/store.h"

namespace cairn {

inline std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// Of keys in memory. XXH3 takes little more than half of the instructions of std::hash.
struct KeyHash {
    std::size_t operator()(std::string_view key) const {
        return static_cast<std::size_t>(checksum(as_bytes(key), 0));
    }
};

struct QueueStats {
    std::uint64_t entries;  // queued now, or being written
    std::uint64_t bytes;    // of them, keys and values
    std::uint64_t dropped;  // because the queue was full
    std::uint64_t failed;   // the cache behind the queue did not take them
};

// Who is told what is in a queue whenever that changes, by the thread that changed it. One call at a
// time in a process, with a lock of the cache held: it must neither wait nor call the cache. A forked
// child tells of its own queue.
struct QueueWatcher {
    void (*told)(void *user, std::uint64_t entries, std::uint64_t bytes);
    void *user;
};

// Counted by a program cache only.
struct ProgramStats {
    std::uint64_t memory_entries, memory_limit_bytes, memory_hits;
    QueueStats queue;
    std::uint64_t crashes_dropped, crashes_kept_out;
    std::uint64_t loaded_entries;  // by the thread that loads
    bool is_loaded;                // it loads no more
    std::uint64_t late;            // get_within() that did not wait for its answer
    std::uint64_t start_keys;      // noted of this start
};

// Counted by a cache behind a broker only.
struct BrokerStats {
    bool connected;
    std::uint64_t accepted, dropped;  // stores that were and were not taken into the queue
    std::uint64_t lost;               // taken, and not sent when the connection ended
    std::uint64_t stored, refused;    // as of the latest flush, on this connection
    std::uint64_t queued_bytes;
    std::uint64_t hits_reported;
};

struct CacheStats : StoreStats {
    std::optional<ProgramStats> program;
    std::optional<BrokerStats> broker;
    // Packs under the cache, and the hits of this process that they answered.
    std::uint64_t layers = 0, layer_entries = 0, layer_hits = 0;
};

// Where a cache is. Leases of one directory, or of one cache in memory, exclude one another.
struct CachePlace {
    std::string root;  // below which a control file switches kinds of caches off
    std::string identifier;
    bool is_in_memory() const { return identifier.empty(); }
};

class Cache {
  public:
    static constexpr std::uint32_t kNoTicket = UINT32_MAX;
    using Visit = std::function<bool(const EntryInfo &)>;

    Cache() = default;
    virtual ~Cache() = default;
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;

    // Looking up.
    virtual Result<BlobRef> get(Bytes key) = 0;
    // nullopt: it is not known within `patience_us`.
    virtual Result<std::optional<BlobRef>> get_within(Bytes, std::uint64_t /*patience_us*/) {
        return Error::unsupported;
    }
    // The value in a buffer, of which all may be overwritten. When the size is larger than the
    // buffer, the value is not there.
    virtual Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) {
        TRY_ASSIGN(const BlobRef found, get(key));
        if (!found) return std::optional<std::uint64_t>();
        const Bytes value = found->value();
        if (value.size() <= buffer.size()) std::copy(value.begin(), value.end(), buffer.begin());
        return std::optional<std::uint64_t>(value.size());
    }
    virtual Result<bool> contains(Bytes key) {
        TRY_ASSIGN(const BlobRef found, get(key));
        return static_cast<bool>(found);
    }
    // As get(), without waiting for a disk; null: ask get().
    virtual BlobRef get_cached(Bytes) { return {}; }
    // What became of an entry that a look-up has just missed.
    virtual Fate fate_of(Bytes) { return {}; }
    // As get(), for those who read ahead: counts no hit, and keeps nothing.
    virtual BlobRef peek(Bytes) { return {}; }
    // Calls `visit` with the keys, as far as known those stored last first, until it returns false.
    virtual void visit_newest(const std::function<bool(Bytes key)> &) {}
    // Copies the newest entries of lower tiers into upper ones until those are full, or `go_on`,
    // which is called before each entry, returns false. Returns how many were copied.
    virtual std::uint64_t load_newest(const std::function<bool()> & /*go_on*/) { return 0; }

    // Changing. Only put() may be called by those who hold a key or value of this cache's entries.
    virtual Result<PutOutcome> put(Bytes, Bytes, const PutOptions &) { return Error::unsupported; }
    // The same for a cache that can keep the blob instead of a copy.
    virtual Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) {
        return put(entry->key(), entry->value(), options);
    }
    // As the entry that goes first, if there is none of the key. full: another would have to go.
    virtual Result<PutOutcome> put_behind(BlobRef) { return Error::full; }
    // Whether there was an entry.
    virtual Result<bool> remove(Bytes) { return Error::unsupported; }
    virtual Status clear() { return Error::unsupported; }
    // Removes entries put at begin_ns or later and before end_ns (ns since 1970). Returns how many.
    virtual Result<std::uint64_t> clear_range(std::uint64_t /*begin_ns*/,
                                              std::uint64_t /*end_ns*/) {
        return Error::unsupported;
    }
    // Another number after anybody has cleared something.
    virtual std::uint64_t clears() const { return 0; }

    // Room: evicts from memory until at most `bytes` are held, and sets the limit to `limit_bytes`
    // in the same step. Both return what was freed.
    virtual Result<std::uint64_t> trim(std::uint64_t) { return Error::unsupported; }
    virtual Result<std::uint64_t> resize(std::uint64_t /*limit_bytes*/,
                                         std::uint64_t /*keep_bytes*/) {
        return Error::unsupported;
    }

    // Waits until all earlier puts are where they belong. busy: not within `patience_us`.
    virtual Status flush(std::uint64_t /*patience_us*/) { return {}; }
    virtual Status sync() { return {}; }
    virtual Status compress() { return {}; }

    virtual CacheStats stats() { return {}; }
    // Entries that were evicted from disk by this object. Costs nothing, unlike stats().
    virtual std::uint64_t evicted() { return 0; }
    // Bytes that it may take on disk; 0: it is not on disk. Costs nothing, either.
    virtual std::uint64_t disk_limit() { return 0; }
    // Of a program cache: from now on, and for as long as it lives. The watcher outlives it.
    virtual void watch_queue(const QueueWatcher &) {}
    virtual void enumerate(const Visit &) {}
    // The entry at a place in the order, 0 being the most recently used. Null: there are no more.
    virtual Result<BlobRef> nth(std::uint64_t) { return Error::unsupported; }

    // Around handing the entry to a driver: see crash_memory.h.
    virtual std::uint32_t begin_use(Bytes) { return kNoTicket; }
    virtual void end_use(std::uint32_t) {}

    // Null: the cache does not know, as behind a broker.
    virtual const CachePlace *place() const { return nullptr; }
    // No other cache of the process ever has it, as it may the address.
    std::uint64_t serial() const { return serial_; }

  private:
    inline static std::atomic<std::uint64_t> last_serial_ = 0;

    const std::uint64_t serial_ = ++last_serial_;
};

}  // namespace cairn
