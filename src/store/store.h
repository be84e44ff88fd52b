// The store: one persistent cache of opaque values under opaque keys, shared by any number of
// processes.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods, from any thread. After fork() parent and child may both go on.
// Ownership: blobs outlive the store.
// Failure: damage makes misses. A put that fails leaves what was there before.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "os/deadline.h"
#include "os/file.h"
#include "os/root.h"
#include "store/account.h"
#include "store/compactor.h"
#include "store/evictor.h"
#include "store/formats.h"
#include "store/ghosts.h"
#include "store/index.h"
#include "store/index_file.h"
#include "store/lent_files.h"
#include "store/marks.h"
#include "store/memory_level.h"
#include "store/publish.h"
#include "store/record_reader.h"
#include "store/repair.h"
#include "store/writer.h"

namespace cairn {

struct StoreOptions {
    std::string root;
    std::string identifier;
    std::uint64_t version = 0;
    bool any_version = false;  // open the cache in the version that it has
    Access access = Access::read_write;
    Create create = Create::yes;
    std::uint64_t limit_bytes = 0;
    std::uint64_t limit_entries = 0;  // 0: none
    std::uint64_t memory_bytes = 0;   // 0: none kept
    bool sync_on_close = false;
    bool refuse_when_full = false;  // rather than evict
    bool compress = false;          // stored values, in the background
    bool notice_deletion = false;   // each look-up asks whether the index was deleted by hand
    const Policy *policy = &default_policy();
    // If set, the files come from here and not from `root`, for reading only; outlives the store.
    LentFiles *lent = nullptr;
    std::string about;
    Log log;
};

struct PutOptions {
    bool if_absent = false;
    bool pinned = false;
    std::uint32_t cost_us = 0;
};

// kept_out: see cache/program_cache.h.
enum class PutOutcome { stored, exists, kept_out };

struct StoreStats {
    std::uint64_t entries, disk_bytes, limit_bytes, version;
    std::uint64_t hits, misses, puts, puts_refused, damaged, memory_bytes, bytes_read,
        bytes_written;
    std::uint64_t check_bytes_total, check_bytes_left;  // of the rebuild after a system start
    std::uint64_t evicted;                              // entries, by this store
};

struct EntryInfo {
    Bytes key;
    std::uint64_t value_size;
    std::uint64_t stored_size;  // bytes that the value takes on disk
    std::uint64_t stamp_ns;
    std::uint32_t cost_us;
    bool pinned;
};

class Store {
  public:
    static Result<std::unique_ptr<Store>> open(const StoreOptions &options);
    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    // The value; null: a miss.
    BlobRef get(Bytes key);
    // The size of the value, which is in the buffer if it fits; nullopt: a miss. May overwrite the
    // whole buffer.
    std::optional<std::uint64_t> get_into(Bytes key, MutableBytes buffer);
    bool contains(Bytes key);

