// Memory that the kernel maps: shared views of files, and memory that a forked child finds zeroed.
// SPDX-License-Identifier: MIT
//
// Ownership: unmapped when destroyed. A mapping keeps its file's contents alive after the file is
// deleted.
// Failure: no_memory, denied. Reading behind the end of a file that was cut raises SIGBUS: map only
// files that are never cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"
#include "os/file.h"

namespace cairn {

class Mapping {
  public:
    Mapping() = default;
    Mapping(Mapping &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Mapping &operator=(Mapping &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Mapping();

    // Shares bytes [offset, offset + size) of a file; offset is a multiple of the page size.
    static Result<Mapping> file(const File &file, Access access, std::uint64_t offset,
                                std::uint64_t size);
    // Private zeroed memory, which a forked child finds zeroed again instead of copied.
    static Result<Mapping> wiped_on_fork(std::size_t size);

    // Leaves the memory mapped for the rest of the process's life.
    void release() { data_ = nullptr; }

    std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }
    // Tells the kernel that accesses come in no order: it then reads single pages from disk, not
    // windows of many.
    void expect_random_access() const;
    // Whether the page of an address in a mapping is in the system's memory, so that to touch it
    // waits for no disk (true, too, where the file is not ours and the kernel does not say).
    static bool is_cached(const void *address);
    // Starts writing changed pages back and waits for the disk.
    Status sync() const;

  private:
    Mapping(std::byte *data, std::size_t size) : data_(data), size_(size) {}

    std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace cairn
