// Single puts on the calling thread, not batched and not synced, into a fresh store and into one of
// 100,000 entries. What was put is read back and compared after the timing.
// SPDX-License-Identifier: MIT
#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr std::uint64_t kFullEntries = 100000;

bool fits_fresh(const Traits & /*traits*/) {
    return true;
}
bool fits_full(const Traits &traits) {
    return traits.persistent && traits.writes;
}

void add_result(Session &session, const std::string &workload, const EngineKind &kind,
                std::uint64_t entries, const nlohmann::json &result) {
    for (const char *metric :
         {"p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "puts_per_s", "bytes_per_s"}) {
        session.report().add(workload, kind.name, entries, metric, result[metric]);
    }
    session.report().add(workload, kind.name, entries, "max_worst_ns", result["max_ns"],
                         Summary::worst);
    session.report().add(workload, kind.name, entries, "own_max_worst_ns", result["own_max_ns"],
                         Summary::worst);
    session.report().add(workload, kind.name, entries, "refused", result["refused"], Summary::sum);
    session.report().add(workload, kind.name, entries, "wrong", result["wrong"], Summary::sum);
}

void run_fresh(Session &session) {
    const std::uint64_t count = session.settings().quick ? 5000 : 20000;
    for (unsigned round = 0; round < session.rounds(5, 3); ++round) {
        for (const EngineKind *kind : session.engines(round, fits_fresh)) {
            auto dir = session.scratch();
            auto task = Session::task("put", *kind, dir, count);
            task["create"] = true;
            ChildResult result = session.run(task);
            session.remove(dir);
            if (result.ok) {
                add_result(session, "put", *kind, count, result.value);
            }
        }
    }
}

// Each round adds other entries to the same store, so that 850 MB need not be copied per round.
void run_full(Session &session) {
    const std::uint64_t count = 3000;
    for (unsigned round = 0; round < session.rounds(5, 3); ++round) {
        for (const EngineKind *kind : session.engines(round, fits_full)) {
            auto dir = session.fixture(*kind, kFullEntries, Shape::program);
            if (!dir) {
                continue;
            }
            auto task = Session::task("put", *kind, *dir, count);
            task["first"] = kFullEntries + round * count;
            ChildResult result = session.run(task);
            if (result.ok) {
                add_result(session, "put_full", *kind, kFullEntries, result.value);
            }
        }
    }
    session.drop_fixtures(kFullEntries);
}

}  // namespace

void run_put(Session &session) {
    if (session.wants("put")) {
        run_fresh(session);
    }
    // The quick form makes no store of this size for other workloads, so that it has none to put
    // into.
    const bool asked = !session.settings().workloads.empty();
    if (session.wants("put_full") && (asked || !session.settings().quick)) {
        run_full(session);
    }
}

nlohmann::json put_task(const Task &task) {
    pin_to_processor(processor_count() - 1);
    const auto first = task.option<std::uint64_t>("first", 0);
    const std::uint64_t count = task.entries();
    auto entries = task.dataset.entries(first, count, task.shape());
    std::vector<Bytes> values;
    for (std::uint64_t i = 0; i < count; ++i) {
        values.push_back(task.dataset.value(first + i, task.shape()));
    }
    auto engine = open_store(task, task.option("create", false));
    PutSamples puts(count);
    std::uint64_t refused = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        bool put = puts.time([&] { return engine->put(entries[i].key_bytes(), values[i]); });
        refused += put ? 0 : 1;
        bytes += values[i].size();
    }
    std::string states = read_range(*engine, task, first, count);
    engine->close();
    Samples &samples = puts.all();
    const double seconds = samples.sum_ns() / 1e9;
    return {{"p50_ns", samples.percentile_ns(50)},
            {"p90_ns", samples.percentile_ns(90)},
            {"p99_ns", samples.percentile_ns(99)},
            {"p999_ns", samples.percentile_ns(99.9)},
            {"max_ns", samples.max_ns()},
            {"own_max_ns", puts.own_max_ns()},
            {"puts_per_s", static_cast<double>(count) / seconds},
            {"bytes_per_s", static_cast<double>(bytes) / seconds},
            {"refused", refused},
            {"wrong", count - refused - count_of(states, 'r')}};
}

}  // namespace bench
