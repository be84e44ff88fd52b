// Writes a pack: the same entries in the same order give the same bytes.
// SPDX-License-Identifier: MIT
//
// Use: begin_part(), add() for each entry in ascending order of the keys, end_part(); again for
// each part; finish(). The file grows as entries are added; the writer itself keeps 24 bytes of
// each. Until finish() has returned, the file is no pack.
//
// Thread safety: externally synchronised.
// Failure: after an error the file is of no use. invalid_argument: too many parts, a key out of
// order or too long, a text or dictionary that is too large; no_memory; what writing fails with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file.h"
#include "pack/pack_format.h"

struct ZSTD_CCtx_s;
struct ZSTD_CDict_s;

namespace cairn {

// One that is as much smaller than the value as decompressing must be worth; see codec.h.
enum class PackCompression { none, zstd };

struct PackEntry {
    Bytes key;
    Bytes value;
    std::uint32_t cost_us = 0;
    bool pinned = false;
};

class PackWriter {
  public:
    // REQUIRES: `file` is empty and outlives the writer.
    explicit PackWriter(const File &file) : file_(file) {}
    ~PackWriter();
    PackWriter(const PackWriter &) = delete;
    PackWriter &operator=(const PackWriter &) = delete;

    // `dictionary` is one of zstd for the part's values, or empty.
    Status begin_part(const PackSubject &subject, PackCompression compression, Bytes dictionary);
    Status add(const PackEntry &entry);
    // `order`: keys, first used first; those without an entry are passed over.
    Status end_part(std::span<const std::string> order);
    // Writes the header, and a trailer without a signature.
    Status finish(std::string_view about);

    std::uint64_t size_bytes() const { return end_; }

  private:
    struct Placed {
        std::uint64_t hash;
        std::uint64_t offset;
        std::uint64_t size;
    };

    Status append(Bytes bytes);
    Status flush();
    Result<Bytes> compress(Bytes value, PackCodec &codec);
    Result<std::size_t> compress_with(const ZSTD_CDict_s *dictionary, Bytes value,
                                      std::vector<std::byte> &out);
    std::vector<std::byte> make_index(PackRow &row) const;
    Status write_order(std::span<const std::string> order, Bytes index);

    // Constant after construction.
    const File &file_;

    PackHeader header_;
    std::uint64_t end_ = kPackHeaderSize;  // of what was appended
    std::vector<std::byte> pending_;       // the last bytes before it, not written yet

    // Of the part that was begun last.
    std::vector<Placed> placed_;
    std::string last_key_;
    PackCompression compression_ = PackCompression::none;
    ZSTD_CCtx_s *context_ = nullptr;
    ZSTD_CDict_s *dictionary_ = nullptr;
    std::vector<std::byte> buffer_, other_buffer_, record_;
};

}  // namespace cairn
