// The program cache of one EGLDisplay: EGL_ANGLE_program_cache_control shows and changes it, and
// links look into it before they look on disk.
// SPDX-License-Identifier: MIT
//
// Entries are in memory only, in exact order of use, and their size counts without keys. The
// functions check their own arguments as the extension's texts say;
// docs/conformance lists where texts differ. control.h checks the display itself.
//
// Thread safety: internally synchronised; a call sees each other call before or after it.
// Ownership: the cache of a display is never freed: links in other threads may use it. Failure:
// without memory it finds nothing and keeps nothing.
#pragma once

#include <EGL/egl.h>
#include <cairn/cairn.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "key.h"
#include "mutex.h"

namespace cairn::egl {

class DisplayCache {
  public:
    // The maximum of a new display's cache. Chromium gives its own 6 MiB, ANGLE nothing.
    static constexpr EGLint kLimitDefault = 32 << 20;
    // The largest binary that is accepted, as ANGLE has it.
    static constexpr EGLint kBinaryMax = 0x4000000;

    // Entries without bytes, which the first draft accepts, are below every maximum.
    static constexpr EGLint kEntriesMax = 65536;

    DisplayCache();
    ~DisplayCache() { cairn_close(entries_); }
    DisplayCache(const DisplayCache &) = delete;
    DisplayCache &operator=(const DisplayCache &) = delete;

    // For links.
    bool is_on() const { return limit_ != 0; }
    cairn_cache *entries() const { return entries_; }
    void put(const ProgramKey &key, std::string_view binary, uint64_t cost_ns);
    void remove(const ProgramKey &key) { cairn_remove(entries_, key.data(), key.size()); }

    // The display has ended. Its maximum stays.
    void clear() { cairn_clear(entries_); }
    // eglTerminate was called since the display was initialised. Links go on in contexts that are
    // current then; some drivers end the display only when these are released.
    std::atomic<bool> is_terminated = false;
    // The driver's own cache, see blob_service.h. Changed under the mutex.
    Mutex changing_blobs;
    std::atomic<bool> serves_blobs = false;   // the driver has our functions
    std::atomic<bool> has_own_blobs = false;  // the application has set its own

    // Sets the maximum and evicts the entries beyond the smaller of both sizes. Returns their
    // bytes. REQUIRES: neither is negative.
    EGLint set_limit(EGLint bytes, EGLint keep_bytes);

    // The calls of the extension. Each returns the EGL error, EGL_SUCCESS for none, and gives its
    // result only then.
    EGLint attribute(EGLenum name, EGLint &value) const;
    EGLint query(EGLint index, void *key, EGLint *key_size, void *binary, EGLint *binary_size);
    EGLint populate(const void *key, EGLint key_size, const void *binary, EGLint binary_size);
    EGLint resize(EGLint limit, EGLint mode, EGLint &bytes);

    // The calls of the first draft whose rules are different.
    EGLint draft_attribute(EGLenum name, EGLint *value) const;
    EGLint draft_query(EGLint index, void *key, EGLint *key_size, void *binary,
                       EGLint *binary_size);
    EGLint draft_populate(const void *key, EGLint key_size, const void *binary, EGLint binary_size);
    EGLint trim(EGLint limit, EGLint &freed);

  private:
    EGLint count() const;
    EGLint read(bool is_draft, EGLint index, void *key, EGLint *key_size, void *binary,
                EGLint *binary_size);

    // Constant after construction; null without memory.
    cairn_cache *entries_ = nullptr;
    // Changed with the cache's own limit, under the mutex.
    Mutex changing_limit_;
    std::atomic<EGLint> limit_ = kLimitDefault;
};

// Empties the caches of all displays.
void clear_display_caches();

// The cache of a display, made when it is first asked for.
DisplayCache &display_cache(EGLDisplay display);

}  // namespace cairn::egl
