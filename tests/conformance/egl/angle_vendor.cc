// SPDX-License-Identifier: MIT
// A GLVND vendor that consists of ANGLE, so that it can be a driver behind the front end. The
// environment variable EGL_TEST_ANGLE says where its libEGL is.
#include <dlfcn.h>
#include <glvnd/libeglabi.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

namespace {

using Function = void (*)();
Function (*g_get)(const char *name) = nullptr;
const __EGLapiExports *g_exports = nullptr;
int g_set_blob_functions_index = -1;

constexpr EGLenum kAnglePlatform = 0x3202;
// Vulkan on SwiftShader.
constexpr EGLAttrib kAttributes[] = {0x3203, 0x3450, 0x3209, 0x3487, EGL_NONE};

// ANGLE judges the attributes that the application adds.
EGLDisplay get_platform_display(EGLenum platform, void *, const EGLAttrib *attributes) {
    const auto get = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYPROC>(g_get("eglGetPlatformDisplay"));
    if (platform != EGL_PLATFORM_SURFACELESS_MESA) {
        return EGL_NO_DISPLAY;
    }
    std::vector<EGLAttrib> all;
    for (const EGLAttrib *pair = attributes; pair != nullptr && pair[0] != EGL_NONE; pair += 2) {
        all.insert(all.end(), pair, pair + 2);
    }
    all.insert(all.end(), std::begin(kAttributes), std::end(kAttributes));
    return get(kAnglePlatform, EGL_DEFAULT_DISPLAY, all.data());
}

void *get_proc_address(const char *name) {
    return reinterpret_cast<void *>(g_get(name));
}

EGLBoolean get_supports_api(EGLenum api) {
    return api == EGL_OPENGL_ES_API ? EGL_TRUE : EGL_FALSE;
}

const char *get_vendor_string(int) {
    return "EGL_MESA_platform_surfaceless";
}

void dispatch_set_blob_functions(EGLDisplay display, EGLSetBlobFuncANDROID set,
                                 EGLGetBlobFuncANDROID get) {
    g_exports->threadInit();
    __EGLvendorInfo *vendor = g_exports->getVendorFromDisplay(display);
    if (vendor == nullptr) {
        g_exports->setEGLError(EGL_BAD_DISPLAY);
        return;
    }
    g_exports->setLastVendor(vendor);
    const auto function = reinterpret_cast<PFNEGLSETBLOBCACHEFUNCSANDROIDPROC>(
        g_exports->fetchDispatchEntry(vendor, g_set_blob_functions_index));
    function(display, set, get);
}

void *get_dispatch_address(const char *name) {
    return strcmp(name, "eglSetBlobCacheFuncsANDROID") == 0
               ? reinterpret_cast<void *>(&dispatch_set_blob_functions)
               : nullptr;
}

void set_dispatch_index(const char *name, int index) {
    if (strcmp(name, "eglSetBlobCacheFuncsANDROID") == 0) {
        g_set_blob_functions_index = index;
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(
    uint32_t, const __EGLapiExports *exports, __EGLvendorInfo *, __EGLapiImports *imports) {
    const char *path = getenv("EGL_TEST_ANGLE");
    void *library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return EGL_FALSE;
    }
    g_get = reinterpret_cast<decltype(g_get)>(dlsym(library, "eglGetProcAddress"));
    g_exports = exports;
    imports->getPlatformDisplay = get_platform_display;
    imports->getSupportsAPI = get_supports_api;
    imports->getVendorString = get_vendor_string;
    imports->getProcAddress = get_proc_address;
    imports->getDispatchAddress = get_dispatch_address;
    imports->setDispatchIndex = set_dispatch_index;
    return g_get == nullptr ? EGL_FALSE : EGL_TRUE;
}
