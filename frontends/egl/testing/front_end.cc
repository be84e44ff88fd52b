// SPDX-License-Identifier: MIT
#include "testing/front_end.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "gl/testing/front_end.h"
#include "vendors.h"

namespace cairn::egl::testing {
namespace {

thread_local EGLint t_error = EGL_SUCCESS;

// The functions of GLVND that the front end calls in these tests.
const __EGLapiExports *fake_glvnd() {
    static const __EGLapiExports *the_exports = [] {
        auto *exports = new __EGLapiExports;
        memset(exports, 0, sizeof *exports);
        exports->threadInit = [] {};
        exports->getCurrentApi = []() -> EGLenum { return EGL_OPENGL_ES_API; };
        exports->setEGLError = [](EGLint error) { t_error = error; };
        exports->setLastVendor = [](__EGLvendorInfo *) -> EGLBoolean { return EGL_TRUE; };
        exports->getVendorFromDisplay = [](EGLDisplay display) {
            return g_knows_displays ? static_cast<__EGLvendorInfo *>(display) : nullptr;
        };
        exports->fetchDispatchEntry = [](__EGLvendorInfo *, int) {
            return reinterpret_cast<__eglMustCastToProperFunctionPointerType>(g_dispatch_entry);
        };
        return exports;
    }();
    return the_exports;
}

bool start() {
    setenv("CAIRN_EGL_VENDORS", "/nowhere", 1);
    gl::testing::start_front_end();
    Host glvnd;
    glvnd.exports = fake_glvnd();
    load_vendors(glvnd);
    return true;
}

}  // namespace

void *g_dispatch_entry = nullptr;
bool g_knows_displays = true;

EGLint take_error() {
    return std::exchange(t_error, EGL_SUCCESS);
}

void start_front_end() {
    static const bool is_started = start();
    (void)is_started;
}

}  // namespace cairn::egl::testing
