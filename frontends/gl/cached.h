// Looks up and stores entries, and counts them: any entry on disk, and programs that were linked
// before, in memory and below it on disk.
// SPDX-License-Identifier: MIT
//
// A new binary goes to both; a binary that is found on disk goes to memory, too. An entry that the
// application put into its display's memory (eglProgramCachePopulateANGLE) stays
// there. It may be anything: only a link looks at it.
//
// Thread safety: any thread; the caller has locked the program. Failure: a look-up that fails is a
// miss; a store that fails is counted, and not tried again.
#pragma once

#include <cairn/cairn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "history/outcome.h"
#include "key.h"
#include "program.h"

namespace cairn::gl {

// An entry found, or nothing.
class Found {
  public:
    // Nothing is found where there is no cache.
    Found(cairn_cache *cache, std::string_view key);
    // The entry at an index in the order of use, and its key.
    Found(cairn_cache *cache, uint64_t index, ProgramKey &key);
    ~Found() { cairn_blob_free(blob_); }
    Found(const Found &) = delete;
    Found &operator=(const Found &) = delete;

    // Empty when there is no entry. Valid as long as this object.
    std::span<const std::byte> bytes() const;
    std::string_view text() const {
        return {reinterpret_cast<const char *>(bytes().data()), bytes().size()};
    }
    // The time that it took to make the entry, in nanoseconds; 0 where nobody knows.
    uint64_t cost_ns() const { return uint64_t{cairn_blob_cost_us(blob_)} * 1000; }
    bool is_of_pack() const;
    // Null when there is no entry.
    cairn_blob *get() const { return blob_; }
    explicit operator bool() const { return blob_ != nullptr; }

  private:
    cairn_blob *blob_ = nullptr;
};

struct FreeBlob {
    void operator()(cairn_blob *blob) const { cairn_blob_free(blob); }
};
using NewEntry = std::unique_ptr<cairn_blob, FreeBlob>;
// An entry that it took so long to make. Null without memory.
NewEntry new_entry(std::string_view key, std::string_view value, uint64_t cost_ns);

// Replaces the entry of this key; a thread of the cache writes it soon. kept_out: drivers have died
// with it.
enum class Stored { yes, no, kept_out };
Stored store(cairn_cache *cache, std::string_view key, const NewEntry &entry);

// Whether there is an entry, be it usable or not.
bool has_cached(const Context &context, const ProgramKey &key);

struct Loaded {
    // A hit; or what is known of the miss: refused, damaged, or never_seen for one that was not found.
    Outcome outcome = Outcome::never_seen;
    uint64_t cost_ns = 0;  // that it took to make the binary
};
// Gives the driver a binary that it takes.
// REQUIRES: the program is locked.
Loaded load_cached(Context &context, Program &program, const ProgramKey &key);

// Takes the entry of a program that the driver has just linked. Whether it is kept on disk.
bool store_linked(Context &context, const ProgramKey &key, const Linked &made, uint64_t cost_ns);

// The right to make a program, as long as it lives.
struct ReleaseLease {
    void operator()(cairn_lease *lease) const { cairn_lease_release(lease); }
};
using Turn = std::unique_ptr<cairn_lease, ReleaseLease>;
// Null unless CAIRN_EGL_LEASE is set. While another process has the right, waits for its result, at
// most as long as that variable says; `is_late`: it did not come in that time.
Turn take_turn(const Context &context, const ProgramKey &key, bool &is_late);

}  // namespace cairn::gl
