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
    // state: segment number + 1 in the upper half (0: unused), the number of readers in the lower
    // half. kBusy readers mean that a thread is changing this one. The file is constant while the
    // upper half is.
    struct Opened {
        std::atomic<std::uint64_t> state = 0;
        File file;
    };

  public:
    // Keeps a segment's descriptor open for reading.
    class OpenSegment {
      public:
        OpenSegment(OpenSegment &&other) noexcept
            : opened_(std::exchange(other.opened_, nullptr)), own_(std::move(other.own_)) {}
        OpenSegment(const OpenSegment &) = delete;
        ~OpenSegment() {
            if (opened_ != nullptr) opened_->state.fetch_sub(1, std::memory_order_release);
        }
        const File &file() const { return opened_ != nullptr ? opened_->file : own_; }

      private:
        friend class SegmentTable;
        explicit OpenSegment(Opened *opened) : opened_(opened) {}
        explicit OpenSegment(File file) : own_(std::move(file)) {}

        Opened *opened_ = nullptr;  // counts this reader
        File own_;                  // else
    };

    // Both outlive the table. With `lent`, files come from there and not from the directory.
    explicit SegmentTable(const Directory &directory, LentFiles *lent = nullptr)
        : directory_(directory), lent_(lent) {}
    SegmentTable(const SegmentTable &) = delete;
    SegmentTable &operator=(const SegmentTable &) = delete;

    Result<OpenSegment> open(std::uint32_t segment);
    // Only a segment that is open already; else not_found.
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
    static constexpr std::uint64_t kBusy = 1u << 30;

    Result<File> open_file(std::uint32_t segment) const;
    bool replace(Opened &opened, std::uint32_t segment, File &file);

    const Directory &directory_;
    LentFiles *const lent_;
    Opened opened_[kOpenedCount];
};

}  // namespace cairn
