// What a new pack is to have, and how it is written: for the commands that make packs.
// SPDX-License-Identifier: MIT
//
// A plan has keys and sizes; values stay where they are until they are written, one at a time. The same
// plan gives the same bytes.
//
// Thread safety: used by main only.
// Failure: a Failure; then nothing is left of the pack, and an older one stays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/start_order.h"
#include "command.h"
#include "pack/files.h"
#include "pack/pack_writer.h"
#include "signature.h"

namespace cairn::cli {

struct PlannedEntry {
    std::string_view key;           // of the part's memory
    std::uint64_t stored_size = 0;  // of the value, where it is now
    std::uint32_t cost_us = 0;
    bool pinned = false;
    std::uint32_t source = 0, slot = 0;  // for the part's `read`
};

struct PlannedPart {
    PackSubject subject() const { return {kind, identifier, version, generation}; }
    // Of an application, for any driver.
    bool is_recipes() const;
    // A copy of a key, for an entry.
    std::string_view keep(std::string_view key) const;

    PackKind kind = PackKind::entries;
    std::string identifier;
    std::uint64_t version = 0;
    std::string generation;
    std::vector<PlannedEntry> entries;  // in ascending order of the keys, each once
    StartOrder order;
    // Calls `use` with an entry's value. False: it is gone, or damaged.
    using Use = std::function<void(Bytes value)>;
    std::function<bool(const PlannedEntry &entry, const Use &use)> read;
    // Of the keys; parts that were split share it. Strings of their own would lie between the values that
    // are read with them, and keep those places from being used again.
    std::shared_ptr<std::pmr::monotonic_buffer_resource> memory =
        std::make_shared<std::pmr::monotonic_buffer_resource>();
};

// About what an entry takes in a pack with its key and its place in the index, if its value stays as it is
// stored now.
std::uint64_t size_in_pack(const PlannedEntry &entry);

// The part in pieces, in the order of its keys, so that each makes a pack of its own. The entries of a piece
// take `bytes_max` at most by size_in_pack(); one that takes more is alone. Each piece has the whole order:
// a writer passes over what has no entry there. A part without entries has no pieces.
std::vector<PlannedPart> split(PlannedPart part, std::uint64_t bytes_max);

// What the commands that make packs are told alike.
struct PackOptions {
    std::string out;
    std::optional<std::string> about;
    std::string max_bytes;
    std::string sign;  // the name of a key; empty: it is not signed
    bool no_compress = false;
    // About how much memory writing may take, besides 100 bytes for each entry of a part: 32 MiB or more.
    // Entries whose values have more than a 32nd of it are left out. Nullopt: as much as it takes.
    std::optional<std::uint64_t> memory_max;
};
void add_pack_options(Arguments &take, PackOptions &options);

// Leaves those entries that save most time for their bytes, as far as `--max-bytes` allows, and the parts
// that have some. Recipes stay whole, whatever they take: without its sources a program cannot be made.
// Entries of them that are not for packs go.
void keep_the_best(std::vector<PlannedPart> &parts, const PackOptions &options);

// It shows its progress only on a terminal.
class PackMaker {
  public:
    // Looks for the key with which to sign, and at what else may be wrong with the options.
    explicit PackMaker(const PackOptions &options);

    // Makes the file. No more than kPackPartsMax parts can be written to it.
    void begin(std::size_t parts, NewFile::Reader reader = NewFile::Reader::as_the_umask_says);
    // Returns how many of its entries could be read, and are not too large.
    std::uint64_t write(const PlannedPart &part);
    // Signs it, and gives it its name. Returns "OUT.pack (12 KiB), signed".
    std::string finish(const std::string &about);

  private:
    bool is_too_large(std::uint64_t value_size) const;
    std::string dictionary_of(const PlannedPart &part) const;
    void sign();

    const PackOptions options_;
    const std::string what_;
    std::optional<SecretKey> key_;
    std::optional<NewFile> file_;
    std::optional<PackWriter> writer_;
};

}  // namespace cairn::cli
