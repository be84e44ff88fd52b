// The segment files that this process has open for reading.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods may be called from any thread; reading takes no lock. While a Reader
// exists its descriptor stays open.
// Ownership: owns the descriptors; they are closed when their segment is deleted (forget_deleted)
// or with the table.
// Failure: opening a segment fails with not_found when it was deleted, io and others as the kernel
// says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "store/lent_files.h"
#include "store/slot.h"

namespace cairn {

class SegmentTable {
  public:
    // Keeps a segment's descriptor open, for reading.
    class Reader {
      public:
        Reader(Reader &&other) noexcept
            : state_(std::exchange(other.state_, nullptr)),
              file_(std::move(other.file_)),
              fd_(other.fd_),
              waits_(other.waits_) {}
        Reader(const Reader &) = delete;
        ~Reader() {
            if (state_ != nullptr) state_->fetch_sub(1, std::memory_order_release);
        }
        // As File::read_at, or File::read_cached_at, where it is from find_open().
        Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) const;
        Result<std::size_t> read_at(std::uint64_t offset, MutableBytes first,
                                    MutableBytes second) const;
        Result<FileInfo> info() const;

      private:
        friend class SegmentTable;
        Reader(std::atomic<std::uint64_t> *state, int fd) : state_(state), fd_(fd) {}
        explicit Reader(File file) : file_(std::move(file)), fd_(file_.fd()) {}

        std::atomic<std::uint64_t> *state_ =
            nullptr;  // counted here, unless the descriptor is our own
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

    Result<Reader> open(std::uint32_t segment);
    // One that is open already, for reading what is in the system's memory; not_found: it is not.
    Result<Reader> find_open(std::uint32_t segment);
    // The same as open(), past a descriptor of a file that is no longer the one of that name.
    Result<Reader> reopen(std::uint32_t segment);
    // Closes descriptors of deleted files that are not being read.
    void forget_deleted();

  private:
    // A cache has 64 segments and one for each writer; where two of them have one place here, one
    // is opened for each read. Few, because their memory is touched by each open.
    static constexpr std::size_t kEntryCount = 128;

    // state: segment number + 1 in the upper half (0: unused), readers in the lower half. A state
    // of kBusy readers is being changed. fd is constant while the upper half is.
    struct Entry {
        std::atomic<std::uint64_t> state = 0;
        int fd = -1;
    };
    static constexpr std::uint64_t kBusy = 1u << 30;

    Result<File> open_file(std::uint32_t segment) const;
    bool replace(Entry &entry, std::uint64_t seen, std::uint32_t segment, File &file);

    const Directory &directory_;
    LentFiles *const lent_;
    Entry entries_[kEntryCount];
};

}  // namespace cairn
