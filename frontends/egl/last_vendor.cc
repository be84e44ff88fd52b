// SPDX-License-Identifier: MIT
// The vendor that GLVND loads after all others, from a library of its own (last/main.cc).
//
// Where GLVND loads the real vendors for itself as well, it gets the devices from them, each once
// and in the order that it has without us; the front end names none. But then GLVND asks a device's
// vendor, and not us, for the device's display. When GLVND asks the last vendor for devices, it has
// asked all others, and the front end takes their devices over. The last vendor has no displays, so
// it only gets the calls that GLVND makes to all vendors.
#include <string_view>

#include "egl_hooks.h"

namespace cairn::egl {
namespace {

// Tells GLVND that all devices are ours, so that it asks us for their displays.
void take_devices() {
    // The function came with version 0.2.
    if (EGL_VENDOR_ABI_GET_MINOR_VERSION(host().version) < 2 ||
        host().exports->setVendorForDevice == nullptr) {
        return;
    }
    for (const EGLDeviceEXT device : all_devices()) {
        host().exports->setVendorForDevice(device, host().self);
    }
}

EGLBoolean query_devices(EGLint, EGLDeviceEXT *, EGLint *count) {
    gl::attempt(take_devices);
    if (count != nullptr) {
        *count = 0;
    }
    return EGL_TRUE;
}

const char *query_string(EGLDisplay display, EGLint name) {
    return display == EGL_NO_DISPLAY && name == EGL_EXTENSIONS ? client_extensions() : nullptr;
}

// GLVND calls it when no vendor has a display, and keeps the first error of all vendors.
EGLint get_error() {
    return EGL_BAD_PARAMETER;
}

EGLBoolean release_thread() {
    return EGL_TRUE;
}

// Stands for all other functions: they take a display, and so nobody calls them.
uintptr_t nothing() {
    return 0;
}

// GLVND needs EGL's own functions. It calls those of extensions only where a vendor has them.
bool is_egl_function(std::string_view name) {
    return name.starts_with("egl") && !name.ends_with("KHR") && !name.ends_with("EXT");
}

void *get_proc_address(const char *name) {
    static const gl::NamedFunction kFunctions[] = {
        EGL_ENTRY("eglGetError", get_error),
        EGL_ENTRY("eglQueryDevicesEXT", query_devices),
        EGL_ENTRY("eglQueryString", query_string),
        EGL_ENTRY("eglReleaseThread", release_thread),
    };
    if (void *function = gl::function_of_name(kFunctions, name)) return function;
    return is_egl_function(name) ? reinterpret_cast<void *>(&nothing) : nullptr;
}

}  // namespace
}  // namespace cairn::egl

extern "C" __attribute__((visibility("default"))) EGLBoolean cairn_egl_last_vendor(
    uint32_t, const __EGLapiExports *, __EGLvendorInfo *, __EGLapiImports *imports) {
    using namespace cairn::egl;
    if (!are_vendors_loaded()) return EGL_FALSE;
    imports->getPlatformDisplay = [](EGLenum, void *, const EGLAttrib *) -> EGLDisplay {
        return EGL_NO_DISPLAY;
    };
    // It promises the same as the others.
    imports->getSupportsAPI = supports_api;
    imports->getProcAddress = get_proc_address;
    imports->getDispatchAddress = [](const char *) -> void * { return nullptr; };
    imports->setDispatchIndex = [](const char *, int) {};
    return EGL_TRUE;
}
