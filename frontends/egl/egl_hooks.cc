// SPDX-License-Identifier: MIT
#include "egl_hooks.h"

#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "blob_service.h"
#include "common/run_report.h"
#include "common/words.h"
#include "control.h"
#include "display_cache.h"
#include "gl/caches.h"
#include "gl/contexts.h"
#include "gl/driver_cache.h"
#include "gl/settings.h"
#include "gl/slots.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

// To the vendor that `choose` finds for the first argument.
template <Vendor &(*choose)(void *), auto kMember>
struct Routed;

template <Vendor &(*choose)(void *), typename R, typename... A,
          R (*EglFunctions::*kMember)(void *, A...)>
struct Routed<choose, kMember> {
    static R call(void *object, A... arguments) {
        const auto function = choose(object).egl.*kMember;
        return function == nullptr ? R{} : function(object, arguments...);
    }
};

// To the vendor of the current context. Without one there is nothing to do.
template <auto kMember, typename... A>
EGLBoolean by_current(A... arguments) {
    Vendor *vendor = current_vendor();
    if (vendor == nullptr || vendor->egl.*kMember == nullptr) return EGL_TRUE;
    set_last_vendor(*vendor);
    return (vendor->egl.*kMember)(arguments...);
}

EGLBoolean bind_api(EGLenum api) {
    EGLBoolean done = EGL_FALSE;
    for (const Vendor *vendor : vendors()) {
        done |= vendor->egl.BindAPI(api);
    }
    return done;
}

EGLint debug_message_control(EGLDEBUGPROCKHR callback, const EGLAttrib *attributes) {
    EGLint result = EGL_SUCCESS;
    for (const Vendor *vendor : vendors()) {
        if (vendor->egl.DebugMessageControlKHR != nullptr) {
            const EGLint one = vendor->egl.DebugMessageControlKHR(callback, attributes);
            result = one != EGL_SUCCESS ? one : result;
        }
    }
    return result;
}

EGLBoolean query_debug(EGLint attribute, EGLAttrib *value) {
    for (const Vendor *vendor : vendors()) {
        if (vendor->egl.QueryDebugKHR != nullptr) {
            return vendor->egl.QueryDebugKHR(attribute, value);
        }
    }
    return EGL_FALSE;
}

// The application may have got the device without listing them, from a display.
Vendor &vendor_of_listed(EGLDeviceEXT device) {
    if (vendor_of_device(device) == nullptr) {
        all_devices();
    }
    Vendor *owner = vendor_of_device(device);
    Vendor &vendor = owner == nullptr ? *vendors().front() : *owner;
    set_last_vendor(vendor);
    return vendor;
}

// The display of the first vendor that has such a display. If none has, sets the error that GLVND
// would choose: EGL_SUCCESS if any vendor says so, else the first vendor's.
EGLDisplay find_platform_display(EGLenum platform, void *native, const EGLAttrib *attributes) {
    Vendor *owner = platform == EGL_PLATFORM_DEVICE_EXT ? vendor_of_device(native) : nullptr;
    EGLint error = EGL_BAD_PARAMETER;
    bool is_first = true;
    for (Vendor *vendor : vendors()) {
        if (owner != nullptr && owner != vendor) continue;
        set_last_vendor(*vendor);
        const EGLDisplay display = vendor->imports.getPlatformDisplay(platform, native, attributes);
        if (display != EGL_NO_DISPLAY) {
            remember_display(display, *vendor);
            return display;
        }
        const EGLint own = vendor->egl.GetError();
        error = is_first || own == EGL_SUCCESS ? own : error;
        is_first = false;
    }
    set_own_error(error);
    return EGL_NO_DISPLAY;
}

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

// Takes an attribute and its value into the options.
void take(gl::ContextOptions &options, EGLint name, EGLint value) {
    using Options = gl::ContextOptions;
    switch (name) {
        case EGL_CONTEXT_MAJOR_VERSION:
            options.major = value;
            break;
        case EGL_CONTEXT_MINOR_VERSION:
            options.minor = value;
            break;
        case EGL_CONTEXT_OPENGL_PROFILE_MASK:
            options.profile = static_cast<uint32_t>(value);
            break;
        case EGL_CONTEXT_FLAGS_KHR:
            options.add_flag_bits(static_cast<uint32_t>(value));
            break;
        case EGL_CONTEXT_OPENGL_DEBUG:
            options.flags |= value == EGL_TRUE ? Options::kDebug : 0;
            break;
        case EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE:
            options.flags |= value == EGL_TRUE ? Options::kForwardCompatible : 0;
            break;
        case EGL_CONTEXT_OPENGL_ROBUST_ACCESS:
        case EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT:
            options.flags |= value == EGL_TRUE ? Options::kRobustAccess : 0;
            break;
        case EGL_CONTEXT_OPENGL_NO_ERROR_KHR:
            options.flags |= value == EGL_TRUE ? Options::kNoError : 0;
            break;
        case EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY:
        case EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT:
            options.flags |= value == EGL_LOSE_CONTEXT_ON_RESET ? Options::kLosesOnReset : 0;
            break;
        // What does not change how anything compiles.
        case EGL_CONTEXT_PRIORITY_LEVEL_IMG:
        case EGL_CONTEXT_RELEASE_BEHAVIOR_KHR:
            break;
        default:
            options.others.append("egl").append(reinterpret_cast<const char *>(&name), sizeof name);
            options.others.append(reinterpret_cast<const char *>(&value), sizeof value);
    }
}

