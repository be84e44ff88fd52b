// store_bench: the same workloads on Cairn and on what one would use instead, interleaved; see
// README.md.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <set>
#include <string>

#include "bench/harness/budget.h"
#include "bench/harness/machine.h"
#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace {

struct NamedTask {
    const char *name;
    nlohmann::json (*run)(const bench::Task &);
};

constexpr NamedTask kTasks[] = {
    {"fill", bench::fill_task},     {"open", bench::open_task},     {"cold", bench::cold_task},
    {"hot", bench::hot_task},       {"disk", bench::disk_task},     {"put", bench::put_task},
    {"reader", bench::reader_task}, {"writer", bench::writer_task}, {"check", bench::check_task},
    {"cap", bench::cap_task},
};

nlohmann::json run_task(const nlohmann::json &given) {
    bench::Dataset dataset(bench::kPoolFd);
    bench::ControlBlock control(bench::kControlFd);
    const std::string name = given["task"];
    bench::Task task{given, bench::engine_kind(given["engine"]), dataset, control};
    for (const NamedTask &known : kTasks) {
        if (name == known.name) {
            return known.run(task);
        }
    }
    throw std::invalid_argument("no task '" + name + "'");
}

// A child: one task, its result to the parent.
int child_main(const char *given) {
    try {
        const auto task = nlohmann::json::parse(given);
        if (task.value("quiet", false) && std::freopen("/dev/null", "w", stderr) == nullptr) {
            return 1;
        }
        bench::write_result(run_task(task));
        return 0;
    } catch (const std::exception &error) {
        bench::write_result({{"error", error.what()}});
        return 1;
    }
}

struct NamedRun {
    const char *name;
    void (*run)(bench::Session &);
};

// `put` uses up the stores of 100,000 entries, so that what reads them comes first.
constexpr NamedRun kRuns[] = {
    {"open", bench::run_open}, {"cold", bench::run_cold},     {"gets", bench::run_hot},
    {"disk", bench::run_disk}, {"puts", bench::run_put},      {"processes", bench::run_processes},
    {"cap", bench::run_cap},   {"damage", bench::run_damage}, {"kill", bench::run_kill},
};

void run_all(bench::Session &session) {
    std::set<std::string> printed;
    for (const NamedRun &part : kRuns) {
        const std::uint64_t start = bench::now_ns();
        part.run(session);
        for (const bench::Workload &workload : bench::workloads()) {
            if (!session.report().sizes(workload.name).empty() &&
                printed.insert(workload.name).second) {
                std::printf("\n### %s: %s\n", workload.name, workload.about);
                session.report().print(workload.name, workload.ratio_metric);
            }
        }
        std::fprintf(stderr, "store_bench: %s: %.0f s\n", part.name,
                     static_cast<double>(bench::now_ns() - start) / 1e9);
    }
}

int bench_main(const bench::Settings &settings, const std::filesystem::path &json) {
    bench::print_machine(std::filesystem::current_path());
    bench::Session session(settings);
    std::printf("- data: %zu MiB of machine code, keys of %zu bytes\n",
                session.dataset().pool_size() >> 20, bench::kKeySize);
    run_all(session);
    const unsigned unmet = bench::judge_budget(session.report());
    if (!json.empty()) {
        session.report().write_json(json);
    }
    const double failures = bench::cairn_failures(session.report());
    std::printf("\nbudget rows not met: %u; wrong, lost or died in cairn: %.0f\n", unmet, failures);
    return failures == 0 ? 0 : 1;
}

std::set<std::string> known_workloads() {
    std::set<std::string> names;
    for (const bench::Workload &workload : bench::workloads()) {
        names.insert(workload.name);
    }
    return names;
}

std::set<std::string> known_engines() {
    std::set<std::string> names;
    for (const bench::EngineKind &kind : bench::engine_kinds()) {
        names.insert(kind.name);
    }
    return names;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc == 3 && std::strcmp(argv[1], "--task") == 0) {
        return child_main(argv[2]);
    }
    bench::Settings settings;
    settings.dir = std::filesystem::temp_directory_path();
    std::filesystem::path json;
    CLI::App app(
        "Measures Cairn's store beside LMDB, LevelDB, RocksDB, SQLite, one file per entry and the "
        "physical limits.");
    app.add_option("--workloads", settings.workloads, "Only these, separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(known_workloads()));
    app.add_option("--engines", settings.engines, "Only these, separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(known_engines()));
    app.add_option("--entries", settings.entries,
                   "Numbers of entries, instead of each workload's own")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--rounds", settings.rounds, "Rounds, instead of each workload's own");
    app.add_flag("--quick", settings.quick, "Fewer rounds and sizes: one to two minutes");
    app.add_option("--json", json, "Where to write every figure");
    app.add_option("--dir", settings.dir,
                   "Where the stores are made (default: the temporary directory)");
    CLI11_PARSE(app, argc, argv);
    try {
        return bench_main(settings, json);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "store_bench: %s\n", error.what());
        return 2;
    }
}
