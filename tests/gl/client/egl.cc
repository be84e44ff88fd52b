// SPDX-License-Identifier: MIT
#include "egl.h"

#include <cstdio>
#include <cstdlib>

#include "library.h"
#include "window_system.h"

namespace client {

Egl egl;

namespace {

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "%s: EGL error %#x\n", what, static_cast<unsigned>(egl.GetError()));
    std::abort();
}

EGLDeviceEXT first_device() {
    const auto query =
        reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(egl.GetProcAddress("eglQueryDevicesEXT"));
    EGLDeviceEXT device = nullptr;
    EGLint count = 0;
    if (query == nullptr || query(1, &device, &count) == EGL_FALSE) give_up("no device");
    return device;
}

EGLContext create(Api api, EGLContext share) {
    const bool desktop = api == Api::core || api == Api::compatibility || api == Api::plain;
    egl.BindAPI(desktop ? EGL_OPENGL_API : EGL_OPENGL_ES_API);
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, desktop ? 4 : (api == Api::es2 ? 2 : 3),
                                 EGL_CONTEXT_MINOR_VERSION, desktop ? 5 : (api == Api::es2 ? 0 : 2),
                                 EGL_CONTEXT_OPENGL_DEBUG,
                                 api == Api::es3_debug ? EGL_TRUE : EGL_FALSE,
                                 // The last pair is for desktop contexts only.
                                 desktop ? EGL_CONTEXT_OPENGL_PROFILE_MASK : EGL_NONE,
                                 api == Api::core ? EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT
                                                  : EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT,
                                 EGL_NONE};
    return egl.CreateContext(display(), EGL_NO_CONFIG_KHR, share,
                             api == Api::plain ? nullptr : attributes);
}

}  // namespace

void load_window_system() {
#ifdef CLIENT_LINKED
#define X(name) egl.name = &::egl##name;
#else
    void *library = open_library("libEGL.so.1");
#define X(name) find(library, "egl" #name, egl.name);
#endif
    CLIENT_EGL_FUNCTIONS(X)
#undef X
}

EGLDisplay display() {
    static EGLDisplay the_display = [] {
        EGLDisplay made =
            egl.GetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
        // A driver may have displays without windows on devices only.
        if (made == EGL_NO_DISPLAY) {
            made = egl.GetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, first_device(), nullptr);
        }
        if (made == EGL_NO_DISPLAY || egl.Initialize(made, nullptr, nullptr) == EGL_FALSE) {
            give_up("no display");
        }
        return made;
    }();
    return the_display;
}

void open_display() {
    display();
}

void close_display() {
    egl.Terminate(display());
}

void *proc_address(const char *name) {
    return reinterpret_cast<void *>(egl.GetProcAddress(name));
}

NativeContext *create_context(Api api, const NativeContext *share) {
    const EGLContext handle = create(api, share == nullptr ? EGL_NO_CONTEXT : share->handle);
    if (handle == EGL_NO_CONTEXT) {
        give_up("no context");
    }
    return new NativeContext{handle};
}

void destroy_context(NativeContext *context) {
    if (egl.GetCurrentContext() == context->handle) {
        make_current(nullptr);
    }
    egl.DestroyContext(display(), context->handle);
    delete context;
}

void make_current(const NativeContext *context) {
    const EGLContext handle = context == nullptr ? EGL_NO_CONTEXT : context->handle;
    if (egl.MakeCurrent(display(), EGL_NO_SURFACE, EGL_NO_SURFACE, handle) == EGL_FALSE) {
        give_up("not current");
    }
}

void release_thread() {
    egl.ReleaseThread();
}

int held_programs() {
    using GetAttrib = EGLint (*)(EGLDisplay, EGLenum);
    constexpr EGLenum kSize = 0x3455;
    const auto held =
        reinterpret_cast<GetAttrib>(egl.GetProcAddress("eglProgramCacheGetAttribANGLE"));
    return held == nullptr ? -1 : held(display(), kSize);
}

}  // namespace client
