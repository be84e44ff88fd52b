// Makes values smaller, and gives them back: each value is one zstd frame of its own.
// SPDX-License-Identifier: MIT
//
// Failure: a compressor that has no memory leaves values as they are; what does not decompress to
// the size that its record says is damage.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace cairn {

// Smaller values are left alone: a record is padded to 64 bytes anyway. Larger ones too: that
// bounds the memory that compressing takes, and what a small file can make a reader allocate.
inline constexpr std::uint32_t kCompressedRawMin = 256;
inline constexpr std::uint32_t kCompressedRawMax = 16 * 1024 * 1024;
// A frame that claims more than this many times its size is none of ours.
inline constexpr std::uint32_t kCompressionRatioMax = 1024;

constexpr bool may_compress(std::uint64_t raw_size) {
    return raw_size >= kCompressedRawMin && raw_size <= kCompressedRawMax;
}

// Thread safety: externally synchronised. Holds about a megabyte, and as much as the largest value
// it was given.
class Compressor {
  public:
    Compressor() = default;
    Compressor(const Compressor &) = delete;
    Compressor &operator=(const Compressor &) = delete;
    ~Compressor();

    // The value compressed, valid until the next call; empty when it is better left as it is.
    // no_memory.
    Result<Bytes> compress(Bytes value);

  private:
    ZSTD_CCtx_s *context_ = nullptr;
    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_ = 0;
};

// Thread safety: internally synchronised, without a lock. Keeps a few contexts of 160 KB each.
class Decompressor {
  public:
    Decompressor() = default;
    Decompressor(const Decompressor &) = delete;
    Decompressor &operator=(const Decompressor &) = delete;
    ~Decompressor();

    // Fills all of `raw`. corrupt: the frame does not give exactly as many bytes; no_memory.
    Status decompress(Bytes frame, MutableBytes raw);

  private:
    std::array<std::atomic<ZSTD_DCtx_s *>, 4> spare_ = {};
};

}  // namespace cairn
