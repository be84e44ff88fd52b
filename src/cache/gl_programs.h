// GL programs kept in a cache: their binaries are taken from the driver and given back to it.
// SPDX-License-Identifier: MIT
//
// find(), load() and store() need a current context. All contexts used with one object are of one
// driver, device and version. An entry of the cache is the binary's format, in four bytes, and the
// binary.
//
// Thread safety: any thread.
// Failure: unsupported: there is no current context, or a function of GL's core is missing; else as
// the cache. No exception leaves load() or store().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cache/cache.h"
#include "cache/program_key.h"

namespace cairn {

class GlPrograms {
  public:
    using GetProcAddress = void (*(*)(const char *name))();
    // From a load that missed to the store that follows it.
    struct Link {
        std::array<std::byte, 32> key;
        std::uint64_t begin_ns;
    };
    struct Counts {
        std::atomic<std::uint64_t> loaded = 0, missed = 0, refused = 0, stored = 0;
        std::atomic<std::uint64_t> store_failed = 0;  // errors, and entries that were kept out
    };

    static Result<std::unique_ptr<GlPrograms>> find(GetProcAddress get);
    ~GlPrograms();

    // Else load() finds nothing, and store() is unsupported.
    bool has_binaries() const;
    // Of the current context: driver, device, version, profile and flags.
    std::string identity() const;
    // For the inputs of a program, each with tag 1.
    static ProgramKey new_key() { return ProgramKey("cairn-gl/1"); }
    // Whether the program is linked now, by the entry of that key. If it is not, the driver is told
    // that its binary will be wanted. An entry that the driver refuses is removed. Without program
    // binaries `link` stays as it is.
    Result<bool> load(Cache &cache, unsigned program, ProgramKey key, Link &link);
    // nullopt: the program is not linked, or the driver gives no binary of it. invalid_argument:
    // `link` is all zero.
    Result<std::optional<PutOutcome>> store(Cache &cache, unsigned program, const Link &link);

    const Counts &counts() const { return counts_; }

  private:
    struct Driver;

    explicit GlPrograms(std::unique_ptr<const Driver> driver);

    const std::unique_ptr<const Driver> driver_;
    Counts counts_;
};

}  // namespace cairn
