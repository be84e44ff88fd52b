// SPDX-License-Identifier: MIT
// The counters of one run: a cairn_report in memory that the processes of the application map and
// add to.
//
// The memory belongs to this process and is reached by others through /proc, so that it leaves no
// file behind and the counters are there however those processes end. It cannot be resized by
// anybody: a mapping of it never faults. Thread safety: externally synchronised; the report itself
// is only ever added to, atomically, by others. Ownership: the memory goes when this object and the
// last process that mapped it are gone. Failure: create() throws a Failure that says why; nothing
// is left behind.
#pragma once

#include <cairn/cairn.h>

#include <string>

namespace cairn::cli {

class SharedReport {
  public:
    static SharedReport create();

    SharedReport(SharedReport &&other) noexcept;
    SharedReport(const SharedReport &) = delete;
    SharedReport &operator=(const SharedReport &) = delete;
    SharedReport &operator=(SharedReport &&) = delete;
    ~SharedReport();

    // What CAIRN_REPORT is set to for the application. Valid while this object and this process
    // live.
    std::string path() const;

    // The counters as they are now.
    cairn_report read() const;

  private:
    SharedReport(int fd, cairn_report *report) : fd_(fd), report_(report) {}

    int fd_;
    cairn_report *report_;
};

}  // namespace cairn::cli
