// A driver's own blobs, kept in a cache of ours: the functions of EGL_ANDROID_blob_cache and
// GL_ANGLE_blob_cache.
// SPDX-License-Identifier: MIT
//
// Drivers ask for the size of a blob first and for its bytes then. The first call holds the blob
// that it finds for the second one of the same thread, so that the two agree. While the kind
// CACHE_FOR_DRIVER is switched off, the driver finds nothing and keeps nothing; when somebody
// clears the kind, the next call clears the cache.
//
// Thread safety: any thread.
// Failure: what cannot be done is a miss, or is not kept. No exception leaves a call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cache/cache.h"
#include "cache/control_file.h"

namespace cairn {

class DriverBlobs {
  public:
    // `cache` outlives it.
    DriverBlobs(Cache &cache, Access access) : cache_(cache), access_(access) {}
    ~DriverBlobs() { delete switch_.load(); }
    DriverBlobs(const DriverBlobs &) = delete;
    DriverBlobs &operator=(const DriverBlobs &) = delete;

    // Reads the environment where nobody has called this before; set() and get() do it, too.
    void prepare() { (void)find_switch(); }
    // Sizes that no driver could mean are passed over.
    void set(const void *key, std::ptrdiff_t key_size, const void *value,
             std::ptrdiff_t value_size);
    // The value's size; 0: there is none, or it is larger than `value_size`. Without a buffer, only
    // the size is told.
    std::ptrdiff_t get(const void *key, std::ptrdiff_t key_size, void *value,
                       std::ptrdiff_t value_size);

  private:
    struct Switch {
        ControlFile file;
        // Those who clear the kind clear this cache, for it is one of those below the same root.
        bool is_cleared_by_others;
        std::atomic<std::uint64_t> clears_seen;
    };

    Switch *make_switch() const;
    Switch *find_switch();
    bool is_on();
    void hold(BlobRef blob) const;
    BlobRef take_held(Bytes key) const;

    Cache &cache_;
    const Access access_;
    std::atomic<Switch *> switch_ = nullptr;  // made when the cache first serves a driver
};

// EGL displays whose driver keeps its blobs in a cache of ours, by EGL_ANDROID_blob_cache. The
// extension gives its functions no argument of ours. So there is a pair of functions for each of a
// fixed number of places, and a place belongs to one display for ever: the driver never gives the
// functions back.
namespace blob_displays {

inline constexpr std::size_t kDisplaysMax = 16;

using SetBlob = void (*)(const void *, std::ptrdiff_t, const void *, std::ptrdiff_t);
using GetBlob = std::ptrdiff_t (*)(const void *, std::ptrdiff_t, void *, std::ptrdiff_t);
using Function = void (*)();
using GetProcAddress = Function (*)(const char *name);

// unsupported: the display does not offer the extension; busy: its functions have been set before;
// full: there are kDisplaysMax displays.
Status attach(void *display, DriverBlobs &blobs, GetProcAddress get_proc_address);
// Waits for calls in progress. False: the display is not attached.
bool detach(void *display);
// The functions given get what the driver asks, in place of the cache, until the display is
// detached; with nulls, the cache does again. False: it is not attached.
bool redirect(void *display, SetBlob set, GetBlob get);

}  // namespace blob_displays
}  // namespace cairn
