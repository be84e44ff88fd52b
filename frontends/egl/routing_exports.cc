// SPDX-License-Identifier: MIT
// How the dispatch functions of vendors find each other when there are several: they ask for the
// vendor of a display and for that vendor's function of a number. GLVND would answer with the one
// vendor that it knows, us; these answer with the real one.
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "context.h"
#include "egl_hooks.h"
#include "mutex.h"
#include "vendors.h"

namespace cairn::egl {
namespace {

using Function = __eglMustCastToProperFunctionPointerType;

struct Dispatch {
    Mutex mutex;
    std::map<int, std::string> names;                              // guarded by mutex
    std::map<std::pair<const Vendor *, int>, Function> functions;  // guarded by mutex
};

// Lives for ever, see main.cc.
Dispatch &dispatch() {
    static auto *the_dispatch = new Dispatch;
    return *the_dispatch;
}

__EGLvendorInfo *opaque(Vendor *vendor) {
    return reinterpret_cast<__EGLvendorInfo *>(vendor);
}

Vendor *vendor_in(__EGLvendorInfo *opaque_vendor) {
    return reinterpret_cast<Vendor *>(opaque_vendor);
}

__EGLvendorInfo *get_current_vendor() {
    return opaque(current_vendor());
}

__EGLvendorInfo *get_vendor_from_display(EGLDisplay display) {
    // GLVND knows whether the display is one at all.
    return host().exports->getVendorFromDisplay(display) == nullptr
               ? nullptr
               : opaque(&vendor_of_display(display));
}

__EGLvendorInfo *get_vendor_from_device(EGLDeviceEXT device) {
    return opaque(vendor_of_device(device));
}

EGLBoolean set_vendor_for_device(EGLDeviceEXT device, __EGLvendorInfo *vendor) {
    remember_device(device, *vendor_in(vendor));
    const auto tell_host = EGL_VENDOR_ABI_GET_MINOR_VERSION(host().version) >= 2
                               ? host().exports->setVendorForDevice
                               : nullptr;
    return tell_host == nullptr ? EGLBoolean{EGL_TRUE} : tell_host(device, host().self);
}

EGLBoolean set_last_vendor_of_call(__EGLvendorInfo *vendor) {
    set_last_vendor(*vendor_in(vendor));
    return host().exports->setLastVendor(host().self);
}

Function fetch_dispatch_entry(__EGLvendorInfo *vendor, int index) {
    Dispatch &all = dispatch();
    const MutexLock lock(all.mutex);
    const auto name = all.names.find(index);
    if (vendor == nullptr || name == all.names.end()) {
        return nullptr;
    }
    const auto [entry, is_new] = all.functions.try_emplace({vendor_in(vendor), index}, nullptr);
    if (is_new) {
        void *function = vendor_in(vendor)->function(name->second.c_str());
        void *hook = function == nullptr ? nullptr : egl_hook(name->second.c_str());
        entry->second = reinterpret_cast<Function>(hook == nullptr ? function : hook);
    }
    return entry->second;
}

}  // namespace

const __EGLapiExports *routing_exports() {
    static const __EGLapiExports *the_exports = [] {
        auto *exports = new __EGLapiExports;
        // The last function came with version 0.2.
        const bool has_last = EGL_VENDOR_ABI_GET_MINOR_VERSION(host().version) >= 2;
        memset(exports, 0, sizeof *exports);
        memcpy(exports, host().exports,
               has_last ? sizeof *exports : offsetof(__EGLapiExports, setVendorForDevice));
        exports->getCurrentVendor = get_current_vendor;
        exports->fetchDispatchEntry = fetch_dispatch_entry;
        exports->setLastVendor = set_last_vendor_of_call;
        exports->getVendorFromDisplay = get_vendor_from_display;
        exports->getVendorFromDevice = get_vendor_from_device;
        exports->setVendorForDevice = set_vendor_for_device;
        return exports;
    }();
    return the_exports;
}

void remember_dispatch_index(const char *name, int index) {
    Dispatch &all = dispatch();
    const MutexLock lock(all.mutex);
    all.names[index] = name;
}

}  // namespace cairn::egl
