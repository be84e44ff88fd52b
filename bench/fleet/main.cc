// How often a fleet compiles each program before everybody has it, and what that asks of a remote.
// SPDX-License-Identifier: MIT
//
// fleet_bench URL [--machines N] [--programs N] [--window S] [--ways alone,scripts,agent,asking] [--ask MS] [--seed N]:
// the machines' time is simulated; what they push to and pull from the remote is real. The remote should be
// on this machine, and keeps what was pushed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/fleet/simulation.h"
#include "cache/agent_notice.h"
#include "keys.h"

namespace {

using bench::fleet::Outcome;
using bench::fleet::Plan;
using bench::fleet::Way;

constexpr const char *kUsage =
    "usage: fleet_bench URL [--machines N] [--programs N] [--window SECONDS] [--starts N]\n"
    "                   [--ways alone,scripts,agent,asking] [--ask MS] [--seed N]\n";

struct NamedWay {
    const char *name;
    Way way;
};
constexpr NamedWay kWays[] = {{"alone", Way::alone},
                              {"scripts", Way::scripts},
                              {"agent", Way::agent},
                              {"asking", Way::asking}};

double sum(const std::vector<double> &values) {
    double all = 0;
    for (const double each : values) all += each;
    return all;
}

double largest(const std::vector<double> &values) {
    double found = 0;
    for (const double each : values) found = std::max(found, each);
    return found;
}

void print(const char *name, const Plan &plan, const Outcome &outcome) {
    const double machines = plan.machines, programs = plan.programs;
    const auto each = [&](std::uint64_t count) { return static_cast<double>(count) / machines; };
    std::printf(
        "| %s | %.2f | %llu | %.2f | %.1f | %.1f / %.0f | %.0f | %.0f | %llu | %llu | %.0f | %llu "
        "| %.1f / %.1f / %.1f / %.1f / %.1f |\n",
        name, static_cast<double>(outcome.compiles) / programs,
        static_cast<unsigned long long>(outcome.most_compiles),
        static_cast<double>(outcome.compiles_later) / programs, outcome.last_compile_s / 60,
        sum(outcome.requests) / machines, largest(outcome.requests),
        sum(outcome.bytes_in) / machines / 1024, sum(outcome.bytes_out) / machines / 1024,
        static_cast<unsigned long long>(outcome.most_requests_in_a_second),
        static_cast<unsigned long long>(outcome.manifests),
        static_cast<double>(outcome.stored_bytes) / 1024,
        static_cast<unsigned long long>(outcome.failures), each(outcome.pulls), each(outcome.looks),
        each(outcome.pushes), each(outcome.fetches), each(outcome.answered));
    std::fflush(stdout);
}

// A home in which this process has a key of its own.
void make_key(const std::string &folder) {
    std::filesystem::create_directories(folder + "/cairn");
    std::filesystem::permissions(folder + "/cairn", std::filesystem::perms::owner_all);
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    std::ofstream(folder + "/cairn/config") << "share = 1\n";
    const cairn::cli::KeysLock lock(cairn::cli::KeysUse::change);
    cairn::cli::store_own_key("ci", cairn::cli::SecretKey::make());
}

bool take_options(int argc, char **argv, Plan &plan, std::string &ways) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] { return ++i < argc ? std::strtoul(argv[i], nullptr, 10) : 0; };
        if (word == "--machines") {
            plan.machines = static_cast<unsigned>(number());
        } else if (word == "--programs") {
            plan.programs = static_cast<unsigned>(number());
        } else if (word == "--starts") {
            plan.starts = static_cast<unsigned>(number());
        } else if (word == "--window") {
            plan.window_s = static_cast<double>(number());
        } else if (word == "--ask") {
            plan.ask_s = static_cast<double>(number()) / 1000;
        } else if (word == "--seed") {
            plan.seed = number();
        } else if (word == "--ways" && i + 1 < argc) {
            ways = argv[++i];
        } else if (word.starts_with("--") || !plan.url.empty()) {
            return false;
        } else {
            plan.url = word;
        }
    }
    return !plan.url.empty() && plan.machines != 0 && plan.programs != 0;
}

// One way, in homes and in a namespace of its own.
int measure(const NamedWay &way, Plan plan, const std::string &folder) {
    plan.way = way.way;
    plan.folder = folder + "/" + way.name;
    // What an earlier run has left is not seen.
    plan.name_space = "bench-" + folder.substr(folder.rfind('-') + 1) + "-" + way.name;
    std::filesystem::create_directories(plan.folder);
    const Outcome outcome = bench::fleet::simulate(plan);
    print(way.name, plan, outcome);
    return outcome.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    cairn::tell_agent_nothing();
    Plan plan;
    std::string ways = "alone,scripts,agent,asking";
    if (!take_options(argc, argv, plan, ways)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    std::string folder = "/tmp/cairn-fleet-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    int status = 0;
    try {
        make_key(folder + "/config");
        std::printf(
            "%u machines start %u times, the first time within %.0f s; %u programs\n\n"
            "| way | compiles of a program | at most | after first starts | last compile, min | "
            "requests of a "
            "machine, mean / most | KB in | KB out | most requests in a second | manifests | KB "
            "stored | failures | pulls / looks / pushes / fetches / answers of a machine |\n"
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
            plan.machines, plan.starts, plan.window_s, plan.programs);
        std::istringstream list(ways);
        for (std::string name; std::getline(list, name, ',');) {
            for (const NamedWay &way : kWays) {
                if (name == way.name) status |= measure(way, plan, folder);
            }
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "fleet_bench: %s\n", error.what());
        status = 1;
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return status;
}
