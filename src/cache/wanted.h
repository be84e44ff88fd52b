// What the fleet has and a cache lacks: hashes of keys, in a file that the user's agent writes.
// SPDX-License-Identifier: MIT
//
// The layout is in docs/formats/wanted.md. A process that misses an entry asks the agent for it only
// where the file lists the entry, so that other misses cost a search in memory.
//
// Thread safety: pure functions, and a class that is externally synchronised.
// Failure: a file that is not whole, not the user's own or too large lists nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "os/file.h"
#include "pack/pack_format.h"

namespace cairn {

inline constexpr std::size_t kWantedFileMax = 4u << 20;
inline constexpr std::size_t kWantedMax = (kWantedFileMax - 24) / 8;

// REQUIRES: ascending, each once, kWantedMax at most.
std::vector<std::byte> encode_wanted(std::span<const std::uint64_t> hashes);
// nullopt: encode_wanted() gives no such bytes.
std::optional<std::vector<std::uint64_t>> decode_wanted(Bytes file);

// Of the cache whose part has this identity.
std::string wanted_path(const std::string &root, const PackIdentity &identity);

// The file as a process sees it: it looks once in a second whether the agent has replaced it.
class Wanted {
  public:
    // Reads the file where it is a new one. `now_ns` is a clock that only goes forward.
    void refresh(const std::string &path, std::uint64_t now_ns);
    bool contains(std::uint64_t hash) const;

  private:
    std::optional<std::uint64_t> looked_ns_;
    std::uint64_t inode_ = 0, modified_ns_ = 0;  // of the file that was read
    std::vector<std::uint64_t> hashes_;
};

}  // namespace cairn
