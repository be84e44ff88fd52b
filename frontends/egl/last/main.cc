// SPDX-License-Identifier: MIT
// The vendor library that GLVND loads after all others; see last_vendor.h. It has no displays, so
// it only gets the calls that GLVND makes to all vendors.
#include <dlfcn.h>

#include <string_view>

#include "hook.h"
#include "last_vendor.h"

namespace {

const cairn::egl::LastVendorHost *g_host = nullptr;

const cairn::egl::LastVendorHost *find_host() {
    // GLVND has loaded it already, or does not use it.
    void *front_end = dlopen(CAIRN_EGL_FRONT_END, RTLD_LAZY | RTLD_NOLOAD);
    if (front_end == nullptr) {
        return nullptr;
    }
    const auto function =
        reinterpret_cast<decltype(&cairn_egl_last_vendor)>(dlsym(front_end, CAIRN_EGL_LAST_VENDOR));
    return function == nullptr ? nullptr : function();
}

EGLBoolean query_devices(EGLint, EGLDeviceEXT *, EGLint *count) {
    g_host->take_devices();
    if (count != nullptr) {
        *count = 0;
    }
    return EGL_TRUE;
}

const char *query_string(EGLDisplay display, EGLint name) {
    return display == EGL_NO_DISPLAY && name == EGL_EXTENSIONS ? g_host->client_extensions()
                                                               : nullptr;
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
    static const cairn::egl::NamedFunction kFunctions[] = {
        {"eglGetError", reinterpret_cast<void *>(&get_error)},
        {"eglQueryDevicesEXT", reinterpret_cast<void *>(&query_devices)},
        {"eglQueryString", reinterpret_cast<void *>(&query_string)},
        {"eglReleaseThread", reinterpret_cast<void *>(&release_thread)},
    };
    if (void *function = cairn::egl::function_of_name(kFunctions, name)) {
        return function;
    }
    return is_egl_function(name) ? reinterpret_cast<void *>(&nothing) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(uint32_t version,
                                                                        const __EGLapiExports *,
                                                                        __EGLvendorInfo *,
                                                                        __EGLapiImports *imports) {
    if (EGL_VENDOR_ABI_GET_MAJOR_VERSION(version) != EGL_VENDOR_ABI_MAJOR_VERSION) {
        return EGL_FALSE;
    }
    g_host = find_host();
    if (g_host == nullptr) {
        return EGL_FALSE;
    }
    imports->getPlatformDisplay = [](EGLenum, void *, const EGLAttrib *) -> EGLDisplay {
        return EGL_NO_DISPLAY;
    };
    imports->getSupportsAPI = g_host->supports_api;
    imports->getProcAddress = get_proc_address;
    imports->getDispatchAddress = [](const char *) -> void * { return nullptr; };
    imports->setDispatchIndex = [](const char *, int) {};
    return EGL_TRUE;
}
