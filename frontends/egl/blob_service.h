// A driver's own cache (EGL_ANDROID_blob_cache), kept in a cache of ours where the application does
// not keep it itself.
// SPDX-License-Identifier: MIT
//
// EGL lets the functions of a display be set once. Ours are set when the display is initialised, so
// that nothing is missed; an application that sets its own later gets the driver's calls through
// them.
//
// Thread safety: any thread. Failure: the driver then keeps nothing, as without the front end.
#pragma once

#include <glvnd/libeglabi.h>

#include "vendors.h"

namespace cairn::egl {

// The driver has initialised, terminated the display.
void serve_blobs(const Vendor &vendor, EGLDisplay display);
void stop_serving_blobs(EGLDisplay display);

// The application sets its functions; tells the driver where it has none of ours. Sets EGL's error.
void set_own_blobs(const Vendor &vendor, EGLDisplay display, EGLSetBlobFuncANDROID set,
                   EGLGetBlobFuncANDROID get);
// Whether the driver of this display keeps what it makes with us.
bool serves_blobs(EGLDisplay display);
// Whether the application keeps what the driver of this display makes.
bool has_own_blobs(EGLDisplay display);

}  // namespace cairn::egl
