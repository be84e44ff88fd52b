// kill -9 while writing: how many acknowledged entries the next process finds, and whether it can
// go on.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <thread>

#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr std::uint64_t kEntries = 0;  // the store is empty at first

bool fits(const Traits &traits) {
    return traits.persistent && traits.writes;
}

// Lets a writer run for a while and kills it; how many puts it was told had succeeded.
std::uint64_t write_and_kill(Session &session, const EngineKind &kind,
                             const std::filesystem::path &dir, unsigned run_ms) {
    session.control().reset();
    auto task = Session::task("writer", kind, dir, kEntries);
    task["create"] = true;
    Child writer = session.start(task);
    for (int waited = 0; session.control()->ready == 0 && waited < 30000; ++waited) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    session.control()->go = 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(run_ms));
    writer.kill();
    writer.wait(kTaskTimeoutS);
    return session.control()->progress[0];
}

void run_trial(Session &session, const EngineKind &kind, unsigned run_ms) {
    auto dir = session.scratch();
    std::uint64_t acknowledged = write_and_kill(session, kind, dir, run_ms);
    auto task = Session::task("check", kind, dir, acknowledged);
    task["then_put"] = true;
    ChildResult result = session.run(task);
    session.remove(dir);
    auto add = [&](const char *metric, double value, Summary summary) {
        session.report().add("kill", kind.name, kEntries, metric, value, summary);
    };
    std::string states =
        result.ok ? result.value["states"].get<std::string>() : std::string(acknowledged, 'm');
    add("acknowledged", static_cast<double>(acknowledged), Summary::median);
    add("lost", static_cast<double>(count_of(states, 'm')), Summary::worst);
    add("wrong", static_cast<double>(count_of(states, 'w')), Summary::sum);
    add("failed_reopen", result.ok ? 0 : 1, Summary::sum);
    add("takes_new", result.ok && result.value["takes_new"] ? 1 : 0, Summary::sum);
}

}  // namespace

void run_kill(Session &session) {
    if (!session.wants("kill")) {
        return;
    }
    Random random(kSeed);
    for (unsigned round = 0; round < session.rounds(5, 2); ++round) {
        const auto run_ms = static_cast<unsigned>(50 + random.below(250));
        for (const EngineKind *kind : session.engines(round, fits)) {
            run_trial(session, *kind, run_ms);
        }
    }
}

}  // namespace bench
