// The program cache of one EGLDisplay: what EGL_ANGLE_program_cache_control shows and changes, and
// what links look into before they look on disk.
// SPDX-License-Identifier: MIT
//
// Entries are in memory only, in exact order of use, and their bytes are counted without keys. The
// functions follow the extension's texts from the checks of their own arguments on;
// docs/conformance lists where texts differ. What concerns the display itself is in control.h.
//
// Thread safety: internally synchronised; a call sees each other call before or after it.
// Ownership: a display's is never freed: links in other threads may be in it. Failure: without
// memory nothing is found and nothing is kept.
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
    // What a display's cache may hold at first. Chromium gives its own 6 MiB, ANGLE nothing.
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
    void remove(const ProgramKey &key);

    // The display has ended. Its maximum stays.
    void clear();
    // eglTerminate was called since the display was initialised. With what is current then links go
    // on; some drivers end the display no earlier than that is released.
    std::atomic<bool> is_terminated = false;
    // Another maximum; what does not fit any more goes. REQUIRES: not negative.
    void set_limit(EGLint bytes);

    // The calls of the extension. Each returns the EGL error, EGL_SUCCESS for none, and gives its
    // result only then.
    EGLint attribute(EGLenum name, EGLint &value) const;
    EGLint query(EGLint index, void *key, EGLint *key_size, void *binary, EGLint *binary_size);
    EGLint populate(const void *key, EGLint key_size, const void *binary, EGLint binary_size);
    EGLint resize(EGLint limit, EGLint mode, EGLint &bytes);

    // Those of the first draft, where its rules are others.
    EGLint draft_attribute(EGLenum name, EGLint *value) const;
    EGLint draft_query(EGLint index, void *key, EGLint *key_size, void *binary,
                       EGLint *binary_size);
    EGLint draft_populate(const void *key, EGLint key_size, const void *binary, EGLint binary_size);
    EGLint trim(EGLint limit, EGLint &freed);

  private:
    struct Entry;

    EGLint count() const;
    EGLint read(bool is_draft, EGLint index, void *key, EGLint *key_size, void *binary,
                EGLint *binary_size);

    // Constant after construction; null without memory.
    cairn_cache *entries_ = nullptr;
    // Changed with the cache's own limit, under the mutex.
    Mutex changing_limit_;
    std::atomic<EGLint> limit_ = kLimitDefault;
};

// Empties those of all displays.
void clear_display_caches();

// The cache of a display, made when it is first asked for.
DisplayCache &display_cache(EGLDisplay display);

}  // namespace cairn::egl
