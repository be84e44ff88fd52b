// SPDX-License-Identifier: MIT
// The counters of one run: a RunReport in memory that the processes of the application map and
// add to.
//
// The memory is a hidden file among the caches, since processes that may use the caches can open it
// there: also those that the kernel keeps from looking into this process, as it does in a
// container, or with fewer rights. Where the caches cannot be written it is memory of this process
// alone, which others reach through /proc if the kernel lets them. The counters are there however
// those processes end.
// Thread safety: externally synchronised; the report itself is only ever added to, atomically, by
// others.
// Ownership: the file is removed with this object; what a launcher that was killed has left is
// removed by the next one.
// Failure: create() throws a Failure that says why; nothing is left behind.
#pragma once

#include <string>

#include "common/run_report.h"
#include "os/file.h"
#include "os/mapping.h"

namespace cairn::cli {

class SharedReport {
  public:
    // `root` holds the caches; made where it is missing.
    static SharedReport create(const std::string &root);

    SharedReport(SharedReport &&other) = default;
    SharedReport(const SharedReport &) = delete;
    SharedReport &operator=(const SharedReport &) = delete;
    SharedReport &operator=(SharedReport &&) = delete;
    ~SharedReport();

    // The value of CAIRN_REPORT for the application. Valid while this object and this process live.
    const std::string &path() const { return path_; }

    // The counters as they are now.
    RunReport read() const;

  private:
    SharedReport(File file, std::string path, Directory directory, std::string name);

    File file_;
    std::string path_;
    // Where the file is; not valid: it is in memory.
    Directory directory_;
    std::string name_;
    Mapping mapping_;
};

}  // namespace cairn::cli
