// SPDX-License-Identifier: MIT
// The library of the last vendor, which is the front end's: see last_vendor.cc.
#include <dlfcn.h>
#include <glvnd/libeglabi.h>

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(
    uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
    __EGLapiImports *imports) {
    // GLVND has loaded it already, or does not use it.
    void *front_end = dlopen(CAIRN_EGL_FRONT_END, RTLD_LAZY | RTLD_NOLOAD);
    if (front_end == nullptr) return EGL_FALSE;
    const auto start =
        reinterpret_cast<__PFNEGLMAINPROC>(dlsym(front_end, "cairn_egl_last_vendor"));
    return start == nullptr ? EGL_FALSE : start(version, exports, vendor, imports);
}
