// EGL_ANGLE_program_cache_control as applications reach it: its entry points, its name among a
// display's extensions, and its attributes for displays and contexts.
// SPDX-License-Identifier: MIT
//
// GLVND calls a dispatch function for each entry point, which finds the display's vendor; when that
// is this library, GLVND asks it for the function itself. A display of a vendor beside us has no
// such function: the call fails with EGL_BAD_ACCESS.
//
// Thread safety: any thread. Failure: by EGL errors, as the extension says.
#pragma once

#include <glvnd/libeglabi.h>

#include <optional>
#include <vector>

#include "vendors.h"

namespace cairn::egl {

class DisplayCache;

// The entry point of this name, and its dispatch function; null for all other names.
void *control_function(const char *name);
void *control_dispatch(const char *name);
// To be called when GLVND has numbered an entry point.
void remember_control_index(const char *name, int index);

// Whether the driver says that the display is initialised. If not, `error` is the reason.
bool is_initialised(const Vendor &vendor, EGLDisplay display, EGLint &error);

// A display's extensions with ours among them.
const char *with_control(const char *extensions);

// The attribute list of eglCreateContext without ours.
struct ContextAttributes {
    explicit ContextAttributes(const EGLint *attributes);

    // For the driver; null where the application gave null.
    const EGLint *for_driver() const { return is_given ? list.data() : nullptr; }

    bool is_given;
    std::optional<EGLint> enabled;  // ours; the last one, if it is given more than once
    std::vector<EGLint> list;       // last: making it sets the others
};

// The attribute list of eglGetPlatformDisplay without ours.
struct DisplayAttributes {
    explicit DisplayAttributes(const EGLAttrib *attributes);

    const EGLAttrib *for_driver() const { return is_given ? list.data() : nullptr; }

    bool is_given;
    bool is_valid = true;
    std::optional<EGLint> limit;  // of the display's program cache
    std::vector<EGLAttrib> list;  // last: making it sets the others
};

}  // namespace cairn::egl
