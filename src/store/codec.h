// Compresses and decompresses values: each is one zstd frame of its own.
// SPDX-License-Identifier: MIT
//
// Failure: without memory a compressor leaves values as they are. A frame that does not decompress
// to the size in its record is damage.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct ZSTD_DDict_s;

namespace cairn {

// Smaller values stay as they are: a record is padded to 64 bytes anyway. So do larger ones: that
// bounds the memory for compressing, and what a small file can make a reader allocate.
inline constexpr std::uint32_t kCompressedRawMin = 256;
inline constexpr std::uint32_t kCompressedRawMax = 16 * 1024 * 1024;
// We make no frame that decompresses to more than this many times its size.
inline constexpr std::uint32_t kCompressionRatioMax = 1024;

constexpr bool may_compress(std::uint64_t raw_size) {
    return raw_size >= kCompressedRawMin && raw_size <= kCompressedRawMax;
}

// Thread safety: externally synchronised. Holds about a megabyte, and as much as the largest value
// so far.
class Compressor {
  public:
    Compressor() = default;
    Compressor(const Compressor &) = delete;
    Compressor &operator=(const Compressor &) = delete;
    ~Compressor();

    // The compressed value, valid until the next call; empty if it should stay as it is. no_memory.
    Result<Bytes> compress(Bytes value);

  private:
    ZSTD_CCtx_s *context_ = nullptr;
    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_ = 0;
};

// Thread safety: internally synchronised, without a lock. Keeps up to four contexts of 160 KB.
class Decompressor {
  public:
    Decompressor() = default;
    Decompressor(const Decompressor &) = delete;
    Decompressor &operator=(const Decompressor &) = delete;
    ~Decompressor();

    // Fills all of `raw`. `dictionary` may be null. corrupt: the frame does not give exactly that
    // many bytes; no_memory.
    Status decompress(Bytes frame, MutableBytes raw, const ZSTD_DDict_s *dictionary = nullptr);

  private:
    std::array<std::atomic<ZSTD_DCtx_s *>, 4> spare_ = {};
};

}  // namespace cairn
