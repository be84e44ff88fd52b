// The real EGL vendor libraries behind the front end, and the one to which each display belongs.
// SPDX-License-Identifier: MIT
//
// GLVND sees the front end as one vendor. With one real vendor behind it, calls pass straight
// through; with several, maps give the vendor of a display or device, and GL calls go to the vendor
// of the thread's current context.
//
// Thread safety: load_vendors() runs alone, from __egl_Main; Vendor objects are constant after it;
// the maps lock themselves.
// Ownership: vendors live as long as the process; their libraries are never closed.
// Failure: a vendor that cannot be loaded is left out, with a log line.
#pragma once

#include <glvnd/libeglabi.h>

#include <span>

#include "egl_functions.inc"
#include "gl/vendor_library.h"

namespace cairn::egl {

// A vendor's EGL functions; null where it has none.
struct EglFunctions {
#define X(name, type, ...) type name = nullptr;
    EGL_DISPLAY_FUNCTIONS(X)
    EGL_OTHER_FUNCTIONS(X)
#undef X
};

struct Vendor : gl::Driver {
    __EGLapiImports imports = {};
    EglFunctions egl;

    bool resolve();
};

using Host = gl::Host<__EGLapiExports, __EGLvendorInfo>;

// Loads the vendors that the settings or the system's manifests name, except Cairn's own libraries.
// False when there is none, or when they can do without us.
bool load_vendors(const Host &host);
bool are_vendors_loaded();
// Whether GLVND has loaded them for itself as well: it asks us first, and then each of them.
bool are_vendors_in_glvnd();
// Whether any vendor supports the client API.
EGLBoolean supports_api(EGLenum api);
const Host &host();
std::span<Vendor *const> vendors();
// The function of the first vendor that has one of this name, or null.
void *vendor_function(const char *name);
inline bool has_several_vendors() {
    return vendors().size() > 1;
}

// The vendor that made the display; for a display that no vendor made, the first one, which will
// refuse it.
Vendor &vendor_of_display(EGLDisplay display);
void remember_display(EGLDisplay display, Vendor &vendor);
// The vendor that announced the device, or null.
Vendor *vendor_of_device(EGLDeviceEXT device);
void remember_device(EGLDeviceEXT device, Vendor &vendor);
// The vendor whose context is current on this thread, or null.
Vendor *current_vendor();

// The vendor that the thread's last EGL call went to, for eglGetError.
Vendor &last_vendor();
// The vendor that made the display, which the thread's call goes to now.
Vendor &vendor_to_call(EGLDisplay display);
// An error of ours, for when GLVND asks its vendor for one; it holds until the thread's next call.
void set_own_error(EGLint error);
EGLint take_own_error();
void set_last_vendor(Vendor &vendor);

}  // namespace cairn::egl
