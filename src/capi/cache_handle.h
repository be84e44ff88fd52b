// The cairn_cache handle, and how arguments and results cross the C interface.
// SPDX-License-Identifier: MIT
//
// Thread safety: as the cache's; close is the last call.
#pragma once

#include <cairn/cairn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/guarded.h"
#include "base/result.h"
#include "cache/cache.h"
#include "cache/driver_blobs.h"

struct cairn_cache {
    cairn_cache(std::unique_ptr<cairn::Cache> opened, cairn::Access asked)
        : cache(std::move(opened)), access(asked), blobs(*cache, asked) {}

    std::atomic<bool> is_watched = false;
    cairn::QueueWatcher watcher = {};  // before the cache, which tells it to its end
    const std::unique_ptr<cairn::Cache> cache;
    const cairn::Access access;  // asked for at open; a directory may also turn out to be read-only
    cairn::DriverBlobs blobs;
};

namespace cairn {

// The root that an option names; `given` may be null.
int find_root(const char *given, std::string &root);

int result_code(Error error);
int result_code(PutOutcome outcome);
inline int result_code(Status status) {
    return status.ok() ? CAIRN_OK : result_code(status.error());
}
inline int result_code(int result) {
    return result;
}
// Of a look-up or a removal.
inline int result_code(const Result<bool> &found) {
    if (!found.ok()) return result_code(found.error());
    return found.value() ? CAIRN_OK : CAIRN_MISS;
}
// Writes a number where the caller wants it.
int result_code(const Result<std::uint64_t> &number, std::uint64_t *written);
// The result of a call's body. Here the exceptions of the standard library end.
template <typename Body>
int result_of(Body body) {
    return guarded(body, int{CAIRN_ERROR_NO_MEMORY});
}
// A call on a handle: whether the other arguments are valid, and what to do with the cache.
template <typename Body>
int call(cairn_cache *handle, bool is_valid, Body body) {
    if (handle == nullptr || !is_valid) return CAIRN_ERROR_INVALID_ARGUMENT;
    return guarded([&]() -> int { return result_code(body(*handle->cache)); },
                   int{CAIRN_ERROR_NO_MEMORY});
}
// The same for one that changes entries.
template <typename Body>
int change(cairn_cache *handle, bool is_valid, Body body) {
    return call(handle, is_valid, [&](Cache &cache) -> int {
        if (handle->access == Access::read_only) return CAIRN_ERROR_READ_ONLY;
        return result_code(body(cache));
    });
}
// `*handle` has the cache that was opened.
template <typename Opened>
int make_handle(Result<std::unique_ptr<Opened>> opened, Access access, cairn_cache **handle) {
    if (!opened.ok()) return result_code(opened.error());
    *handle = new cairn_cache(std::move(opened.value()), access);
    return CAIRN_OK;
}
// As the flags of an open say.
inline Access access_of(std::uint32_t flags) {
    return (flags & CAIRN_OPEN_READ_ONLY) != 0 ? Access::read_only : Access::read_write;
}
// The value of an option for which 0 means the default.
inline std::uint64_t or_default(std::uint64_t given, std::uint64_t otherwise) {
    return given != 0 ? given : otherwise;
}
// The value of an option for which 0 means the default and CAIRN_NONE none.
inline std::uint64_t bytes_or(std::uint64_t given, std::uint64_t otherwise) {
    return given == CAIRN_NONE ? 0 : or_default(given, otherwise);
}
// The same of a memory_bytes, in a cache of that limit.
inline std::uint64_t memory_bytes_of(std::uint64_t given, std::uint64_t limit_bytes) {
    return bytes_or(given, std::min<std::uint64_t>(CAIRN_MEMORY_BYTES_DEFAULT, limit_bytes));
}
// Writes a path, terminated.
int write_text(const std::optional<std::string> &text, char *buffer, std::size_t capacity);

inline Bytes bytes(const void *data, std::size_t size) {
    return {static_cast<const std::byte *>(data), size};
}

inline bool valid_key(const void *key, std::size_t size) {
    return key != nullptr && size >= 1 && size <= CAIRN_KEY_SIZE_MAX;
}

// A blob handed to a caller is a Blob with one reference.
inline cairn_blob *to_handle(BlobRef blob) {
    return reinterpret_cast<cairn_blob *>(blob.release());
}
inline Blob *from_handle(cairn_blob *blob) {
    return reinterpret_cast<Blob *>(blob);
}
inline const Blob *from_handle(const cairn_blob *blob) {
    return reinterpret_cast<const Blob *>(blob);
}
// Of a look-up. `*blob` is set where it is found.
inline int result_code(Result<BlobRef> found, cairn_blob **blob) {
    if (!found.ok()) return result_code(found.error());
    if (!*found) return CAIRN_MISS;
    *blob = to_handle(std::move(*found));
    return CAIRN_OK;
}

}  // namespace cairn
