// Hot gets on one pinned thread, everything in memory: get_copy (into the caller's buffer),
// get_view (a pointer) and miss. Means come from loops without time stamps, percentiles from a loop
// with one pair of stamps per operation. Every value is compared in full before and after; the
// timed loops check sizes and, where the bytes are copied, their beginning.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <utility>

#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

using Order = std::vector<std::uint32_t>;

bool fits(const Traits & /*traits*/) {
    return true;
}

struct Hot {
    Engine &engine;
    const Task &task;
    std::vector<Entry> entries;
    std::vector<Entry> missing;
    std::vector<std::byte> buffer;
    std::uint64_t wrong = 0;

    void copy(const Entry &entry) {
        std::int64_t size = engine.get(entry.key_bytes(), buffer);
        std::uint64_t head;
        std::memcpy(&head, buffer.data(), sizeof(head));
        wrong += size != entry.value_size || head != entry.value_head ? 1U : 0U;
    }

    void view(const Entry &entry) {
        View found = engine.view(entry.key_bytes());
        wrong += found.size != entry.value_size ? 1U : 0U;
        if (found.data != nullptr) {
            engine.release(found);
        }
    }

    void miss(const Entry &entry) {
        wrong += engine.get(entry.key_bytes(), buffer) != kMiss ? 1U : 0U;
    }

    void verify_copies() {
        std::string states = read_range(engine, task, 0, entries.size());
        wrong += states.size() - count_of(states, 'r');
    }

    void verify_views() {
        for (std::uint64_t i = 0; i < entries.size(); ++i) {
            View found = engine.view(entries[i].key_bytes());
            wrong += task.dataset.matches(i, task.shape(), {found.data, found.size}) ? 0U : 1U;
            if (found.data != nullptr) {
                engine.release(found);
            }
        }
    }
};

using Operation = void (Hot::*)(const Entry &);

// The loop is timed in pieces and the median piece counts, so that being preempted now and then
// does not.
template <Operation operation>
double mean_ns(Hot &hot, const std::vector<Entry> &entries, const Order &order) {
    constexpr std::size_t kPieces = 400;
    const std::size_t piece = order.size() / kPieces;
    std::vector<double> means;
    for (std::size_t first = 0; first + piece <= order.size(); first += piece) {
        const std::uint64_t start = now_ns();
        for (std::size_t i = first; i < first + piece; ++i) {
            (hot.*operation)(entries[order[i]]);
        }
        means.push_back(static_cast<double>(now_ns() - start) / static_cast<double>(piece));
    }
    return median(std::move(means));
}

template <Operation operation>
Samples single(Hot &hot, const std::vector<Entry> &entries, const Order &order) {
    Samples samples(order.size());
    for (std::uint32_t index : order) {
        const std::uint64_t start = ticks();
        (hot.*operation)(entries[index]);
        samples.add(ticks() - start);
    }
    return samples;
}

// All figures of one operation; the first loop brings caches, branch predictors and private copies
// into their steady state.
template <Operation operation>
nlohmann::json measure(Hot &hot, const std::vector<Entry> &entries, std::size_t count,
                       std::uint64_t seed) {
    auto warm_up = uniform_order(entries.size(), count / 4, Random(seed));
    auto uniform = uniform_order(entries.size(), count, Random(seed + 1));
    auto zipf = zipf_order(entries.size(), count, Random(seed + 2));
    mean_ns<operation>(hot, entries, warm_up);
    nlohmann::json result;
    result["mean_ns"] = mean_ns<operation>(hot, entries, uniform);
    Samples samples = single<operation>(hot, entries, uniform);
    result["p50_ns"] = samples.percentile_ns(50);
    result["p99_ns"] = samples.percentile_ns(99);
    mean_ns<operation>(hot, entries, zipf);
    result["zipf_mean_ns"] = mean_ns<operation>(hot, entries, zipf);
    Samples skewed = single<operation>(hot, entries, zipf);
    result["zipf_p50_ns"] = skewed.percentile_ns(50);
    result["zipf_p99_ns"] = skewed.percentile_ns(99);
    return result;
}

void add_results(Session &session, const EngineKind &kind, std::uint64_t entries,
                 const nlohmann::json &results) {
    for (const auto &[workload, metrics] : results.items()) {
        for (const char *metric :
             {"mean_ns", "p50_ns", "p99_ns", "zipf_mean_ns", "zipf_p50_ns", "zipf_p99_ns"}) {
            session.report().add(workload, kind.name, entries, metric, metrics[metric]);
        }
        session.report().add(workload, kind.name, entries, "wrong", metrics["wrong"], Summary::sum);
    }
}

}  // namespace

void run_hot(Session &session) {
    nlohmann::json wanted;
    for (const char *workload : {"get_copy", "get_view", "miss"}) {
        wanted[workload] = session.wants(workload);
    }
    if (!wanted["get_copy"] && !wanted["get_view"] && !wanted["miss"]) {
        return;
    }
    for (std::uint64_t entries : session.sizes({1000, 10000, 100000}, {10000})) {
        for (unsigned round = 0; round < session.rounds(5, 3); ++round) {
            for (const EngineKind *kind : session.engines(round, fits)) {
                std::optional<std::filesystem::path> dir = "";
                if (kind->traits.persistent) {
                    dir = session.fixture(*kind, entries, Shape::program);
                }
                if (!dir) {
                    continue;
                }
                auto task = Session::task("hot", *kind, *dir, entries);
                task["wanted"] = wanted;
                task["count"] = session.settings().quick ? 40000 : 100000;
                task["round"] = round;
                ChildResult result = session.run(task);
                if (result.ok) {
                    add_results(session, *kind, entries, result.value);
                }
            }
        }
    }
}

nlohmann::json hot_task(const Task &task) {
    pin_to_processor(processor_count() - 1);
    auto engine = open_store(task);
    const auto count = task.option<std::size_t>("count", 100000);
    const std::uint64_t seed = task.option<std::uint64_t>("round", 0) * 16 + 4242;
    Hot hot{*engine, task, task.dataset.entries(0, task.entries(), task.shape()), {}, {}};
    hot.buffer.resize(kBufferSize);
    for (std::uint64_t i = 0; i < task.entries(); ++i) {
        hot.missing.push_back(Dataset::missing(i));
    }
    const nlohmann::json wanted = task.given["wanted"];
    auto result = nlohmann::json::object();
    auto finish = [&](const char *workload, nlohmann::json metrics) {
        metrics["wrong"] = std::exchange(hot.wrong, 0);
        result[workload] = std::move(metrics);
    };
    hot.verify_copies();
    if (wanted["get_copy"]) {
        auto metrics = measure<&Hot::copy>(hot, hot.entries, count, seed);
        hot.verify_copies();
        finish("get_copy", std::move(metrics));
    }
    if (wanted["get_view"] && task.kind.traits.views) {
        hot.verify_views();
        auto metrics = measure<&Hot::view>(hot, hot.entries, count, seed);
        hot.verify_views();
        finish("get_view", std::move(metrics));
    }
    if (wanted["miss"]) {
        finish("miss", measure<&Hot::miss>(hot, hot.missing, count, seed));
    }
    engine->close();
    return result;
}

}  // namespace bench
