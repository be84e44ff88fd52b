// The segment files that this process has open for reading.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods, from any thread; reading takes no lock. An OpenSegment keeps its
// descriptor open.
// Ownership: owns the descriptors, and closes them when their segment was deleted (forget_deleted)
// or with the table.
// Failure: not_found: the segment was deleted; io and others as the kernel says.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "os/file.h"
#include "store/lent_files.h"
#include "store/slot.h"

namespace cairn {

class SegmentTable {
  public:
    // Keeps a segment's descriptor open for reading.
    class OpenSegment {
      public:
        OpenSegment(OpenSegment &&other) noexcept
            : state_(std::exchange(other.state_, nullptr)),
              file_(std::move(other.file_)),
              fd_(other.fd_),
              waits_(other.waits_) {}
        OpenSegment(const OpenSegment &) = delete;
        ~OpenSegment() {
            if (state_ != nullptr) state_->fetch_sub(1, std::memory_order_release);
        }
        // As File::read_at(); or as File::read_cached_at(), if from find_open().
        Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) const;
        Result<std::size_t> read_at(std::uint64_t offset, MutableBytes first,
                                    MutableBytes second) const;
        Result<FileInfo> info() const;
        Result<std::uint64_t> next_data(std::uint64_t offset) const;

      private:
        friend class SegmentTable;
        OpenSegment(std::atomic<std::uint64_t> *state, int fd) : state_(state), fd_(fd) {}
        explicit OpenSegment(File file) : file_(std::move(file)), fd_(file_.fd()) {}

        // Counts this reader; null: the descriptor is our own.
        std::atomic<std::uint64_t> *state_ = nullptr;
        File file_;
        int fd_;
        bool waits_ = true;  // for the disk
    };

    // Both outlive the table. With `lent`, files come from there and not from the directory.
    explicit SegmentTable(const Directory &directory, LentFiles *lent = nullptr)
        : directory_(directory), lent_(lent) {}
    ~SegmentTable();
    SegmentTable(const SegmentTable &) = delete;
    SegmentTable &operator=(const SegmentTable &) = delete;

    Result<OpenSegment> open(std::uint32_t segment);
    // Only a segment that is open already, for reading what is in the page cache; else not_found.
    Result<OpenSegment> find_open(std::uint32_t segment);
    // As open(), but opens the file anew, in case the open one was deleted.
    Result<OpenSegment> reopen(std::uint32_t segment);
    // As Directory::is_unreadable(). Never, of lent files.
    bool is_unreadable(std::uint32_t segment) const;
    // Closes the descriptors of deleted files that nobody reads.
    void forget_deleted();

  private:
    // A cache has 64 segments and one for each writer. Of two segments that share a place here, one
    // is opened for each read. The table is small, because each open of a cache touches its memory.
    static constexpr std::size_t kOpenedCount = 128;

    // state: segment number + 1 in the upper half (0: unused), the number of readers in the lower
    // half. kBusy readers mean that a thread is changing this one. fd is constant while the upper
    // half is.
    struct Opened {
        std::atomic<std::uint64_t> state = 0;
        int fd = -1;
    };
    static constexpr std::uint64_t kBusy = 1u << 30;

    Result<File> open_file(std::uint32_t segment) const;
    bool replace(Opened &opened, std::uint64_t seen, std::uint32_t segment, File &file);

    const Directory &directory_;
    LentFiles *const lent_;
    Opened opened_[kOpenedCount];
};

}  // namespace cairn
