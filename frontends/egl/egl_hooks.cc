// SPDX-License-Identifier: MIT
#include "egl_hooks.h"

#include <cstring>

#include "context.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

EGLContext create_context(EGLDisplay display, EGLConfig config, EGLContext share,
                          const EGLint *attributes) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    const EGLenum api = host().exports->getCurrentApi();
    const EGLContext handle = vendor.egl.CreateContext(display, config, share, attributes);
    if (handle != EGL_NO_CONTEXT) {
        context_created(vendor, display, handle, share, api, attributes);
    }
    return handle;
}

EGLBoolean destroy_context(EGLDisplay display, EGLContext handle) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    LeavingContext context(display, handle);
    const EGLBoolean done = vendor.egl.DestroyContext(display, handle);
    if (done != EGL_FALSE) {
        context.destroyed();
    }
    return done;
}

// What is current now, to be put back when something else cannot be made current.
struct Current {
    EGLDisplay display = host().exports->getCurrentDisplay();
    EGLSurface draw = host().exports->getCurrentSurface(EGL_DRAW);
    EGLSurface read = host().exports->getCurrentSurface(EGL_READ);
    EGLContext context = host().exports->getCurrentContext();
};

EGLBoolean make_current(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext handle) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    Vendor *older = current_vendor();
    const bool changes_vendor = older != nullptr && older != &vendor;
    const Current current =
        changes_vendor ? Current() : Current{nullptr, nullptr, nullptr, nullptr};
    if (changes_vendor) {
        // GLVND would have done this between two vendors, but to it we are one.
        older->egl.MakeCurrent(current.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    }
    const EGLBoolean done = vendor.egl.MakeCurrent(display, draw, read, handle);
    if (done != EGL_FALSE) {
        context_made_current(vendor, display, handle);
    } else if (changes_vendor) {
        older->egl.MakeCurrent(current.display, current.draw, current.read, current.context);
    }
    return done;
}

EGLBoolean release_thread() {
    EGLBoolean done = EGL_TRUE;
    for (const Vendor *vendor : vendors()) {
        done &= vendor->egl.ReleaseThread();
    }
    if (done != EGL_FALSE) {
        context_made_current(*vendors().front(), EGL_NO_DISPLAY, EGL_NO_CONTEXT);
    }
    return done;
}

}  // namespace

void *egl_hook(const char *name) {
    struct Hook {
        const char *name;
        void *function;
    };
    static const Hook kHooks[] = {
        {"eglCreateContext", reinterpret_cast<void *>(&create_context)},
        {"eglDestroyContext", reinterpret_cast<void *>(&destroy_context)},
        {"eglMakeCurrent", reinterpret_cast<void *>(&make_current)},
        {"eglReleaseThread", reinterpret_cast<void *>(&release_thread)},
    };
    for (const Hook &hook : kHooks) {
        if (strcmp(hook.name, name) == 0) {
            return hook.function;
        }
    }
    return nullptr;
}

}  // namespace cairn::egl
