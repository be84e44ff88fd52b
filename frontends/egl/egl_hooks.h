// The EGL entry points of the front end: those that follow displays and contexts, and with several
// vendors one for each EGL function.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "gl/hook.h"
#include "vendors.h"

namespace cairn::egl {

// The function that GLVND calls: `kFunction`, or EGL_BAD_ALLOC where that lacks memory.
template <auto kFunction>
struct EglEntry;

template <typename R, typename... A, R (*kFunction)(A...)>
struct EglEntry<kFunction> {
    static R call(A... arguments) {
        return guarded([&] { return kFunction(arguments...); },
                       [] {
                           host().exports->setEGLError(EGL_BAD_ALLOC);
                           return R();
                       });
    }
};

#define EGL_ENTRY(name, ...) \
    { name, reinterpret_cast<void *>(&EglEntry<&__VA_ARGS__>::call) }

// Our function for this "egl..." name; null where the vendor's own is used.
void *egl_hook(const char *name);
// The function for GLVND, which takes it by name: a hook, a vendor's, or one that finds the vendor.
// Null when no vendor has it.
void *egl_function(const char *name);
// The client extensions of all vendors.
const char *client_extensions();
// The devices of all vendors, in their order. Remembers the vendor of each.
std::vector<EGLDeviceEXT> all_devices();

// For __EGLapiImports.
EGLDisplay get_platform_display(EGLenum platform, void *native, const EGLAttrib *attributes);

}  // namespace cairn::egl
