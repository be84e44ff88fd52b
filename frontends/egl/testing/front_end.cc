// SPDX-License-Identifier: MIT
#include "testing/front_end.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "counters.h"
#include "settings.h"
#include "vendors.h"

namespace cairn::egl::testing {
namespace {

// Memory as `cairn run` has it.
int make_report() {
    const int fd = memfd_create("report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const uint64_t layout = CAIRN_REPORT_LAYOUT;
    const bool made = ftruncate(fd, sizeof(cairn_report)) == 0 &&
                      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
                      pwrite(fd, &layout, sizeof layout, 0) == ssize_t{sizeof layout};
    if (!made) abort();
    return fd;
}

int start() {
    const int report = make_report();
    setenv("CAIRN_EGL_VENDORS", "/nowhere", 1);
    setenv(CAIRN_REPORT_ENV, ("/proc/self/fd/" + std::to_string(report)).c_str(), 1);
    load_settings();
    attach_counters();
    load_vendors({});
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

cairn_report read_report() {
    cairn_report report = {};
    if (pread(report_fd(), &report, sizeof report, 0) != ssize_t{sizeof report}) abort();
    return report;
}

}  // namespace cairn::egl::testing
