// SPDX-License-Identifier: MIT
// A second EGL vendor for the tests: it answers one platform that nobody else knows and has one
// device, and its GL says that it is there. It can do nothing else. That is enough to see where
// calls go when there are several vendors.
#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>
#include <glvnd/libeglabi.h>

#include <cstring>

namespace {

constexpr EGLenum kPlatform = 0x7fff0001;

// Handles are addresses, as other vendors' are, so that none is equal to another's.
char g_display;
char g_device;
char g_context;
EGLint g_error = EGL_SUCCESS;
const __EGLapiExports *g_exports = nullptr;
int g_add_index = -1;

EGLBoolean fail(EGLint error) {
    g_error = error;
    return EGL_FALSE;
}

EGLBoolean initialize(EGLDisplay, EGLint *major, EGLint *minor) {
    if (major != nullptr) {
        *major = 1;
    }
    if (minor != nullptr) {
        *minor = 5;
    }
    return EGL_TRUE;
}

const char *query_string(EGLDisplay display, EGLint name) {
    if (display == EGL_NO_DISPLAY) {
        return name == EGL_EXTENSIONS
                   ? "EGL_CAIRN_fake_platform EGL_EXT_platform_base EGL_EXT_device_base "
                     "EGL_EXT_device_enumeration EGL_EXT_device_query EGL_EXT_platform_device"
                   : nullptr;
    }
    switch (name) {
        case EGL_VENDOR:
            return "Fake";
        case EGL_VERSION:
            return "1.5 Fake";
        case EGL_EXTENSIONS:
            return "EGL_CAIRN_fake_add";
        default:
            return "OpenGL_ES";
    }
}

EGLContext create_context(EGLDisplay, EGLConfig, EGLContext, const EGLint *) {
    return &g_context;
}

EGLBoolean make_current(EGLDisplay, EGLSurface, EGLSurface, EGLContext context) {
    return context == EGL_NO_CONTEXT || context == &g_context ? EGL_TRUE : fail(EGL_BAD_CONTEXT);
}

EGLint get_error() {
    const EGLint error = g_error;
    g_error = EGL_SUCCESS;
    return error;
}

EGLBoolean yes() {
    return EGL_TRUE;
}

EGLBoolean no() {
    return fail(EGL_BAD_MATCH);
}

const GLubyte *get_string(GLenum) {
    return reinterpret_cast<const GLubyte *>("fake");
}

GLuint create_shader(GLenum) {
    return 4711;
}

const char *driver_name(EGLDisplay display) {
    return display == &g_display ? "fake" : "not mine";
}

EGLBoolean query_devices(EGLint capacity, EGLDeviceEXT *devices, EGLint *count) {
    *count = 1;
    if (devices != nullptr && capacity > 0) {
        *devices = &g_device;
    }
    return EGL_TRUE;
}

const char *query_device_string(EGLDeviceEXT device, EGLint) {
    return device == &g_device ? "fake device" : "not mine";
}

// eglFakeAddCAIRN, an extension function: the driver's part, and the dispatch function that finds
// the display's driver.
int add(EGLDisplay display, int number) {
    return display == &g_display ? number + 1 : -2;
}

int dispatch_add(EGLDisplay display, int number) {
    g_exports->threadInit();
    __EGLvendorInfo *vendor = g_exports->getVendorFromDisplay(display);
    if (vendor == nullptr) {
        return -3;
    }
    g_exports->setLastVendor(vendor);
    const auto function = reinterpret_cast<int (*)(EGLDisplay, int)>(
        g_exports->fetchDispatchEntry(vendor, g_add_index));
    return function == nullptr ? -4 : function(display, number);
}

struct Function {
    const char *name;
    void *function;
};

const Function kFunctions[] = {
    {"eglBindAPI", reinterpret_cast<void *>(&yes)},
    {"eglCreateContext", reinterpret_cast<void *>(&create_context)},
    {"eglDestroyContext", reinterpret_cast<void *>(&yes)},
    {"eglFakeAddCAIRN", reinterpret_cast<void *>(&add)},
    {"eglGetDisplayDriverName", reinterpret_cast<void *>(&driver_name)},
    {"eglGetError", reinterpret_cast<void *>(&get_error)},
    {"eglInitialize", reinterpret_cast<void *>(&initialize)},
    {"eglMakeCurrent", reinterpret_cast<void *>(&make_current)},
    {"eglQueryDeviceStringEXT", reinterpret_cast<void *>(&query_device_string)},
    {"eglQueryDevicesEXT", reinterpret_cast<void *>(&query_devices)},
    {"eglQueryString", reinterpret_cast<void *>(&query_string)},
    {"eglReleaseThread", reinterpret_cast<void *>(&yes)},
    {"eglTerminate", reinterpret_cast<void *>(&yes)},
    {"glCreateShader", reinterpret_cast<void *>(&create_shader)},
    {"glGetString", reinterpret_cast<void *>(&get_string)},
};

// GLVND insists on these, which nobody calls.
constexpr const char *kUnused[] = {
    "eglBindTexImage",         "eglChooseConfig",
    "eglCopyBuffers",          "eglCreatePbufferFromClientBuffer",
    "eglCreatePbufferSurface", "eglCreatePixmapSurface",
    "eglCreateWindowSurface",  "eglDestroySurface",
    "eglGetConfigAttrib",      "eglGetConfigs",
    "eglQueryContext",         "eglQuerySurface",
    "eglReleaseTexImage",      "eglSurfaceAttrib",
    "eglSwapBuffers",          "eglSwapInterval",
    "eglWaitClient",           "eglWaitGL",
    "eglWaitNative",
};

void *get_proc_address(const char *name) {
    for (const Function &function : kFunctions) {
        if (strcmp(function.name, name) == 0) {
            return function.function;
        }
    }
    for (const char *unused : kUnused) {
        if (strcmp(unused, name) == 0) {
            return reinterpret_cast<void *>(&no);
        }
    }
    return nullptr;
}

EGLDisplay get_platform_display(EGLenum platform, void *native, const EGLAttrib *) {
    const bool is_ours =
        platform == kPlatform || (platform == EGL_PLATFORM_DEVICE_EXT && native == &g_device);
    return is_ours ? &g_display : EGL_NO_DISPLAY;
}

EGLBoolean get_supports_api(EGLenum api) {
    return api == EGL_OPENGL_ES_API ? EGL_TRUE : EGL_FALSE;
}

const char *get_vendor_string(int) {
    return "EGL_CAIRN_fake_platform";
}

void *get_dispatch_address(const char *name) {
    return strcmp(name, "eglFakeAddCAIRN") == 0 ? reinterpret_cast<void *>(&dispatch_add) : nullptr;
}

void set_dispatch_index(const char *name, int index) {
    if (strcmp(name, "eglFakeAddCAIRN") == 0) {
        g_add_index = index;
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(
    uint32_t, const __EGLapiExports *exports, __EGLvendorInfo *, __EGLapiImports *imports) {
    g_exports = exports;
    imports->getPlatformDisplay = get_platform_display;
    imports->getSupportsAPI = get_supports_api;
    imports->getVendorString = get_vendor_string;
    imports->getProcAddress = get_proc_address;
    imports->getDispatchAddress = get_dispatch_address;
    imports->setDispatchIndex = set_dispatch_index;
    return EGL_TRUE;
}
