// SPDX-License-Identifier: MIT
#include "store/codec.h"

#include <zstd.h>

#include <new>

// libzstd.a looks for these four hooks in the whole process, where another zstd of another version
// may define them. The linker finds ours first; they do nothing.
#define CAIRN_HIDDEN __attribute__((visibility("hidden")))
extern "C" {
CAIRN_HIDDEN unsigned long long ZSTD_trace_compress_begin(const void *) {
    return 0;
}
CAIRN_HIDDEN void ZSTD_trace_compress_end(unsigned long long, const void *) {}
CAIRN_HIDDEN unsigned long long ZSTD_trace_decompress_begin(const void *) {
    return 0;
}
CAIRN_HIDDEN void ZSTD_trace_decompress_end(unsigned long long, const void *) {}
}

namespace cairn {
namespace {

// On program binaries, higher levels take five times as long for 5 % (docs/decisions/005).
constexpr int kLevel = 3;

}  // namespace

Compressor::~Compressor() {
    ZSTD_freeCCtx(context_);
}

Result<Bytes> Compressor::compress(Bytes value) {
    if (!may_compress(value.size())) return Bytes();
    if (context_ == nullptr) context_ = ZSTD_createCCtx();
    if (context_ == nullptr) return Error::no_memory;
    // Saving less than an eighth is not worth decompressing.
    const std::size_t wanted = value.size() - value.size() / 8;
    if (capacity_ < wanted) {
        buffer_.reset(new (std::nothrow) std::byte[wanted]);
        capacity_ = buffer_ != nullptr ? wanted : 0;
        if (buffer_ == nullptr) return Error::no_memory;
    }
    const std::size_t size =
        ZSTD_compressCCtx(context_, buffer_.get(), wanted, value.data(), value.size(), kLevel);
    if (ZSTD_isError(size) != 0 || value.size() / size > kCompressionRatioMax - 1) return Bytes();
    return Bytes(buffer_.get(), size);
}

Decompressor::~Decompressor() {
    for (auto &spare : spare_) ZSTD_freeDCtx(spare.load());
}

Status Decompressor::decompress(Bytes frame, MutableBytes raw, const ZSTD_DDict *dictionary) {
    ZSTD_DCtx *context = nullptr;
    for (auto &spare : spare_) {
        if (context == nullptr) context = spare.exchange(nullptr, std::memory_order_acquire);
    }
    if (context == nullptr) context = ZSTD_createDCtx();
    if (context == nullptr) return Error::no_memory;
    const std::size_t size = ZSTD_decompress_usingDDict(context, raw.data(), raw.size(),
                                                        frame.data(), frame.size(), dictionary);
    for (auto &spare : spare_) {
        ZSTD_DCtx *none = nullptr;
        if (context != nullptr &&
            spare.compare_exchange_strong(none, context, std::memory_order_release)) {
            context = nullptr;
        }
    }
    ZSTD_freeDCtx(context);
    return size == raw.size() ? Status() : Status(Error::corrupt);
}

}  // namespace cairn
