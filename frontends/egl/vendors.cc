// SPDX-License-Identifier: MIT
#include "vendors.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gl/contexts.h"
#include "gl/mutex.h"
#include "gl/settings.h"
#include "gl/slots.h"
#include "manifest.h"

namespace cairn::egl {
namespace {

// All of this lives for ever, see main.cc.
struct Loaded {
    Host host;
    std::vector<Vendor *> vendors;
    bool are_in_glvnd = false;
    gl::Mutex mutex;
    std::unordered_map<EGLDisplay, Vendor *> displays;   // guarded by mutex
    std::unordered_map<EGLDeviceEXT, Vendor *> devices;  // guarded by mutex
};
Loaded *g_loaded = nullptr;
thread_local Vendor *t_last_vendor = nullptr;
thread_local EGLint t_own_error = EGL_SUCCESS;

// The vendor's dispatch functions ask GLVND for the function of a display, and so get ours. GLVND
// may start the same vendor once more for itself, with the same exports.
Vendor *start(const std::string &path, const Host &host) {
    const auto entry = reinterpret_cast<__PFNEGLMAINPROC>(
        gl::function_in(path, __EGL_MAIN_PROTO_NAME, Severity::error));
    // This library under another name would call itself for ever.
    if (entry == nullptr || entry == &__egl_Main) return nullptr;
    auto vendor = gl::start_vendor<Vendor>(path, entry, host);
    return vendor != nullptr && gl::add_to_slots(*vendor) ? vendor.release() : nullptr;
}

}  // namespace

bool Vendor::resolve() {
#define X(name, type) egl.name = reinterpret_cast<type>(find("egl" #name));
    EGL_DISPLAY_FUNCTIONS(X)
    EGL_OTHER_FUNCTIONS(X)
#undef X
    return imports.getPlatformDisplay != nullptr && imports.getSupportsAPI != nullptr;
}

bool load_vendors(const Host &host) {
    const VendorLibraries libraries = vendor_libraries(vendor_lists());
    if (gl::settings().disabled && libraries.are_in_glvnd) {
        gl::log().write(Severity::info, "switched off: the vendors are GLVND's own");
        return false;
    }
    auto *loaded = new Loaded;
    loaded->are_in_glvnd = libraries.are_in_glvnd;
    loaded->host = host;
    // Before any vendor runs: its start may ask.
    g_loaded = loaded;
    for (const std::string &path : libraries.real) {
        Vendor *vendor = start(path, host);
        if (vendor != nullptr) {
            loaded->vendors.push_back(vendor);
            gl::log().write(Severity::info, "in front of %s", path.c_str());
        }
    }
    if (loaded->vendors.empty()) {
        gl::log().write(Severity::error, "no vendor library is found");
        return false;
    }
    gl::set_default_driver(*loaded->vendors.front());
    return true;
}

bool are_vendors_loaded() {
    return g_loaded != nullptr && !g_loaded->vendors.empty();
}

bool are_vendors_in_glvnd() {
    return g_loaded->are_in_glvnd;
}

EGLBoolean supports_api(EGLenum api) {
    for (const Vendor *vendor : vendors()) {
        if (vendor->imports.getSupportsAPI(api) != EGL_FALSE) return EGL_TRUE;
    }
    return EGL_FALSE;
}

const Host &host() {
    return g_loaded->host;
}

std::span<Vendor *const> vendors() {
    return g_loaded->vendors;
}

void *vendor_function(const char *name) {
    for (const Vendor *vendor : vendors()) {
        if (void *function = vendor->find(name)) return function;
    }
    return nullptr;
}

Vendor &vendor_of_display(EGLDisplay display) {
    Loaded &loaded = *g_loaded;
    if (loaded.vendors.size() == 1) return *loaded.vendors.front();
    const MutexLock lock(loaded.mutex);
    const auto found = loaded.displays.find(display);
    return found == loaded.displays.end() ? *loaded.vendors.front() : *found->second;
}

void remember_display(EGLDisplay display, Vendor &vendor) {
    const MutexLock lock(g_loaded->mutex);
    g_loaded->displays[display] = &vendor;
}

Vendor *vendor_of_device(EGLDeviceEXT device) {
    const MutexLock lock(g_loaded->mutex);
    const auto found = g_loaded->devices.find(device);
    return found == g_loaded->devices.end() ? nullptr : found->second;
}

void remember_device(EGLDeviceEXT device, Vendor &vendor) {
    const MutexLock lock(g_loaded->mutex);
    g_loaded->devices[device] = &vendor;
}

Vendor *current_vendor() {
    // All contexts here are of vendors of EGL.
    const gl::Context *context = gl::bound_context();
    return context == nullptr ? nullptr
                              : const_cast<Vendor *>(static_cast<const Vendor *>(context->driver));
}

Vendor &last_vendor() {
    return t_last_vendor == nullptr ? *g_loaded->vendors.front() : *t_last_vendor;
}

void set_last_vendor(Vendor &vendor) {
    t_last_vendor = &vendor;
    t_own_error = EGL_SUCCESS;
}

Vendor &vendor_to_call(EGLDisplay display) {
    Vendor &vendor = vendor_of_display(display);
    set_last_vendor(vendor);
    return vendor;
}

void set_own_error(EGLint error) {
    t_own_error = error;
}

EGLint take_own_error() {
    return std::exchange(t_own_error, EGL_SUCCESS);
}

}  // namespace cairn::egl