    // For reading ahead: as get() for what is on disk, but counts and notes no hit, keeps nothing
    // in memory, and does not rebuild the index when it meets damage.
    BlobRef peek(Bytes key);
    // As get(), without waiting for the disk or noting a hit; null: only get() can tell.
    BlobRef get_cached(Bytes key);
    // The key of the record at a location, in a blob without a value; null: there is no record.
    BlobRef key_at(Location location);
    // Locations of up to `count_max` entries, the last written first, judged by the times of the
    // segments and the offsets in them. A copy counts as new. Reads no entry.
    std::vector<Location> newest(std::size_t count_max);

    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options);
    // Returns whether there was an entry.
    Result<bool> remove(Bytes key);
    Status clear();
    // Removes the entries that were stored from begin_ns until before end_ns (ns since 1970).
    // Returns how many. After an error some of them may still be there.
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns);
    // Changes whenever a process has cleared something.
    std::uint64_t clears() { return named_index().clears(); }
    // What became of the entry of a key that is not there, as far as that is remembered. A cache
    // behind lent files remembers nothing.
    std::optional<Ghost> ghost_of(Bytes key);
    // When a process last cleared something, in seconds since 1970; 0: none has, or damage says so.
    std::uint64_t cleared_at_s() { return named_index().cleared_at_s(); }
    Status sync();
    // Compresses the segments that are worth it and have no writer. Errors as Compactor::run().
    Status compress();

    StoreStats stats();
    // The same as in stats(), at no cost.
    std::uint64_t evicted() const { return evictor_ == nullptr ? 0 : evictor_->evicted(); }
    const std::string &root() const { return options_.root; }
    const std::string &identifier() const { return options_.identifier; }
    // Of the contents, as the cache was opened in.
    std::uint64_t version() const {
        return options_.any_version ? version_.load() : options_.version;
    }
    // The same as in stats().
    std::uint64_t limit_bytes() const;
    // Of its files; see store/formats.h.
    std::uint32_t format() const { return format_; }
    // Calls visit for each entry until it returns false.
    void enumerate(const std::function<bool(const EntryInfo &)> &visit);

  private:
    Store(const StoreOptions &options, Directory root, FormatDirectory files);

    static Result<std::unique_ptr<Store>> open_once(const StoreOptions &options);
    static Result<std::unique_ptr<Store>> open_lent(const StoreOptions &options);
    Status make_writers();
    Status join_session();
    bool is_in_place() const;
    bool has_other_formats() const;
    void note_use() const;
    Status make_way(const char *name);
    Status open_index(Create create, bool may_wipe);
    Status create_index(Create create, Replace replace) const;
    Result<bool> lock_alone() const;
    Result<bool> wipe();
    void note_boot(Index &index);
    void apply_limit(Index &index);
    Result<Index *> writable_index();
    Status replace_index(Create create);
    Status follow_directory(Create create);
    bool index_was_deleted();
    bool notice_deleted_index();
    Index &named_index();
    void notice_retired_segments();
    Index &index() const { return *index_.load(std::memory_order_acquire); }

    bool is_found_by(Index &index, const Index::PlacedSlot &own, std::uint64_t hash, Bytes key);
    bool enumerate_index(Index &index, const std::function<bool(const EntryInfo &)> &visit);

    // lookup.cc
    template <typename Read>
    bool look_up(Bytes key, Read read);
    // The damage that a look-up met before it missed.
    struct Damage {
        bool met = false;            // a slot led to a damaged record
        bool none_in_index = false;  // all slots of the buckets were intact
    };
    bool has_changed(Index &index, const Index::PlacedSlot &found, std::uint64_t hash,
                     ReadOutcome outcome, Damage &damage);
    bool rebuild_for(Index &index, std::uint64_t hash, const Damage &damage);
    bool has_left(const Index &index);
    void note_hit(const Index &index, std::uint64_t hash, const Index::PlacedSlot &found,
                  Bytes key);
    void flush_hits();
    void notice_deletion_now_and_then();
    void note_miss();
    void note_read(std::uint64_t bytes);
    bool mend_size(Index &index, Index::Place place, Slot slot);
    void drop_damaged(Index &index, Index::Place place, Slot slot, std::uint64_t hash);

    // update.cc
    Examine examiner(Index &index, Bytes key);
    // nullopt: another index has taken the place of this one, or a clear or a later put has
    // overtaken us. Begin again, with the record in `left_behind` if another index may have it.
    Result<std::optional<PutOutcome>> try_put(Index &index, Bytes key, Bytes value,
                                              const PutOptions &options,
                                              std::vector<RecordId> &left_behind);
    Result<std::optional<PutOutcome>> publish_record(Index &index, const RecordHeader &header,
                                                     Bytes key, const Writer::Appended &record,
                                                     PublishPolicy policy);
    Result<std::optional<Writer::Appended>> append(Index &index, const RecordHeader &header,
                                                   Bytes key, Bytes value);
    Result<Published> publish_slot(Index &index, std::uint64_t hash, Slot slot,
                                   PublishPolicy policy, std::uint64_t stamp_ns,
                                   const Examine &examine);
    Result<bool> remove_found(Index &index, std::uint64_t hash, Bytes key);
    Status note_removal(Index &index, std::uint64_t hash, Bytes key);
    struct RoomWait;
    bool wait_for_room(RoomWait &wait);
    Result<Index *> index_to_change();
    Result<bool> is_overtaken(Index &index);
    void evict_some(Index &index, std::uint64_t record_size);
    void compress_finished_segments(Index &index);
    static std::uint64_t recount(Index &index);
    void release_segments();
    void enforce_entry_limit(Index &index, Location spare);
    Status remove_segments() const;
    void forget_evicted(Index &index);
    void note_clear(Index &index, bool has_removed);

    // Constant after construction. follow_directory() lets a Directory stand for another one.
    const StoreOptions options_;
    const Directory root_;
    const Directory directory_;          // of the files of its format
    std::atomic<std::uint32_t> format_;  // changes only with that, under replace_mutex_
    // Becomes read_only when we may not write to files that were deleted and made again.
    std::atomic<Access> access_;
    File lock_file_;        // holds the session byte in shared mode
    bool is_told_ = false;  // the log says why we cannot use something
    Mutex replace_mutex_;   // held while we follow a deleted index or directory
    std::unique_ptr<Account> account_;
    std::unique_ptr<Writer> writer_;
    std::atomic<std::uint64_t> version_ = 0;

    // The index in use is the last of indexes_. The others were deleted by somebody; readers may
    // still use them.
    std::atomic<Index *> index_ = nullptr;
    Mutex index_mutex_;
    std::vector<std::unique_ptr<Index>> indexes_ GUARDED_BY(index_mutex_);

    RecordReader reader_;
    MemoryLevel memory_;
    std::atomic<std::uint64_t> retired_seen_ = 0;
    std::atomic<std::uint64_t> looked_at_ns_ = 0;  // when a look-up last asked about the index
    std::atomic<bool> entries_counted_ = false;
    std::atomic<bool> boot_noted_ = false;
    // Until then no put waits for room or for another index.
    std::atomic<std::uint64_t> hasty_until_ns_ = 0;

    // Hits to be counted in slots later. The first write to a page of the index costs a process
    // more than a hit does, and many processes make only a few hits.
    static constexpr std::size_t kHitsMax = 64;
    std::array<std::atomic<std::uint64_t *>, kHitsMax> hits_ = {};
    std::atomic<std::uint64_t> hit_count_ = 0;
    Ghosts ghosts_;
    Reuse reuse_;
    std::unique_ptr<Evictor> evictor_;

    // Last, as their threads use the members above.
    std::unique_ptr<Repair> repair_;
    std::unique_ptr<Compactor> compactor_;
    std::atomic<std::uint64_t> segments_seen_ = 0;  // a value of Writer::segments_taken()

    enum Count { hits, misses, puts, puts_refused, damaged, bytes_read, bytes_written, kCounts };
    // Returns the count before.
    std::uint64_t count(Count which, std::uint64_t by = 1) {
        return counts_[which].fetch_add(by, std::memory_order_relaxed);
    }
    std::array<std::atomic<std::uint64_t>, kCounts> counts_ = {};
};

}  // namespace cairn
