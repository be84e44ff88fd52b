// SPDX-License-Identifier: MIT
#include "testing/front_end.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "settings.h"
#include "vendors.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The caches live for ever, and with them their threads, which nobody joins.
extern "C" const char *__tsan_default_options() {
    return "report_thread_leaks=0";
}
#endif
#endif

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

// Memory as `cairn run` has it.
int make_report() {
    const int fd = memfd_create("report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const uint64_t layout = kRunReportLayout;
    const bool made = ftruncate(fd, sizeof(RunReport)) == 0 &&
                      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
                      pwrite(fd, &layout, sizeof layout, 0) == ssize_t{sizeof layout};
    if (!made) abort();
    return fd;
}

int start() {
    const int report = make_report();
    setenv("CAIRN_EGL_VENDORS", "/nowhere", 1);
    setenv(kRunReportVariable, ("/proc/self/fd/" + std::to_string(report)).c_str(), 1);
    load_settings();
    attach_counters(settings().report.c_str());
    Host glvnd;
    glvnd.exports = fake_glvnd();
    load_vendors(glvnd);
    return report;
}

int report_fd() {
    static const int fd = start();
    return fd;
}

}  // namespace

void *g_dispatch_entry = nullptr;
bool g_knows_displays = true;

EGLint take_error() {
    return std::exchange(t_error, EGL_SUCCESS);
}

void start_front_end() {
    (void)report_fd();
}

RunReport read_report() {
    RunReport report = {};
    if (pread(report_fd(), &report, sizeof report, 0) != ssize_t{sizeof report}) abort();
    return report;
}

}  // namespace cairn::egl::testing
