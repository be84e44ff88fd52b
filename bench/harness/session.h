// One run of the benchmark: what was asked for, the stores prepared for it, and the running of
// tasks in child processes.
// Thread safety: externally synchronised. Ownership: everything it writes is below its folder,
// which it removes at the end.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/engines/engine.h"
#include "bench/harness/child.h"
#include "bench/harness/dataset.h"
#include "bench/harness/report.h"

namespace bench {

struct Settings {
    std::vector<std::string> engines;    // empty: all
    std::vector<std::string> workloads;  // empty: all
    std::vector<std::uint64_t> entries;  // empty: as each workload has it
    unsigned rounds = 0;                 // 0: as each workload has it
    bool quick = false;
    std::filesystem::path dir;
};

class Session {
  public:
    explicit Session(Settings settings);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    const Settings &settings() const { return settings_; }
    Report &report() { return report_; }
    const Dataset &dataset() const { return dataset_; }
    ControlBlock &control() { return control_; }

    bool wants(const std::string &workload) const;
    unsigned rounds(unsigned full, unsigned quick) const;
    std::vector<std::uint64_t> sizes(const std::vector<std::uint64_t> &full,
                                     const std::vector<std::uint64_t> &quick) const;

    // Engines that take part and fit, beginning with another one each round, so that none profits
    // from its place.
    using Fits = std::function<bool(const Traits &)>;
    std::vector<const EngineKind *> engines(unsigned round, const Fits &fits) const;

    // A store holding entries 0 to `entries` - 1, made at the first call. Nothing when the engine
    // cannot hold them.
    std::optional<std::filesystem::path> fixture(const EngineKind &kind, std::uint64_t entries,
                                                 Shape shape);
    void drop_fixtures(std::uint64_t entries);

    // A new empty folder, and its end.
    std::filesystem::path scratch();
    void remove(const std::filesystem::path &dir);

    // A task for run_task(); `dir` may be empty.
    static nlohmann::json task(const std::string &name, const EngineKind &kind,
                               const std::filesystem::path &dir, std::uint64_t entries,
                               Shape shape = Shape::program);
    Child start(const nlohmann::json &task);
    // Runs a task to its end; tells on standard error when it failed.
    ChildResult run(const nlohmann::json &task);

    // The engine said it cannot do this; said once.
    void complain(const std::string &what, const std::string &why);

  private:
    std::filesystem::path numbered(std::string name);

    Settings settings_;
    Dataset dataset_;
    ControlBlock control_;
    Report report_;
    std::map<std::string, std::optional<std::filesystem::path>> fixtures_;
    std::set<std::string> complaints_;
    unsigned folder_count_ = 0;
};

inline constexpr int kTaskTimeoutS = 300;

}  // namespace bench
