// Open and first hit, measured inside a fresh process from before open to after the hit; page cache
// warm.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <stdexcept>

#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr std::uint64_t kTinyFrom = 1'000'000;  // entries; from here on values are 64 to 128 bytes

bool fits(const Traits &traits) {
    return traits.persistent;
}

void run_size(Session &session, std::uint64_t entries) {
    const Shape shape = entries >= kTinyFrom ? Shape::tiny : Shape::program;
    for (const EngineKind *kind : session.engines(0, fits)) {
        session.fixture(*kind, entries, shape);
    }
    const unsigned rounds = session.rounds(21, 11);
    for (unsigned round = 0; round < rounds; ++round) {
        for (const EngineKind *kind : session.engines(round, fits)) {
            auto dir = session.fixture(*kind, entries, shape);
            if (!dir) {
                continue;
            }
            auto task = Session::task("open", *kind, *dir, entries, shape);
            task["round"] = round;
            ChildResult result = session.run(task);
            if (!result.ok) {
                continue;
            }
            for (const char *metric : {"open_ns", "first_get_ns", "total_ns"}) {
                session.report().add("open", kind->name, entries, metric, result.value[metric]);
            }
            session.report().add("open", kind->name, entries, "total_worst_ns",
                                 result.value["total_ns"], Summary::worst);
            session.report().add("open", kind->name, entries, "wrong", result.value["wrong"],
                                 Summary::sum);
        }
    }
}

}  // namespace

void run_open(Session &session) {
    if (!session.wants("open")) {
        return;
    }
    for (std::uint64_t entries : session.sizes({1000, 10000, 100000, 1000000}, {1000, 10000})) {
        run_size(session, entries);
        if (entries >= kTinyFrom) {
            session.drop_fixtures(entries);
        }
    }
}

nlohmann::json open_task(const Task &task) {
    auto engine = task.kind.make();
    OpenOptions options;
    options.dir = task.dir();
    std::uint64_t index = Random(task.option<std::uint64_t>("round", 0) + 77).below(task.entries());
    Entry entry = task.dataset.entry(index, task.shape());
    std::vector<std::byte> buffer(kBufferSize);  // touched, so that no fault of ours is measured

    const std::uint64_t start = now_ns();
    bool opened = engine->open(options);
    const std::uint64_t opened_at = now_ns();
    std::int64_t size = opened ? engine->get(entry.key_bytes(), buffer) : kMiss;
    const std::uint64_t end = now_ns();

    if (!opened) {
        throw std::runtime_error("cannot open: " + engine->error());
    }
    Bytes found{buffer.data(), static_cast<std::size_t>(std::max<std::int64_t>(size, 0))};
    bool right = size >= 0 && task.dataset.matches(index, task.shape(), found);
    engine->close();
    return {{"open_ns", opened_at - start},
            {"first_get_ns", end - opened_at},
            {"total_ns", end - start},
            {"wrong", right ? 0 : 1}};
}

}  // namespace bench
