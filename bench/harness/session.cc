// SPDX-License-Identifier: MIT
#include "bench/harness/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "bench/harness/folders.h"

namespace bench {
namespace {

// A folder of more files than this is removed at the end only: ext4 looks at every inode that was
// freed in the last seconds when it makes a file, so that what one round removes would make the
// next one twenty times slower.
constexpr std::uint64_t kFilesToKeep = 500;

std::filesystem::path make_own_folder(const std::filesystem::path &parent) {
    std::filesystem::create_directories(parent);
    std::string pattern = (parent / "store_bench.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("cannot make a folder in " + parent.string());
    }
    return pattern;
}

}  // namespace

Session::Session(Settings settings) : settings_(std::move(settings)) {
    settings_.dir = make_own_folder(settings_.dir);
}

Session::~Session() {
    try {
        remove_folder(settings_.dir);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "store_bench: cannot remove its folder: %s\n", error.what());
    }
}

bool Session::wants(const std::string &workload) const {
    const auto &asked = settings_.workloads;
    return asked.empty() || std::find(asked.begin(), asked.end(), workload) != asked.end();
}

unsigned Session::rounds(unsigned full, unsigned quick) const {
    if (settings_.rounds != 0) {
        return settings_.rounds;
    }
    return settings_.quick ? quick : full;
}

std::vector<std::uint64_t> Session::sizes(const std::vector<std::uint64_t> &full,
                                          const std::vector<std::uint64_t> &quick) const {
    if (!settings_.entries.empty()) {
        return settings_.entries;
    }
    return settings_.quick ? quick : full;
}

std::vector<const EngineKind *> Session::engines(unsigned round, const Fits &fits) const {
    const auto &asked = settings_.engines;
    std::vector<const EngineKind *> chosen;
    for (const EngineKind &kind : engine_kinds()) {
        bool wanted =
            asked.empty() || std::find(asked.begin(), asked.end(), kind.name) != asked.end();
        if (wanted && fits(kind.traits)) {
            chosen.push_back(&kind);
        }
    }
    if (!chosen.empty()) {
        auto first = static_cast<std::ptrdiff_t>(round % chosen.size());
        std::rotate(chosen.begin(), chosen.begin() + first, chosen.end());
    }
    return chosen;
}

std::optional<std::filesystem::path> Session::fixture(const EngineKind &kind, std::uint64_t entries,
                                                      Shape shape) {
    if (entries > kind.traits.entries_max) {
        return std::nullopt;
    }
    std::string name = kind.name;
    name += '-';
    name += std::to_string(entries);
    name += shape == Shape::tiny ? "-tiny" : "";
    if (auto made = fixtures_.find(name); made != fixtures_.end()) {
        return made->second;
    }
    std::filesystem::path dir = settings_.dir / name;
    std::filesystem::create_directory(dir);
    std::filesystem::permissions(dir, std::filesystem::perms::owner_all);
    ChildResult filled = run(task("fill", kind, dir, entries, shape));
    sync_folder(dir);
    auto &slot = fixtures_[name];
    if (filled.ok) {
        slot = dir;
    } else {
        remove(dir);
    }
    return slot;
}

void Session::drop_fixtures(std::uint64_t entries) {
    std::string number(1, '-');
    number += std::to_string(entries);
    for (auto at = fixtures_.begin(); at != fixtures_.end();) {
        const std::string &name = at->first;
        bool of_this_size = name.ends_with(number) || name.ends_with(number + "-tiny");
        if (of_this_size && at->second) {
            remove(*at->second);
        }
        at = of_this_size ? fixtures_.erase(at) : std::next(at);
    }
}

std::filesystem::path Session::numbered(std::string name) {
    name += std::to_string(++folder_count_);
    return settings_.dir / name;
}

std::filesystem::path Session::scratch() {
    std::filesystem::path dir = numbered("scratch-");
    std::filesystem::create_directory(dir);
    std::filesystem::permissions(dir, std::filesystem::perms::owner_all);
    return dir;
}

void Session::remove(const std::filesystem::path &dir) {
    std::error_code error;
    if (disk_usage(dir).files > kFilesToKeep) {
        std::filesystem::rename(dir, numbered("removed-"), error);
    } else {
        std::filesystem::remove_all(dir, error);
    }
}

nlohmann::json Session::task(const std::string &name, const EngineKind &kind,
                             const std::filesystem::path &dir, std::uint64_t entries, Shape shape) {
    return {{"task", name},
            {"engine", kind.name},
            {"dir", dir.string()},
            {"entries", entries},
            {"tiny", shape == Shape::tiny}};
}

Child Session::start(const nlohmann::json &task) {
    return Child(task, dataset_.pool_fd(), control_.fd());
}

ChildResult Session::run(const nlohmann::json &task) {
    ChildResult result = start(task).wait(kTaskTimeoutS);
    if (!result.ok) {
        complain(task["task"].get<std::string>() + " " + task["engine"].get<std::string>() + " " +
                     std::to_string(task["entries"].get<std::uint64_t>()),
                 result.error);
    }
    return result;
}

void Session::complain(const std::string &what, const std::string &why) {
    if (complaints_.insert(what).second) {
        std::fprintf(stderr, "store_bench: %s: %s\n", what.c_str(), why.c_str());
    }
}

}  // namespace bench