gl::ContextOptions options_of(EGLenum api, const EGLint *attributes) {
    gl::ContextOptions options = {.is_es = api != EGL_OPENGL_API};
    for (const EGLint *pair = attributes; pair != nullptr && pair[0] != EGL_NONE; pair += 2) {
        take(options, pair[0], pair[1]);
    }
    return options;
}

// While switched off, we offer no extension and take no attribute.
EGLContext create_context(EGLDisplay display, EGLConfig config, EGLContext share,
                          const EGLint *attributes) {
    Vendor &vendor = vendor_to_call(display);
    if (gl::settings().disabled)
        return vendor.egl.CreateContext(display, config, share, attributes);
    const Attributes<EGLint> own(attributes, EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE);
    const EGLint enabled = own.values.empty() ? EGL_TRUE : own.values.back();
    if (enabled != EGL_TRUE && enabled != EGL_FALSE) {
        return refuse_attribute(vendor, display, config, share, attributes);
    }
    const EGLenum api = host().exports->getCurrentApi();
    const EGLContext handle = gl::telling_driver(
        [&] { return vendor.egl.CreateContext(display, config, share, own.for_driver()); });
    if (handle == EGL_NO_CONTEXT) return handle;
    const auto enter = [&] {
        DisplayCache &programs = display_cache(display);
        gl::context_created(vendor, {display, handle}, {display, share},
                            options_of(api, own.for_driver()),
                            is_to_cache(own, programs) ? &programs : nullptr, true);
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
    if (display == EGL_NO_DISPLAY && name == EGL_EXTENSIONS && has_several_vendors()) {
        return client_extensions();
    }
    const char *text = vendor_to_call(display).egl.QueryString(display, name);
    const bool is_ours =
        display != EGL_NO_DISPLAY && name == EGL_EXTENSIONS && !gl::settings().disabled;
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
    if (!gl::settings().disabled && display_cache(display).is_terminated.exchange(false) &&
        initialisation(vendor, display) != EGL_SUCCESS) {
        end(display);
    }
    const EGLBoolean done =
        gl::telling_driver([&] { return vendor.egl.Initialize(display, major, minor); });
    if (done != EGL_FALSE && !gl::settings().disabled) {
        count(&RunReport::displays);
        gl::attempt([] { gl::open_switch(); });
        gl::attempt([&] { serve_blobs(vendor, display); });
    }
    return done;
}

// The driver has been told to end the display.
void terminated(const Vendor &vendor, EGLDisplay display) {
    display_cache(display).is_terminated = true;
    // With some drivers it is not, if a context is current or it was initialised more than once.
    if (initialisation(vendor, display) == EGL_SUCCESS) return;
    end(display);
    gl::flush_caches();
    // Another thread may have initialised the display again while we still served it.
    if (initialisation(vendor, display) == EGL_SUCCESS) {
        serve_blobs(vendor, display);
    }
}

EGLBoolean terminate(EGLDisplay display) {
    Vendor &vendor = vendor_to_call(display);
    const EGLBoolean done = vendor.egl.Terminate(display);
    if (done != EGL_FALSE && !gl::settings().disabled) {
        gl::attempt([&] { terminated(vendor, display); });
    }
    return done;
}

void set_blob_functions(EGLDisplay display, EGLSetBlobFuncANDROID set, EGLGetBlobFuncANDROID get) {
    Vendor &vendor = vendor_to_call(display);
    // Before the display is initialised the call is an error, which is the driver's to report.
    if (gl::settings().disabled || initialisation(vendor, display) != EGL_SUCCESS) {
        vendor.egl.SetBlobCacheFuncsANDROID(display, set, get);
    } else {
        set_own_blobs(vendor, display, set, get);
    }
}

EGLBoolean destroy_context(EGLDisplay display, EGLContext handle) {
    Vendor &vendor = vendor_to_call(display);
    gl::Context *context = gl::hold_context({display, handle});
    const EGLBoolean done = vendor.egl.DestroyContext(display, handle);
    gl::context_left({display, handle}, context, done != EGL_FALSE);
    return done;
}

// The current context, to be made current again when another one cannot be.
struct Current {
    EGLDisplay display = host().exports->getCurrentDisplay();
    EGLSurface draw = host().exports->getCurrentSurface(EGL_DRAW);
    EGLSurface read = host().exports->getCurrentSurface(EGL_READ);
    EGLContext context = host().exports->getCurrentContext();
};

void made_current(const Vendor &vendor, EGLDisplay display, EGLSurface draw, EGLContext handle) {
    gl::use_slots_of(handle == EGL_NO_CONTEXT ? *vendors().front() : vendor);
    gl::context_made_current(vendor, {display, handle}, reinterpret_cast<uintptr_t>(draw));
}

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
        made_current(vendor, display, draw, handle);
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
        made_current(*vendors().front(), EGL_NO_DISPLAY, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    }
    return done;
}

