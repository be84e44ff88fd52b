// The rows about more than one process start another one for this: this program again, with its
// environment changed.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
#pragma once

#include <unistd.h>

#include <map>
#include <span>
#include <string>

#include "support/run_report.h"
#include "support/temp_directory.h"

namespace conformance {

// Where this program is. Once, at the start.
void set_own_path(const char *path);

// In the other process: does what the scene says and prints what it sees. The exit code.
int play_scene(const std::string &name);

struct Scene {
    const char *name;
    int (*play)();
};
std::span<const Scene> blob_scenes();

// Has another process play a scene; what it prints, or how it failed.
std::string play_elsewhere(const std::string &scene,
                           const std::map<std::string, std::string> &environment);

// A cache directory of its own, a driver without one, and the counters of the last process.
class Stage {
  public:
    std::string play(const std::string &scene, std::map<std::string, std::string> more = {});
    std::string root() const { return directory_ / "cache"; }
    bool is_empty() const { return access(root().c_str(), F_OK) != 0; }

    cairn::RunReport report = {};

  private:
    cairn_test::TempDirectory directory_;
    int turn_ = 0;
};

}  // namespace conformance
