// SPDX-License-Identifier: MIT
// GLVND's handshake with its vendor libraries.
//
// This library never ends. It is linked so that dlclose leaves it in memory, it never frees what it
// allocates for the process, and no destructor runs at exit: other threads may be in the middle of
// a GL call at that moment, and the store loses nothing when a process simply stops.
#include <cstring>
#include <string>

#include "common/crash_guard.h"
#include "common/run_report.h"
#include "common/words.h"
#include "control.h"
#include "egl_hooks.h"
#include "gl/driver_cache.h"
#include "gl/hook.h"
#include "gl/hooks.h"
#include "gl/settings.h"
#include "gl/slots.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

void *get_proc_address(const char *name) {
    const bool is_on = !gl::settings().disabled;
    // Ours, also where a driver has a function of this name: its cache has none of our programs.
    if (const EntryPoint *control = is_on ? control_entry(name) : nullptr) return control->function;
    if (strncmp(name, "egl", 3) == 0) return egl_function(name);
    void *function = vendor_function(name);
    if (function != nullptr && has_several_vendors()) function = gl::slot_of(name);
    const bool is_there = function != nullptr || gl::is_own_function(name);
    void *hook = is_on && is_there ? gl::gl_hook(name) : nullptr;
    return hook != nullptr ? hook : function;
}

// GLVND takes each word for something that some display may support.
const char *get_vendor_string(int name) {
    std::string all;
    for (const Vendor *vendor : vendors()) {
        const auto function = vendor->imports.getVendorString;
        const char *words = function == nullptr ? nullptr : function(name);
        // Other strings are not lists.
        if (name != __EGL_VENDOR_STRING_PLATFORM_EXTENSIONS) return words;
        all = with_words(all, words == nullptr ? "" : words);
    }
    return all.empty() ? nullptr : kept(all);
}

void *get_dispatch_address(const char *name) {
    if (const EntryPoint *control = gl::settings().disabled ? nullptr : control_entry(name)) {
        return control->dispatch;
    }
    for (const Vendor *vendor : vendors()) {
        if (void *function = vendor->imports.getDispatchAddress(name)) return function;
    }
    return nullptr;
}

void set_dispatch_index(const char *name, int index) {
    if (const EntryPoint *control = control_entry(name)) {
        control->index = index;
    }
    for (const Vendor *vendor : vendors()) {
        vendor->imports.setDispatchIndex(name, index);
    }
}

EGLenum find_native_display_platform(void *native) {
    for (const Vendor *vendor : vendors()) {
        const auto function = vendor->imports.findNativeDisplayPlatform;
        const EGLenum platform = function == nullptr ? EGL_NONE : function(native);
        if (platform != EGL_NONE) return platform;
    }
    return EGL_NONE;
}

void patch_thread_attach() {
    for (const Vendor *vendor : vendors()) {
        if (vendor->imports.patchThreadAttach != nullptr) {
            vendor->imports.patchThreadAttach();
        }
    }
}

// Patching is not offered: a vendor that rewrites GLVND's entry points would bypass us. If we are
// switched off and there is one vendor, GLVND gets its imports as they are.
void fill_imports(__EGLapiImports &imports) {
    if (gl::settings().disabled && !has_several_vendors()) {
        imports = vendors().front()->imports;
        return;
    }
    imports.getPlatformDisplay = [](EGLenum platform, void *native, const EGLAttrib *attributes) {
        return guarded([=] { return get_platform_display(platform, native, attributes); },
                       [] {
                           set_own_error(EGL_BAD_ALLOC);
                           return EGLDisplay{EGL_NO_DISPLAY};
                       });
    };
    imports.getSupportsAPI = supports_api;
    imports.getVendorString = EglEntry<&get_vendor_string>::call;
    imports.getProcAddress = EglEntry<&get_proc_address>::call;
    imports.getDispatchAddress = get_dispatch_address;
    imports.setDispatchIndex = set_dispatch_index;
    imports.patchThreadAttach = patch_thread_attach;
    imports.findNativeDisplayPlatform = find_native_display_platform;
}

}  // namespace
}  // namespace cairn::egl

extern "C" __attribute__((visibility("default"))) EGLBoolean __egl_Main(
    uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
    __EGLapiImports *imports) {
    using namespace cairn::egl;
    if (EGL_VENDOR_ABI_GET_MAJOR_VERSION(version) != EGL_VENDOR_ABI_MAJOR_VERSION) return EGL_FALSE;
    const auto start = [&] {
        cairn::gl::load_settings("egl");
        const cairn::InsideFrontEnd inside;
        cairn::gl::attempt([] { cairn::gl::begin_driver_cache(); });
        const cairn::gl::TellingDriver telling;
        if (!load_vendors({version, exports, vendor})) return EGLBoolean{EGL_FALSE};
        const cairn::gl::Settings &settings = cairn::gl::settings();
        if (!settings.disabled && !settings.report.empty()) {
            cairn::attach_counters(settings.report.c_str());
        }
        fill_imports(*imports);
        return EGLBoolean{EGL_TRUE};
    };
    return cairn::guarded(start, [] { return EGLBoolean{EGL_FALSE}; });
}