EGLBoolean query_devices(EGLint capacity, EGLDeviceEXT *devices, EGLint *count) {
    if (count == nullptr || (devices != nullptr && capacity <= 0)) {
        host().exports->setEGLError(EGL_BAD_PARAMETER);
        return EGL_FALSE;
    }
    std::vector<EGLDeviceEXT> all;
    if (!are_vendors_in_glvnd()) {
        all = all_devices();
    }
    *count = static_cast<EGLint>(all.size());
    if (devices != nullptr) {
        *count = std::min(*count, capacity);
        std::copy_n(all.begin(), *count, devices);
    }
    return EGL_TRUE;
}

const gl::NamedFunction kRoutes[] = {
    EGL_ENTRY("eglBindAPI", bind_api),
    EGL_ENTRY("eglDebugMessageControlKHR", debug_message_control),
    EGL_ENTRY("eglQueryDebugKHR", query_debug),
    EGL_ENTRY("eglQueryDeviceAttribEXT",
              Routed<vendor_of_listed, &EglFunctions::QueryDeviceAttribEXT>::call),
    EGL_ENTRY("eglQueryDeviceStringEXT",
              Routed<vendor_of_listed, &EglFunctions::QueryDeviceStringEXT>::call),
    EGL_ENTRY("eglWaitClient", by_current<&EglFunctions::WaitClient>),
    EGL_ENTRY("eglWaitGL", by_current<&EglFunctions::WaitGL>),
    EGL_ENTRY("eglWaitNative", by_current<&EglFunctions::WaitNative, EGLint>),
#define X(name, type) EGL_ENTRY("egl" #name, Routed<vendor_to_call, &EglFunctions::name>::call),
    EGL_DISPLAY_FUNCTIONS(X)
#undef X
};

}  // namespace

std::vector<EGLDeviceEXT> all_devices() {
    std::vector<EGLDeviceEXT> all;
    for (Vendor *vendor : vendors()) {
        const auto query = vendor->egl.QueryDevicesEXT;
        EGLint count = 0;
        if (query == nullptr || query(0, nullptr, &count) == EGL_FALSE || count <= 0) continue;
        std::vector<EGLDeviceEXT> some(static_cast<size_t>(count));
        if (query(count, some.data(), &count) != EGL_FALSE) {
            some.resize(static_cast<size_t>(count));
            for (const EGLDeviceEXT device : some) {
                remember_device(device, *vendor);
            }
            all.insert(all.end(), some.begin(), some.end());
        }
    }
    return all;
}

const char *client_extensions() {
    std::string all;
    for (const Vendor *vendor : vendors()) {
        const char *words = vendor->egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
        all = with_words(all, words == nullptr ? "" : words);
    }
    return kept(all);
}

void *egl_hook(const char *name) {
    static const gl::NamedFunction kHooks[] = {
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
    return gl::function_of_name(kHooks, name);
}

void *egl_function(const char *name) {
    void *of_vendor = vendor_function(name);
    void *ours = of_vendor != nullptr ? egl_hook(name) : nullptr;
    if (ours == nullptr && of_vendor != nullptr && has_several_vendors()) {
        ours = gl::function_of_name(kRoutes, name);
    }
    // Nobody can say what a function that we do not know is routed by.
    return ours != nullptr ? ours : of_vendor;
}

EGLDisplay get_platform_display(EGLenum platform, void *native, const EGLAttrib *attributes) {
    if (gl::settings().disabled) return find_platform_display(platform, native, attributes);
    const Attributes<EGLAttrib> own(attributes, EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE);
    if (!own.values.empty() && limit_in(own.values) < 0) {
        set_own_error(EGL_BAD_ATTRIBUTE);
        return EGL_NO_DISPLAY;
    }
    const EGLDisplay display = find_platform_display(platform, native, own.for_driver());
    if (display != EGL_NO_DISPLAY && !own.values.empty()) {
        const EGLint limit = limit_in(own.values);
        display_cache(display).set_limit(static_cast<uint32_t>(limit),
                                         static_cast<uint32_t>(limit));
    }
    return display;
}

}  // namespace cairn::egl
