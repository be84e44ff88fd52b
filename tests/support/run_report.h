// Counters of the front end in memory that only this process owns, as `cairn run` has them.
// SPDX-License-Identifier: MIT
//
// Thread safety: immutable after construction. Failure: aborts when memory cannot be had.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/run_report.h"

namespace cairn_test {

class RunReport {
  public:
    RunReport() : fd_(memfd_create("egl-test-report", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
        if (fd_ < 0 || ftruncate(fd_, sizeof(cairn::RunReport)) != 0) {
            std::perror("report");
            std::abort();
        }
        fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        const uint64_t layout = cairn::kRunReportLayout;
        if (pwrite(fd_, &layout, sizeof layout, 0) != sizeof layout) {
            std::perror("report");
            std::abort();
        }
    }
    ~RunReport() { close(fd_); }
    RunReport(const RunReport &) = delete;
    RunReport &operator=(const RunReport &) = delete;

    std::string path() const {
        return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
    }
    cairn::RunReport read() const {
        cairn::RunReport report = {};
        if (pread(fd_, &report, sizeof report, 0) != sizeof report) {
            std::perror("report");
            std::abort();
        }
        return report;
    }

  private:
    int fd_;
};

}  // namespace cairn_test
