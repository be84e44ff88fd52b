// Runs the client as an application would be run: as a process, without Cairn or under it, and
// collects all that it shows.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: aborts when a process cannot be had; what the
// client does is a result.
#pragma once

#include <cairn/cairn.h>

#include <map>
#include <string>

#include "common/run_report.h"
#include "support/temp_directory.h"

namespace egl_test {

using Environment = std::map<std::string, std::string>;

enum class Client { linked, dlopened };

struct Played {
    std::string transcript;  // standard output
    std::string complaints;  // standard error
    std::string status;      // "" for exit code 0, else how it ended
    cairn::RunReport report = {};
};

// One test's cache directory and what is set around its runs.
class Stage {
  public:
    explicit Stage(Client client) : client_(client) {}

    // Without Cairn.
    Played plain(const std::string &scenario);
    // Under Cairn, with this stage's cache. Mesa's own cache is empty at each run.
    Played cached(const std::string &scenario, const Environment &more = {},
                  const std::string &end = "return");

    std::string cache_root() const { return directory_ / "cache"; }
    const cairn_test::TempDirectory &directory() const { return directory_; }
    // For both kinds of run.
    Environment extra;

  private:
    Played run(const std::string &scenario, const std::string &end, Environment environment);

    Client client_;
    cairn_test::TempDirectory directory_;
    int runs_ = 0;
};

// A manifest that names `library`, written to `path`.
void write_manifest(const std::string &path, const std::string &library);

}  // namespace egl_test
