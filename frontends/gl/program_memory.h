// Programs in memory, in front of those on disk: one for each EGLDisplay, and one for all of GLX.
// SPDX-License-Identifier: MIT
//
// Where the application can look into it, it holds all that its contexts use, as the extension
// says. Where nobody can, it holds what was linked here, and not what came from disk: the system has
// that in memory.
//
// Entries are in exact order of use, and their size counts without keys.
//
// Thread safety: internally synchronised; a call sees each other call before or after it.
// Ownership: its maker. Links in other threads may use it, so that front ends never free
// one. Failure: without memory it finds nothing and keeps nothing.
#pragma once

#include <cairn/cairn.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "key.h"
#include "mutex.h"

namespace cairn::gl {

class ProgramMemory {
  public:
    // The maximum of a new one, in bytes. Chromium gives its own 6 MiB, ANGLE nothing.
    static constexpr uint32_t kLimitDefault = 32u << 20;
    // The largest binary that is accepted, as ANGLE has it.
    static constexpr uint32_t kBinaryMax = 0x4000000;
    // Entries without bytes are below every maximum.
    static constexpr uint32_t kEntriesMax = 65536;

    enum class Use { shown, hidden };

    explicit ProgramMemory(Use use = Use::hidden);
    ~ProgramMemory();
    ProgramMemory(const ProgramMemory &) = delete;
    ProgramMemory &operator=(const ProgramMemory &) = delete;

    bool is_on() const { return limit_ != 0; }
    cairn_cache *entries() const { return entries_; }
    // Keeps the entry itself, no copy; null: nothing.
    void put(cairn_blob *entry);
    // The same for one that was read from disk.
    void put_stored(cairn_blob *entry) {
        if (use_ == Use::shown) put(entry);
    }
    void remove(const ProgramKey &key) { cairn_remove(entries_, key.data(), key.size()); }
    void clear() { cairn_clear(entries_); }

    // Sets the maximum and evicts the entries beyond the smaller of both sizes. Returns their
    // bytes.
    uint64_t set_limit(uint32_t bytes, uint32_t keep_bytes);

    // A part of the application's room on disk is for blobs that the driver keeps.
    std::atomic<bool> leaves_room_for_blobs = false;
    // The application keeps the driver's blobs itself: no program is read from disk or written.
    std::atomic<bool> is_kept_off_disk = false;

  private:
    // Constant after construction.
    const Use use_;
    // Null without memory.
    cairn_cache *entries_ = nullptr;
    // Changed with the cache's own limit, under the mutex.
    Mutex changing_limit_;
    std::atomic<uint32_t> limit_ = kLimitDefault;
};

// Empties all there are.
void clear_program_memories();

}  // namespace cairn::gl
