// SPDX-License-Identifier: MIT
// Plays a family of programs in a process of its own, without Cairn or under it.
// Thread safety: belongs to one thread. Failure: std::runtime_error where the process fails; a
// process that takes longer than five minutes is ended.
#pragma once

#include <string>
#include <vector>

#include "bench/link/sequence.h"
#include "common/run_report.h"

namespace bench {

enum class Condition {
    plain,  // without Cairn
    cold,   // Cairn, with an empty cache
    warm,   // Cairn, with all programs in its cache
    driver  // without Cairn; the application gives the driver its binaries
};
inline constexpr std::size_t kConditions = 4;
inline constexpr std::array<const char *, kConditions> kConditionNames = {"without", "cold", "warm",
                                                                          "driver"};

struct PlayedProgram {
    std::string name;
    Spent spent;
    bool linked = false;
    std::string built, reflected, drawn;  // what GL answered, in lines
};

struct PlayedFamily {
    std::string renderer;
    std::vector<PlayedProgram> programs;
    std::int64_t context_ns = 0;        // wall time until there is a context
    std::int64_t context_cpu_ns = 0;    // the calling thread's
    std::int64_t other_threads_ns = 0;  // processor time while the programs were played
    cairn::RunReport counters = {};     // the front end's
};

struct Wish {
    std::string family;
    Condition condition = Condition::plain;
    std::vector<std::size_t> programs;  // by their places in the family
    std::string cache;                  // a folder for Cairn
    bool draw = false;
    bool save_binaries = false;  // for Condition::driver
};

class Theatre {
  public:
    // `folder` is for caches and binaries.
    Theatre(std::string folder, bool driver_cache, bool hardware);

    PlayedFamily play(const Wish &wish) const;

  private:
    void set_environment(const Wish &wish) const;
    void switch_off_driver_cache() const;

    std::string folder_;
    bool driver_cache_;
    bool hardware_;
};

// What the process does that Theatre::play() starts: this program with `--play TASK`.
int play_task(const std::string &path);

}  // namespace bench
