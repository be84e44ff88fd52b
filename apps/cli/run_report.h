// SPDX-License-Identifier: MIT
// The report of `cairn run`: the counters that the processes of the application add to, and what is
// said of them at exit, a few lines for people and JSON for programs.
// Thread safety: externally synchronised; the counters are only ever added to, atomically, by
// others.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "child.h"
#include "common/run_report.h"
#include "os/file.h"
#include "os/mapping.h"
#include "text.h"

namespace cairn::cli {

// A RunReport in memory that the processes of the application map and add to.
//
// The memory is a hidden file among the caches, since processes that may use the caches can open it
// there: also those that the kernel keeps from looking into this process, as it does in a
// container, or with fewer rights. Where the caches cannot be written it is memory of this process
// alone, which others reach through /proc if the kernel lets them. The counters are there however
// those processes end.
//
// The file is removed with this object; the next launcher removes what one that was killed has
// left.
class SharedReport {
  public:
    // `root` holds the caches; made where it is missing. Empty: in memory. Throws a Failure that says why it cannot
    // be had; nothing is left behind.
    explicit SharedReport(const std::string &root);
    SharedReport(const SharedReport &) = delete;
    SharedReport &operator=(const SharedReport &) = delete;
    ~SharedReport();

    // The value of CAIRN_REPORT for the application. Valid while this object and this process live.
    const std::string &path() const { return path_; }

    // The counters as they are now.
    RunReport read() const;

  private:
    bool make_file(const std::string &root);
    void make_memory();

    File file_;
    std::string path_;
    // Where the file is; not valid: it is in memory.
    Directory directory_;
    std::string name_;
    Mapping mapping_;
};

struct RunResult {
    Words command;
    int exit_code = 0;          // of `cairn run`
    std::optional<int> signal;  // that ended the application
    uint64_t wall_ns = 0;       // from start to end of the application
    Seen seen;                  // of its processes, while none used the front end
    std::string root;           // directory that holds the caches
    std::string manifest;       // of the front end; empty: ran uncached
    std::string glx;            // the front end's library for GLX; empty: GLX ran uncached
    std::string problem;        // why it ran uncached, or was not started; empty: it ran cached
    RunReport report = {};
};

// Lines without the line end and without "cairn: " in front; at least one.
Words report_lines(const RunResult &result);

// The object that docs/cli.md describes.
nlohmann::ordered_json report_json(const RunResult &result);

}  // namespace cairn::cli
