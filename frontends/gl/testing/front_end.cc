// SPDX-License-Identifier: MIT
#include "gl/testing/front_end.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gl/settings.h"
#include "gl/testing/driver.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The caches live for ever, and with them their threads, which nobody joins.
extern "C" const char *__tsan_default_options() {
    return "report_thread_leaks=0";
}
#endif
#endif

namespace cairn::gl::testing {
namespace {

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
    setenv(kRunReportVariable, ("/proc/self/fd/" + std::to_string(report)).c_str(), 1);
    load_settings("test");
    attach_counters(settings().report.c_str());
    static Driver driver;
    fill(driver.gl);
    set_default_driver(driver);
    return report;
}

int report_fd() {
    static const int fd = start();
    return fd;
}

}  // namespace

void start_front_end() {
    (void)report_fd();
}

RunReport read_report() {
    RunReport report = {};
    if (pread(report_fd(), &report, sizeof report, 0) != ssize_t{sizeof report}) abort();
    return report;
}

void make_context(const Driver &driver, ContextHandle handle, ProgramMemory *programs) {
    context_created(driver, handle, {}, {.is_es = true}, programs);
    context_made_current(driver, handle);
}

void end_context(const Driver &driver, ContextHandle handle) {
    context_left(handle, hold_context(handle), true);
    context_made_current(driver, {});
}

}  // namespace cairn::gl::testing
