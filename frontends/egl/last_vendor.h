// The interface between the front end and libEGL_cairn_last.so.0.
// SPDX-License-Identifier: MIT
//
// Where GLVND loads the real vendors for itself as well, it gets the devices from them, each once
// and in the order that it has without us; the front end names none. But then GLVND asks a device's
// vendor, and not us, for the device's display. So we give GLVND a vendor library to load after all
// others, without displays and devices. When GLVND asks it for devices, it has asked all others,
// and the front end takes their devices over.
//
// Thread safety: any thread. Failure: without the last vendor, displays of devices are not cached.
#pragma once

#include <glvnd/libeglabi.h>

namespace cairn::egl {

// The functions of the front end that the last vendor library uses.
struct LastVendorHost {
    // The last vendor promises the same as the others.
    EGLBoolean (*supports_api)(EGLenum api);
    const char *(*client_extensions)();
    void (*take_devices)();
};

// The name of the function below, for dlsym.
#define CAIRN_EGL_LAST_VENDOR "cairn_egl_last_vendor"

}  // namespace cairn::egl

// For the last vendor library. Null when the front end has no vendors behind it.
extern "C" const cairn::egl::LastVendorHost *cairn_egl_last_vendor();
