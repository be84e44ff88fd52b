// Entries that a driver was given when the process died: docs/formats/crashes.md.
// SPDX-License-Identifier: MIT
//
// Before a driver gets an entry, the entry's key is written to a slot of a small shared mapping;
// when the driver is done, the slot is free again. Each process holds the lock of a byte, its
// session, which the kernel releases when the process ends, however it does. So a process that
// opens the cache sees which entries a dead process had in use, and drops exactly those. The
// second time that this happens to an entry, it is kept out for as long as the cache is there.
//
// Thread safety: any thread; settle() before the others. A forked child shares the session: it
// opens the file itself, see program_cache.h; the session ends when neither process is left.
// Failure: without the file, or a free slot, nothing is remembered.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "os/file.h"
#include "os/mapping.h"

namespace cairn {

inline constexpr const char *kCrashFileName = "crashes";

struct CrashCounts {
    std::uint64_t dropped = 0;   // times that an entry was dropped
    std::uint64_t kept_out = 0;  // entries that are not taken any more
};

class CrashMemory {
  public:
    static constexpr std::size_t kKeyMax = 64;  // bytes; longer keys are not remembered
    static constexpr std::uint32_t kSlots = 63;
    static constexpr std::uint32_t kNoTicket = UINT32_MAX;

    // `directory` is that of a cache.
    static Result<std::unique_ptr<CrashMemory>> open(const Directory &directory);
    // The counts in the file of a cache; zeros where there is none.
    static CrashCounts read_counts(const Directory &directory);

    // Calls `drop` with the key of each entry that a process had in use when it died. `is_last`
    // tells that the entry is kept out from now on.
    using Drop = std::function<void(Bytes key, bool is_last)>;
    void settle(const Drop &drop);

    // Notes that a driver is given the entry. kNoTicket: it is not noted.
    std::uint32_t begin_use(Bytes key);
    void end_use(std::uint32_t ticket);

    bool is_kept_out(Bytes key) const;
    // Whether the entry was dropped once or more, as far as that is remembered.
    bool was_dropped(Bytes key) const;
    CrashCounts counts() const;

  private:
    using Word = std::atomic_ref<std::uint64_t>;
    using Fingerprint = std::array<std::byte, 16>;
    struct Slot;
    struct Past;
    struct Layout;

    CrashMemory(File file, Mapping mapping)
        : file_(std::move(file)), mapping_(std::move(mapping)) {}

    Layout &layout() const;
    Status join_session();
    void condemn_all_of(std::uint64_t session);
    void condemn_those_of_the_dead();
    void settle_slot(Slot &slot, const Drop &drop);
    static Fingerprint fingerprint(Bytes key);
    Past &past_of(const Fingerprint &fingerprint) const;
    bool was_dropped_times(Bytes key, std::uint64_t times) const;
    bool note_drop(Bytes key, std::uint64_t number);

    const File file_;
    const Mapping mapping_;
    std::uint64_t session_ = 0;
    std::atomic<std::uint32_t> next_slot_ = 0;
};

}  // namespace cairn
