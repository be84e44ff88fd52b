// The program cache of one EGLDisplay: EGL_ANGLE_program_cache_control shows and changes it, and
// links look into it before they look on disk.
// SPDX-License-Identifier: MIT
//
// The functions check their own arguments as the extension's texts say; docs/conformance lists
// where texts differ. control.h checks the display itself.
//
// Thread safety: as of ProgramMemory. Ownership: the cache of a display is never freed.
#pragma once

#include <EGL/egl.h>

#include <atomic>

#include "gl/program_memory.h"

namespace cairn::egl {

class DisplayCache : public gl::ProgramMemory {
  public:
    DisplayCache() : ProgramMemory(Use::shown) {}

    // eglTerminate was called since the display was initialised. Links go on in contexts that are
    // current then; some drivers end the display only when these are released.
    std::atomic<bool> is_terminated = false;
    // Held while the functions for the driver's blobs change, see blob_service.h.
    gl::Mutex changing_blobs;

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
};

// The cache of a display, made when it is first asked for.
DisplayCache &display_cache(EGLDisplay display);

}  // namespace cairn::egl
