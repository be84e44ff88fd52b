// SPDX-License-Identifier: MIT
#include "egl_hooks.h"

#include <cstring>
#include <optional>

#include "blob_service.h"
#include "caches.h"
#include "context.h"
#include "control.h"
#include "counters.h"
#include "display_cache.h"
#include "settings.h"
#include "switch.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

// For a value that is neither EGL_TRUE nor EGL_FALSE. The driver refuses it, as it does attributes
// that it does not know, after what it checks before attributes.
EGLContext refuse_attribute(const Vendor &vendor, EGLDisplay display, EGLConfig config,
                            EGLContext share, const EGLint *attributes) {
    const EGLContext handle = vendor.egl.CreateContext(display, config, share, attributes);
    if (handle != EGL_NO_CONTEXT) {
        vendor.egl.DestroyContext(display, handle);
        host().exports->setEGLError(EGL_BAD_ATTRIBUTE);
    }
    return EGL_NO_CONTEXT;
}

// As in ANGLE: a context that asks for caching needs room for it from the start, and one that says
// nothing caches as soon as there is some.
bool is_to_cache(const std::optional<EGLint> &enabled, const DisplayCache &programs) {
    return !enabled || (*enabled == EGL_TRUE && programs.is_on());
}

// Switched off there is no extension, and so no attribute of ours.
EGLContext create_context(EGLDisplay display, EGLConfig config, EGLContext share,
                          const EGLint *attributes) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    if (settings().disabled) {
        return vendor.egl.CreateContext(display, config, share, attributes);
    }
    const ContextAttributes own(attributes);
    if (own.enabled && *own.enabled != EGL_TRUE && *own.enabled != EGL_FALSE) {
        return refuse_attribute(vendor, display, config, share, attributes);
    }
    const EGLenum api = host().exports->getCurrentApi();
    const EGLContext handle = vendor.egl.CreateContext(display, config, share, own.for_driver());
    if (handle != EGL_NO_CONTEXT) {
        DisplayCache &programs = display_cache(display);
        context_created(vendor, display, handle, share, api, own.for_driver(),
                        is_to_cache(own.enabled, programs) ? &programs : nullptr);
    }
    return handle;
}

const char *query_string(EGLDisplay display, EGLint name) {
    const char *text = has_several_vendors() ? route_query_string(display, name)
                                             : vendors().front()->egl.QueryString(display, name);
    const bool is_ours =
        display != EGL_NO_DISPLAY && name == EGL_EXTENSIONS && !settings().disabled;
    return is_ours ? with_control(text) : text;
}

EGLint get_error() {
    const EGLint own = take_own_error();
    return own != EGL_SUCCESS ? own : last_vendor().egl.GetError();
}

// The display has ended: it begins anew when it is initialised.
void end(EGLDisplay display) {
    display_cache(display).clear();
    stop_serving_blobs(display);
}

EGLBoolean initialize(EGLDisplay display, EGLint *major, EGLint *minor) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    EGLint error = EGL_SUCCESS;
    if (!settings().disabled && display_cache(display).is_terminated.exchange(false) &&
        !is_initialised(vendor, display, error)) {
        end(display);
    }
    const EGLBoolean done = vendor.egl.Initialize(display, major, minor);
    if (done != EGL_FALSE && !settings().disabled) {
        count(&RunReport::displays);
        open_switch();
        serve_blobs(vendor, display);
    }
    return done;
}

EGLBoolean terminate(EGLDisplay display) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    const EGLBoolean done = vendor.egl.Terminate(display);
    if (done == EGL_FALSE || settings().disabled) {
        return done;
    }
    display_cache(display).is_terminated = true;
    EGLint error = EGL_SUCCESS;
    // Not if something of it is current, or it was initialised more than once, for some drivers.
    if (!is_initialised(vendor, display, error)) {
        end(display);
        flush_caches();
        // Another thread may have found it served still when it initialised it.
        if (is_initialised(vendor, display, error)) {
            serve_blobs(vendor, display);
        }
    }
    return done;
}

void set_blob_functions(EGLDisplay display, EGLSetBlobFuncANDROID set, EGLGetBlobFuncANDROID get) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    EGLint error = EGL_SUCCESS;
    // Before the display is initialised the call is an error, which is the driver's to report.
    if (settings().disabled || !is_initialised(vendor, display, error)) {
        vendor.egl.SetBlobCacheFuncsANDROID(display, set, get);
    } else {
        set_own_blobs(vendor, display, set, get);
    }
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
        {"eglGetError", reinterpret_cast<void *>(&get_error)},
        {"eglInitialize", reinterpret_cast<void *>(&initialize)},
        {"eglMakeCurrent", reinterpret_cast<void *>(&make_current)},
        {"eglQueryDevicesEXT", reinterpret_cast<void *>(&query_devices)},
        {"eglQueryString", reinterpret_cast<void *>(&query_string)},
        {"eglReleaseThread", reinterpret_cast<void *>(&release_thread)},
        {"eglSetBlobCacheFuncsANDROID", reinterpret_cast<void *>(&set_blob_functions)},
        {"eglTerminate", reinterpret_cast<void *>(&terminate)},
    };
    for (const Hook &hook : kHooks) {
        if (strcmp(hook.name, name) == 0) {
            return hook.function;
        }
    }
    return nullptr;
}

}  // namespace cairn::egl
