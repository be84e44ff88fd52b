// Publishes the entries that segments hold and a damaged or lost index lacks.
// SPDX-License-Identifier: MIT
//
//  1. It empties the damaged slots. From then on a rebuild is due (Index::ask_for_rebuild), until
//     one has come to its end.
//  2. It lists all records, by their headers.
//  3. Key by key, it publishes the newest whole record, unless there is a newer tombstone.
// In this order it publishes nothing that an older call has replaced or removed.
//
// Meanwhile others go on storing and removing. Before it publishes an older record where the key
// has no slot, it must know that no newer record was dropped since the listing. Its tentative slot
// keeps others from publishing the key. A process that drops an entry first counts that in
// Counter::removals. When that count has changed, the rebuild lists newer records, too.
//
// It publishes under the eviction lock, so that no segment is retired meanwhile.
//
// It runs in steps, so that it delays the look-up that needs it by a bounded time. Several
// processes may rebuild at once: publishing an entry twice is publishing it once. It takes 24 bytes
// of memory for each record while it lasts.
//
// Thread safety: Rebuild is externally synchronised; see Repair.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/worker.h"
#include "store/index.h"
#include "store/publish.h"
#include "store/record_reader.h"
#include "store/segment_scan.h"
#include "store/space.h"
#include "store/writer.h"

namespace cairn {

class Rebuild {
  public:
    // All outlive the Rebuild.
    Rebuild(const Directory &directory, Index &index, RecordReader &reader, Writer &writer)
        : directory_(directory), index_(index), reader_(reader), writer_(writer) {}

    // Continues until all is done (true), or the time is up or others hold the eviction lock
    // (false). An error means that a file could not be read or that the index could not grow;
    // entries may still be missing.
    Result<bool> step(std::uint64_t deadline_ns);

    const Index &index() const { return index_; }
    std::uint64_t recovered() const { return recovered_; }
    std::uint64_t bytes_total() const { return bytes_total_; }
    std::uint64_t bytes_left() const { return bytes_left_; }

  private:
    struct Listed {
        std::uint64_t key_hash;
        std::uint64_t stamp_ns;
        std::uint32_t segment;
        std::uint32_t place;  // offset in units of kRecordAlignment; tombstones have the top bit
        Location location() const {
            return {segment, std::uint64_t{place & ~kRemoved} * kRecordAlignment};
        }
        bool removed() const { return (place & kRemoved) != 0; }
        bool operator==(const Listed &) const = default;
        // Of a record and its copy, the tombstone counts.
        friend bool operator<(const Listed &a, const Listed &b) {
            return std::tuple(a.key_hash, a.stamp_ns, a.removed(), a.segment, a.place) <
                   std::tuple(b.key_hash, b.stamp_ns, b.removed(), b.segment, b.place);
        }
    };
    static constexpr std::uint32_t kRemoved = 1u << 31;
    // How far a segment is listed. Everything written to it later is behind this offset.
    struct ListedTo {
        std::uint32_t segment;
        std::uint64_t offset;
    };
    enum class Adopted {
        settled,     // no older record of the key may be published
        not_whole,   // an older one may be published
        gone,        // replaced or evicted: only its copy may be published
        superseded,  // newer records were listed: begin again with them
    };

    bool counts(const RecordHeader &header) const;
    Result<bool> go_on(std::uint64_t deadline_ns);
    Status begin();
    Status list_record();
    Status begin_segment(std::uint32_t segment, std::uint64_t from);
    ListedTo end_segment() const;
    Status list_newer();
    Status list_tail(std::uint32_t segment, std::uint64_t size_bytes);
    void add(std::vector<Listed> &listed, const ScannedRecord &record) const;
    std::span<const Listed> newer_of_key() const;
    Status settle_key();
    Result<Adopted> settle_records();
    Result<Adopted> adopt(const Listed &listed, bool has_older);
    Result<bool> lock_segments();
    Result<Adopted> publish_record(const Listed &listed, const RecordHeader &header, Bytes key);
    Result<std::optional<Adopted>> obstacle_to(const Listed &listed);
    void mark_others(std::uint64_t stamp_ns);
    bool has_slot(const Listed &listed) const;
    Result<RecordState> state_now(const Listed &listed);
    bool is_superseded(const Listed &listed) const;
    Result<bool> segment_exists(std::uint32_t segment) const;
    Status take_back(const Listed &removal);
    Examine examiner(Bytes key, std::uint64_t stamp_ns);

    const Directory &directory_;
    Index &index_;
    RecordReader &reader_;
    Writer &writer_;

    bool begun_ = false;
    std::uint64_t due_ = 0;  // Counter::rebuild at the begin
    bool sorted_ = false;
    std::vector<SegmentFile> segments_;  // still to be listed; the last one is being listed
    std::optional<SegmentScan> scan_;
    bool scanned_is_final_ = false;  // the segment had no writer when we asked for its size
    std::uint64_t scanned_size_ = 0;
    std::vector<Listed> listed_;  // sorted: a key's records together, the newest last
    std::vector<Listed> newer_;   // sorted; listed later
    std::vector<Listed> key_;     // the records of the key being settled, newest first
    std::vector<ListedTo> listed_to_;
    std::uint64_t removals_ = 0;  // Counter::removals before the last listing
    // Of the step that is being taken. While it is held, nobody evicts or retires a segment.
    std::optional<ByteLock> *lock_ = nullptr;
    std::uint64_t recovered_ = 0;
    std::uint64_t bytes_total_ = 0;
    std::uint64_t bytes_left_ = 0;
};

// Decides when to rebuild the index from the segments: at once for a look-up that met damage, and
// in the background after a system start.
//
// After a system start, what was not synced may be half written. Every look-up verifies what it
// reads, so nothing needs checking before use. The background check only brings back entries that a
// lost part of the index hid. It looks at 16 records, mostly one page of the disk each, every
// 2.5 ms: at most 26 MB/s, and more for entries that come back, as those are read whole.
//
// Thread safety: any thread. A thread that finds another at work waits two milliseconds at most.
// Failure: after an error the rebuild is abandoned and tried again later.
class Repair {
  public:
    // All outlive the Repair.
    Repair(const Directory &directory, RecordReader &reader, Writer &writer, const Log &log,
           std::string cache_name)
        : directory_(directory),
          reader_(reader),
          writer_(writer),
          log_(log),
          cache_name_(std::move(cache_name)) {}

    // For a look-up that met damage: rebuilds for a bounded time. True: look again.
    bool rebuild(Index &index);

    // Starts the background check if the index asks for a rebuild. The index outlives the Repair.
    void check_in_background(Index &index);
    void stop() { worker_.stop(); }

    std::uint64_t bytes_total() const { return bytes_total_.load(std::memory_order_relaxed); }
    std::uint64_t bytes_left() const { return bytes_left_.load(std::memory_order_relaxed); }

  private:
    // Whether the rebuild is done.
    Result<bool> step(Index &index, std::uint64_t duration_ns) REQUIRES_LOCK(mutex_);
    void run_background();

    const Directory &directory_;
    RecordReader &reader_;
    Writer &writer_;
    const Log &log_;
    const std::string cache_name_;

    Mutex mutex_;
    std::unique_ptr<Rebuild> rebuild_ GUARDED_BY(mutex_);
    std::uint64_t not_before_ns_ GUARDED_BY(mutex_) = 0;  // after a failure

    std::atomic<std::uint64_t> bytes_total_ = 0;
    std::atomic<std::uint64_t> bytes_left_ = 0;

    Index *background_index_ = nullptr;  // constant while the worker runs
    Worker worker_{[this] { run_background(); }};
};

}  // namespace cairn
