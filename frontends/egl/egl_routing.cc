// SPDX-License-Identifier: MIT
// Routes EGL functions to one of several vendors: most go to the vendor of their display, each of
// the others has a rule.
#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "context.h"
#include "control.h"
#include "display_cache.h"
#include "egl_hooks.h"
#include "settings.h"
#include "vendors.h"
#include "words.h"

namespace cairn::egl {
namespace {

template <auto Member>
struct ByDisplay;

template <typename R, typename... A, R (*EglFunctions::*Member)(EGLDisplay, A...)>
struct ByDisplay<Member> {
    static R call(EGLDisplay display, A... arguments) {
        const auto function = vendor_to_call(display).egl.*Member;
        return function == nullptr ? R{} : function(display, arguments...);
    }
};

// To the vendor of the current context. Without one there is nothing to do.
template <auto Member, typename... A>
EGLBoolean by_current(A... arguments) {
    Vendor *vendor = current_vendor();
    if (vendor == nullptr || vendor->egl.*Member == nullptr) {
        return EGL_TRUE;
    }
    set_last_vendor(*vendor);
    return (vendor->egl.*Member)(arguments...);
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

std::vector<EGLDeviceEXT> devices_of(Vendor &vendor) {
    EGLint count = 0;
    if (vendor.egl.QueryDevicesEXT == nullptr ||
        vendor.egl.QueryDevicesEXT(0, nullptr, &count) == EGL_FALSE || count <= 0) {
        return {};
    }
    std::vector<EGLDeviceEXT> devices(static_cast<size_t>(count));
    if (vendor.egl.QueryDevicesEXT(count, devices.data(), &count) == EGL_FALSE) {
        return {};
    }
    devices.resize(static_cast<size_t>(count));
    for (const EGLDeviceEXT device : devices) {
        remember_device(device, vendor);
    }
    return devices;
}

// Those of all vendors, in their order. Remembers the vendor of each.
std::vector<EGLDeviceEXT> all_devices() {
    std::vector<EGLDeviceEXT> all;
    for (Vendor *vendor : vendors()) {
        const std::vector<EGLDeviceEXT> some = devices_of(*vendor);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

template <auto Member>
struct ByDevice;

// The application may have got the device without listing them, from a display.
template <typename R, typename... A, R (*EglFunctions::*Member)(EGLDeviceEXT, A...)>
struct ByDevice<Member> {
    static R call(EGLDeviceEXT device, A... arguments) {
        if (vendor_of_device(device) == nullptr) {
            all_devices();
        }
        Vendor *owner = vendor_of_device(device);
        Vendor &vendor = owner == nullptr ? *vendors().front() : *owner;
        set_last_vendor(vendor);
        const auto function = vendor.egl.*Member;
        return function == nullptr ? R{} : function(device, arguments...);
    }
};

const NamedFunction kRoutes[] = {
    EGL_ENTRY("eglBindAPI", bind_api),
    EGL_ENTRY("eglDebugMessageControlKHR", debug_message_control),
    EGL_ENTRY("eglQueryDebugKHR", query_debug),
    EGL_ENTRY("eglQueryDeviceAttribEXT", ByDevice<&EglFunctions::QueryDeviceAttribEXT>::call),
    EGL_ENTRY("eglQueryDeviceStringEXT", ByDevice<&EglFunctions::QueryDeviceStringEXT>::call),
    EGL_ENTRY("eglWaitClient", by_current<&EglFunctions::WaitClient>),
    EGL_ENTRY("eglWaitGL", by_current<&EglFunctions::WaitGL>),
    {"eglWaitNative",
     reinterpret_cast<void *>(&EglEntry<&by_current<&EglFunctions::WaitNative, EGLint>>::call)},
#define X(name, type) EGL_ENTRY("egl" #name, ByDisplay<&EglFunctions::name>::call),
    EGL_DISPLAY_FUNCTIONS(X)
#undef X
};

}  // namespace

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

void take_devices() {
    // The function came with version 0.2.
    if (EGL_VENDOR_ABI_GET_MINOR_VERSION(host().version) < 2 ||
        host().exports->setVendorForDevice == nullptr) {
        return;
    }
    for (const EGLDeviceEXT device : all_devices()) {
        host().exports->setVendorForDevice(device, host().self);
    }
}

const char *route_query_string(EGLDisplay display, EGLint name) {
    if (display != EGL_NO_DISPLAY || name != EGL_EXTENSIONS) {
        return ByDisplay<&EglFunctions::QueryString>::call(display, name);
    }
    std::string all;
    for (const Vendor *vendor : vendors()) {
        const char *words = vendor->egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
        all = with_words(all, words == nullptr ? "" : words);
    }
    return kept(all);
}

void *egl_function(const char *name) {
    void *of_vendor = nullptr;
    for (const Vendor *vendor : vendors()) {
        of_vendor = of_vendor != nullptr ? of_vendor : vendor->function(name);
    }
    void *ours = of_vendor != nullptr ? egl_hook(name) : nullptr;
    if (ours == nullptr && of_vendor != nullptr && has_several_vendors()) {
        ours = function_of_name(kRoutes, name);
    }
    // Nobody can say what a function that we do not know is routed by.
    return ours != nullptr ? ours : of_vendor;
}

namespace {

// The display of the first vendor that has such a display. If none has, sets the error that GLVND
// would choose: EGL_SUCCESS if any vendor says so, else the first vendor's.
EGLDisplay find_platform_display(EGLenum platform, void *native, const EGLAttrib *attributes) {
    Vendor *owner = platform == EGL_PLATFORM_DEVICE_EXT ? vendor_of_device(native) : nullptr;
    EGLint error = EGL_BAD_PARAMETER;
    bool is_first = true;
    for (Vendor *vendor : vendors()) {
        if (owner != nullptr && owner != vendor) {
            continue;
        }
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

}  // namespace

EGLDisplay get_platform_display(EGLenum platform, void *native, const EGLAttrib *attributes) {
    if (settings().disabled) {
        return find_platform_display(platform, native, attributes);
    }
    const Attributes<EGLAttrib> own(attributes, EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE);
    if (!own.values.empty() && limit_in(own.values) < 0) {
        set_own_error(EGL_BAD_ATTRIBUTE);
        return EGL_NO_DISPLAY;
    }
    const EGLDisplay display = find_platform_display(platform, native, own.for_driver());
    if (display != EGL_NO_DISPLAY && !own.values.empty()) {
        display_cache(display).set_limit(limit_in(own.values));
    }
    return display;
}

}  // namespace cairn::egl
