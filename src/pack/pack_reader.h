// Reads packs: immutable files of entries that lie under a cache as layers, or are worked on by
// tools.
// SPDX-License-Identifier: MIT
//
// Opening reads one page of rows, however many entries there are. A look-up reads one bucket of the
// index, which it finds in memory from then on, and one record. Nothing of a file is mapped: one
// that is cut short or overwritten under a running process gives misses and no signal.
//
// Thread safety: all methods, from any thread.
// Ownership: blobs outlive the pack. A part keeps its pack's file open.
// Failure: what does not verify is missed and counted. no_memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "pack/pack_format.h"
#include "store/blob.h"
#include "store/codec.h"

struct ZSTD_DDict_s;

namespace cairn {

class Pack {
  public:
    // corrupt: it is no pack; unsupported: of another format version.
    static Result<std::shared_ptr<const Pack>> open(File file);

    const std::vector<PackRow> &rows() const { return header_.rows; }
    std::optional<std::size_t> find_part(const PackIdentity &identity) const;
    std::uint64_t body_size() const { return header_.body_size; }
    const FileInfo &info() const { return info_; }
    const File &file() const { return file_; }

    // Texts for people; nullopt: damaged.
    std::optional<std::string> about() const;
    std::optional<std::string> part_text(const PackRow &row) const;

    // Whether the file has the bytes [offset, offset + size) of the body, as far as its size tells. To
    // be asked before memory is taken for them: the body may be said to be larger than the file.
    bool has(std::uint64_t offset, std::uint64_t size) const;
    // The bytes [offset, offset + out.size()) of the body. False: they are not all there.
    bool read(std::uint64_t offset, MutableBytes out) const;

  private:
    Pack(File file, const FileInfo &info, PackHeader header)
        : file_(std::move(file)), info_(info), header_(std::move(header)) {}
    std::optional<std::string> text(std::uint64_t offset, std::uint32_t size,
                                    std::uint64_t check) const;

    // Constant after construction.
    const File file_;
    const FileInfo info_;
    const PackHeader header_;
};

class PackPart {
  public:
    struct Found {
        BlobRef entry;  // null: a miss
        std::uint32_t slot = 0;
    };

    // REQUIRES: the pack has a row of this number.
    PackPart(std::shared_ptr<const Pack> pack, std::size_t number);
    ~PackPart();
    PackPart(const PackPart &) = delete;
    PackPart &operator=(const PackPart &) = delete;

    Result<Found> find(Bytes key) const;
    // The slot of a key's entry, without reading the value, which may turn out to be damaged.
    Result<std::optional<std::uint32_t>> find_slot(Bytes key) const;
    // The entry of a slot; null: it has none.
    Result<BlobRef> read(std::uint32_t slot) const;
    // Where its record is and what that says of itself; nullopt: there is none. Not verified.
    struct Entry {
        std::string key;
        PackRecord record;
    };
    Result<std::optional<Entry>> look_at(std::uint32_t slot) const;
    // Slots in the order of a start. Slots are numbers below row().slot_count().
    std::vector<std::uint32_t> order() const;

    const PackRow &row() const { return row_; }
    const Pack &pack() const { return *pack_; }
    // Records that did not verify.
    std::uint64_t damaged() const { return damaged_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t kPageSize = 4096;
    enum class Page : std::uint8_t { unread, read, missing };

    template <typename Visit>
    Status visit_candidates(Bytes key, const Visit &visit) const;
    Result<std::optional<PackSlot>> slot_at(std::uint32_t number) const;
    // Null: the file has no such bucket any more.
    Result<const std::byte *> bucket(std::uint32_t number) const;
    std::size_t readable_index() const;
    Page read_page(std::size_t page) const;
    Result<BlobRef> read_record(const PackSlot &slot) const;
    Result<BlobRef> decompress(Bytes bytes, const PackRecord &record) const;
    const ZSTD_DDict_s *dictionary() const;

    // Constant after construction.
    const std::shared_ptr<const Pack> pack_;
    const PackRow row_;
    const std::size_t index_size_;  // of a file that was cut: whole pages that it has

    // Pages of the index, as they are needed.
    mutable Mutex mutex_;
    mutable std::atomic<std::byte *> index_ = nullptr;
    mutable std::unique_ptr<std::atomic<Page>[]> pages_;  // constant once index_ is set
    mutable std::atomic<ZSTD_DDict_s *> dictionary_ = nullptr;
    mutable bool has_no_dictionary_ GUARDED_BY(mutex_) = false;
    mutable Decompressor decompressor_;
    mutable std::atomic<std::uint64_t> damaged_ = 0;
};

}  // namespace cairn
