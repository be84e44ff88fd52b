// SPDX-License-Identifier: MIT
// EGL without a window system.
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <stdexcept>

#include "bench/link/context.h"

namespace bench {
namespace {

EGLDisplay display_of_first_device() {
    const auto query =
        reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
    EGLDeviceEXT device = nullptr;
    EGLint count = 0;
    if (query == nullptr || query(1, &device, &count) == EGL_FALSE) return EGL_NO_DISPLAY;
    return eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device, nullptr);
}

EGLContext create_context(EGLDisplay display, Api api) {
    eglBindAPI(api == Api::es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
    const EGLint es[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
    const EGLint desktop[] = {EGL_CONTEXT_MAJOR_VERSION,
                              4,
                              EGL_CONTEXT_MINOR_VERSION,
                              5,
                              EGL_CONTEXT_OPENGL_PROFILE_MASK,
                              api == Api::core ? EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT
                                               : EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT,
                              EGL_NONE};
    return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT,
                            api == Api::es ? es : desktop);
}

}  // namespace

Context::Context(Api api)
    : display_(eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)) {
    // A driver may have displays without windows on devices only.
    if (display_ == EGL_NO_DISPLAY) display_ = display_of_first_device();
    if (display_ == EGL_NO_DISPLAY || eglInitialize(display_, nullptr, nullptr) == EGL_FALSE) {
        throw std::runtime_error("EGL has no display without a window system");
    }
    context_ = create_context(display_, api);
    if (context_ == EGL_NO_CONTEXT ||
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_FALSE) {
        throw std::runtime_error("EGL makes no context of OpenGL 4.5 or OpenGL ES 3.2");
    }
}

Context::~Context() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
    eglTerminate(display_);
}

FindFunction Context::find_function() const {
    return [](const std::string &name) { return eglGetProcAddress(name.c_str()); };
}

}  // namespace bench
