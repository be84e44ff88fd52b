// The programs that a history knows: a table of several levels in its file, mapped, and those of
// other generations, which are only looked at.
// SPDX-License-Identifier: MIT
//
// A record's bucket is chosen by the digest of its sources, so that all programs of the same sources
// are together. A level is added when a bucket is full in all levels and the file may be larger;
// else the oldest record of the last level's bucket goes. A place that was never used ends a search.
//
// Thread safety: any thread and any process. Two that write to one record at once leave it damaged,
// which is as if it were not there.
// Failure: what cannot be written is forgotten.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "history/format.h"
#include "os/file.h"
#include "os/mapping.h"
#include "os/per_process.h"

namespace cairn {

// A program's key, by its parts: digests.
struct ProgramParts {
    std::uint64_t sources = 0;   // of all stages
    std::uint64_t context = 0;   // what was asked for << 32 | what the driver says of it
    std::uint32_t settings = 0;  // bindings and the like
    std::uint32_t key = 0;       // of the whole
};

class ProgramTable {
  public:
    // `file` outlives the table, and is what `info` says. It is never made larger than `size_max`.
    ProgramTable(const File &file, const FileInfo &info, std::size_t links, std::uint64_t size_max)
        : file_(file), info_(info), links_(links), size_max_(size_max) {}

    // Calls `visit` with each record of these sources that is whole, until it returns false.
    using Visit = std::function<bool(const ProgramRecord &, const ProgramStateRead &)>;
    void visit(std::uint64_t sources, const Visit &visit);
    void put(const ProgramParts &program, bool is_stored, std::uint32_t minutes);

  private:
    ProgramRecord *bucket(std::size_t level, std::uint64_t sources) const;
    std::optional<FileInfo> info_now() const;
    bool extend(std::uint64_t size);
    bool map_next();
    bool grow(std::size_t levels);
    ProgramRecord *place_for(const ProgramParts &program);

    const File &file_;
    const FileInfo info_;
    const std::size_t links_;
    const std::uint64_t size_max_;

    std::atomic<std::size_t> levels_ = 0;
    std::atomic<std::uint64_t> extend_after_ns_ = 0;  // by the monotonic clock
    PerProcess<Mutex> mutex_;                         // held while a level is mapped
    std::array<Mapping, kLevelsMax> mapped_;          // each is of all up to the level's end
};

// The programs of another generation, mapped for reading, as each read would be a system call. What
// the file says of itself, and its size, are looked at once a second.
// Thread safety: externally synchronised.
class SiblingPrograms {
  public:
    SiblingPrograms(File file, std::uint64_t generation)
        : file_(std::move(file)), generation_(generation) {}

    std::uint64_t generation() const { return generation_; }
    // Of its driver, see HistoryHeader. nullopt: it is no such file, is damaged, or is no longer in
    // use.
    std::optional<std::uint64_t> driver();
    // REQUIRES: it has a driver.
    void visit(std::uint64_t sources, const ProgramTable::Visit &visit) const;
    std::optional<ContextRecord> context(std::uint64_t digest) const;

  private:
    bool look();
    bool map(std::uint64_t file_size);

    File file_;
    std::uint64_t generation_;

    std::uint64_t look_ns_ = 0;  // when to look next
    bool is_usable_ = false;
    HistoryHeader header_ = {};
    std::size_t levels_ = 0;
    Mapping mapping_;  // of all of them
};

}  // namespace cairn
