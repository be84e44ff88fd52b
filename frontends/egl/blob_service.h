// Keeps a driver's own cache (EGL_ANDROID_blob_cache) in a cache of ours, unless the application
// keeps it itself.
// SPDX-License-Identifier: MIT
//
// EGL lets the functions of a display be set once. We set ours when the display is initialised, so
// that they miss no call of the driver; if an application sets its own later, ours pass the calls
// on.
//
// Thread safety: any thread. Failure: the driver then keeps nothing, as without the front end.
#pragma once

#include <glvnd/libeglabi.h>

#include "vendors.h"

namespace cairn::egl {

// To be called when the driver has initialised the display, and when it has terminated it.
void serve_blobs(const Vendor &vendor, EGLDisplay display);
void stop_serving_blobs(EGLDisplay display);

// The application sets its functions. If the driver has none of ours, it gets them. Sets EGL's
// error.
void set_own_blobs(const Vendor &vendor, EGLDisplay display, EGLSetBlobFuncANDROID set,
                   EGLGetBlobFuncANDROID get);

}  // namespace cairn::egl
