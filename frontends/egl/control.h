// EGL_ANGLE_program_cache_control as applications reach it: its entry points, its name among a
// display's extensions, and its attributes for displays and contexts.
// SPDX-License-Identifier: MIT
//
// GLVND calls a dispatch function for each entry point, which finds the display's vendor; when that
// is this library, GLVND asks it for the function itself. A display of a vendor beside us has no
// such function: the call fails with EGL_BAD_ACCESS.
//
// Thread safety: any thread. Failure: by EGL errors, as the extension says.
#pragma once

#include <glvnd/libeglabi.h>

#include <atomic>
#include <vector>

#include "vendors.h"

namespace cairn::egl {

struct EntryPoint {
    const char *name;
    void *function;
    void *dispatch;           // GLVND's part of it
    std::atomic<int> &index;  // GLVND's number; -1 while there is none
};
// Null when none has this name.
const EntryPoint *control_entry(const char *name);

// EGL_SUCCESS when the driver says that the display is initialised, else the reason.
EGLint initialisation(const Vendor &vendor, EGLDisplay display);

// A display's extensions with ours among them.
const char *with_control(const char *extensions);

// A list of attributes without one of ours: for eglCreateContext, eglGetPlatformDisplay.
template <typename T>
struct Attributes {
    Attributes(const T *attributes, T name) : is_given(attributes != nullptr) {
        for (const T *pair = attributes; pair != nullptr && pair[0] != T{EGL_NONE}; pair += 2) {
            if (pair[0] == name) {
                values.push_back(pair[1]);
            } else {
                list.insert(list.end(), pair, pair + 2);
            }
        }
        list.push_back(EGL_NONE);
    }

    // For the driver; null where the application gave null.
    const T *for_driver() const { return is_given ? list.data() : nullptr; }

    bool is_given;
    std::vector<T> values;  // of ours, as often as it is given
    std::vector<T> list;
};

// The maximum that these values of eglGetPlatformDisplay give a display's cache; below 0 where one
// of them is. REQUIRES: there are some.
EGLint limit_in(const std::vector<EGLAttrib> &values);

}  // namespace cairn::egl
