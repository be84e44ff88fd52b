// What a cairn_cache handle is: a store on disk, maybe behind a broker, a cache in memory, or a
// program cache that has both, and how errors become result codes.
// SPDX-License-Identifier: MIT
//
// Thread safety: as the store's; close is the last call.
#pragma once

#include <cairn/cairn.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/guarded.h"
#include "base/result.h"
#include "cache/broker_client.h"
#include "cache/control_file.h"
#include "cache/memory_cache.h"
#include "cache/program_cache.h"
#include "store/store.h"

namespace cairn {

// What a cache that holds a driver's blobs goes by: the kind CACHE_FOR_DRIVER of cairn_control.h.
struct BlobSwitch {
    ControlFile file;
    // Whoever clears the kind clears this cache, for it is one of those below the same root.
    bool is_cleared_by_others;
    std::atomic<std::uint64_t> clears_seen;
};

}  // namespace cairn

struct cairn_cache {
    ~cairn_cache() { delete blob_switch.load(); }

    // With a store behind a broker: what lends it its files, and so outlives it.
    std::unique_ptr<cairn::BrokerClient> broker;
    // Exactly one is set; constant after open.
    std::unique_ptr<cairn::Store> store;
    std::unique_ptr<cairn::MemoryCache> memory;
    std::unique_ptr<cairn::ProgramCache> programs;
    bool read_only = false;    // asked for at open; a directory may also turn out to be
    std::uint64_t serial = 0;  // no other handle of the process ever has it, as it may the address
    // Made when the cache first serves a driver; constant then.
    std::atomic<cairn::BlobSwitch *> blob_switch = nullptr;
};

namespace cairn {

// The root that an option names; `given` may be null.
int find_root(const char *given, std::string &root);

int result_code(Error error);
// The result of a call's body. Here the exceptions of the standard library end.
template <typename Body>
int result_of(Body body) {
    return guarded(body, int{CAIRN_ERROR_NO_MEMORY});
}
// A handle with nothing in it yet; null when memory cannot be had.
std::unique_ptr<cairn_cache> make_handle();
// What a memory_bytes of the public options comes to, in a cache of that limit.
std::uint64_t memory_level_bytes(std::uint64_t given, std::uint64_t limit_bytes);
inline int result_code(Status status) {
    return status.ok() ? CAIRN_OK : result_code(status.error());
}

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

}  // namespace cairn
