// SPDX-License-Identifier: MIT
#include "egl_hooks.h"

#include <cairn/eglext_cairn.h>

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

// For a value that is neither EGL_TRUE nor EGL_FALSE. The driver gets the list with our attribute,
// which it does not know: it checks what it checks before attributes, and refuses.
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
bool is_to_cache(const Attributes<EGLint> &own, const DisplayCache &programs) {
    return own.values.empty() || (own.values.back() == EGL_TRUE && programs.is_on());
}

// While switched off, we offer no extension and take no attribute.
EGLContext create_context(EGLDisplay display, EGLConfig config, EGLContext share,
                          const EGLint *attributes) {
    Vendor &vendor = vendor_to_call(display);
    if (settings().disabled) {
        return vendor.egl.CreateContext(display, config, share, attributes);
    }
    const Attributes<EGLint> own(attributes, EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE);
    const EGLint enabled = own.values.empty() ? EGL_TRUE : own.values.back();
    if (enabled != EGL_TRUE && enabled != EGL_FALSE) {
        return refuse_attribute(vendor, display, config, share, attributes);
    }
    const EGLenum api = host().exports->getCurrentApi();
    const EGLContext handle = vendor.egl.CreateContext(display, config, share, own.for_driver());
    if (handle == EGL_NO_CONTEXT) {
        return handle;
    }
    const auto enter = [&] {
        DisplayCache &programs = display_cache(display);
        context_created(vendor, display, handle, share, api, own.for_driver(),
                        is_to_cache(own, programs) ? &programs : nullptr);
        return handle;
    };
    // A context that we do not know would use deferred shaders of its sharers as if they were
    // compiled.
    return guarded(enter, [&] {
        vendor.egl.DestroyContext(display, handle);
        host().exports->setEGLError(EGL_BAD_ALLOC);
        return EGLContext{EGL_NO_CONTEXT};
    });
}

const char *query_string(EGLDisplay display, EGLint name) {
    const char *text = has_several_vendors() ? route_query_string(display, name)
                                             : vendors().front()->egl.QueryString(display, name);
    const bool is_ours =
        display != EGL_NO_DISPLAY && name == EGL_EXTENSIONS && !settings().disabled;
    return is_ours ? guarded([text] { return with_control(text); }, [text] { return text; }) : text;
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
    Vendor &vendor = vendor_to_call(display);
    if (!settings().disabled && display_cache(display).is_terminated.exchange(false) &&
        initialisation(vendor, display) != EGL_SUCCESS) {
        end(display);
    }
    const EGLBoolean done = vendor.egl.Initialize(display, major, minor);
    if (done != EGL_FALSE && !settings().disabled) {
        count(&RunReport::displays);
        attempt([] { open_switch(); });
        attempt([&] { serve_blobs(vendor, display); });
    }
    return done;
}

// The driver has been told to end the display.
void terminated(const Vendor &vendor, EGLDisplay display) {
    display_cache(display).is_terminated = true;
    // With some drivers it is not, if a context is current or it was initialised more than once.
    if (initialisation(vendor, display) == EGL_SUCCESS) {
        return;
    }
    end(display);
    flush_caches();
    // Another thread may have initialised the display again while we still served it.
    if (initialisation(vendor, display) == EGL_SUCCESS) {
        serve_blobs(vendor, display);
    }
}

EGLBoolean terminate(EGLDisplay display) {
    Vendor &vendor = vendor_to_call(display);
    const EGLBoolean done = vendor.egl.Terminate(display);
    if (done != EGL_FALSE && !settings().disabled) {
        attempt([&] { terminated(vendor, display); });
    }
    return done;
}

void set_blob_functions(EGLDisplay display, EGLSetBlobFuncANDROID set, EGLGetBlobFuncANDROID get) {
    Vendor &vendor = vendor_to_call(display);
    // Before the display is initialised the call is an error, which is the driver's to report.
    if (settings().disabled || initialisation(vendor, display) != EGL_SUCCESS) {
        vendor.egl.SetBlobCacheFuncsANDROID(display, set, get);
    } else {
        set_own_blobs(vendor, display, set, get);
    }
}

EGLBoolean destroy_context(EGLDisplay display, EGLContext handle) {
    Vendor &vendor = vendor_to_call(display);
    Context *context = hold_context(display, handle);
    const EGLBoolean done = vendor.egl.DestroyContext(display, handle);
    context_left(display, handle, context, done != EGL_FALSE);
    return done;
}

// The current context, to be made current again when another one cannot be.
struct Current {
    EGLDisplay display = host().exports->getCurrentDisplay();
    EGLSurface draw = host().exports->getCurrentSurface(EGL_DRAW);
    EGLSurface read = host().exports->getCurrentSurface(EGL_READ);
    EGLContext context = host().exports->getCurrentContext();
};

EGLBoolean make_current(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext handle) {
    Vendor &vendor = vendor_to_call(display);
    Vendor *older = current_vendor();
    const bool changes_vendor = older != nullptr && older != &vendor;
    const Current current =
        changes_vendor ? Current() : Current{nullptr, nullptr, nullptr, nullptr};
    if (changes_vendor) {
        // GLVND does this between two vendors, but it takes us for one.
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
    static const NamedFunction kHooks[] = {
        EGL_ENTRY("eglCreateContext", create_context),
        EGL_ENTRY("eglDestroyContext", destroy_context),
        EGL_ENTRY("eglGetError", get_error),
        EGL_ENTRY("eglInitialize", initialize),
        EGL_ENTRY("eglMakeCurrent", make_current),
        EGL_ENTRY("eglQueryDevicesEXT", query_devices),
        EGL_ENTRY("eglQueryString", query_string),
        EGL_ENTRY("eglReleaseThread", release_thread),
        EGL_ENTRY("eglSetBlobCacheFuncsANDROID", set_blob_functions),
        EGL_ENTRY("eglTerminate", terminate),
    };
    return function_of_name(kHooks, name);
}

}  // namespace cairn::egl
