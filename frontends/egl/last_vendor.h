// What the front end and libEGL_cairn_last.so.0 have to say to each other.
// SPDX-License-Identifier: MIT
//
// Where GLVND loads the real vendors for itself as well, it has the devices from them, each once
// and in the order that it has without us; the front end names none. But then it asks a device's
// vendor for the device's display, past us. So GLVND is given a vendor library to load after all
// others. It has no displays and no devices; when it is asked for devices, all others have been,
// and the front end takes theirs over.
//
// Thread safety: any thread. Failure: without the last vendor, displays of devices are not cached.
#pragma once

#include <glvnd/libeglabi.h>

namespace cairn::egl {

// What the last vendor library uses of the front end.
struct LastVendorHost {
    // So that the last vendor promises nothing that the others do not.
    EGLBoolean (*supports_api)(EGLenum api);
    const char *(*client_extensions)();
    void (*take_devices)();
};

// The name of the function below, for dlsym.
#define CAIRN_EGL_LAST_VENDOR "cairn_egl_last_vendor"

}  // namespace cairn::egl

// For the last vendor library. Null when the front end is not in front of anything; then there is
// nothing to be last of.
extern "C" const cairn::egl::LastVendorHost *cairn_egl_last_vendor();
