// Open, first hit and 200 random gets in a fresh process with nothing of the store in the page
// cache: the first start after a boot. The program's own code is made warm first, so that the disk
// is read for the store alone.
// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "bench/harness/folders.h"
#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr std::size_t kGets = 200;

bool fits(const Traits &traits) {
    return traits.persistent;
}

void run_size(Session &session, std::uint64_t entries) {
    for (const EngineKind *kind : session.engines(0, fits)) {
        session.fixture(*kind, entries, Shape::program);
    }
    const unsigned rounds = session.rounds(7, 3);
    for (unsigned round = 0; round < rounds; ++round) {
        for (const EngineKind *kind : session.engines(round, fits)) {
            auto dir = session.fixture(*kind, entries, Shape::program);
            if (!dir) {
                continue;
            }
            sync_folder(*dir);
            make_cold(*dir);
            auto task = Session::task("cold", *kind, *dir, entries);
            task["round"] = round;
            ChildResult result = session.run(task);
            if (!result.ok) {
                continue;
            }
            for (const char *metric :
                 {"open_ns", "first_get_ns", "total_ns", "p50_ns", "p90_ns", "p99_ns"}) {
                session.report().add("cold", kind->name, entries, metric, result.value[metric]);
            }
            session.report().add("cold", kind->name, entries, "wrong", result.value["wrong"],
                                 Summary::sum);
        }
    }
}

// Brings every file-backed page of this process in: its own code and that of its libraries.
void warm_own_code() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        char *rest = nullptr;
        const unsigned long begin = std::strtoul(line.c_str(), &rest, 16);
        const unsigned long end = std::strtoul(rest + 1, &rest, 16);
        if (std::strncmp(rest, " r", 2) == 0 && line.find('/') != std::string::npos &&
            line.find("memfd:") == std::string::npos) {
            ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_POPULATE_READ);
        }
    }
}

}  // namespace

void run_cold(Session &session) {
    if (!session.wants("cold")) {
        return;
    }
    for (std::uint64_t entries : session.sizes({10000, 100000}, {10000})) {
        run_size(session, entries);
    }
}

nlohmann::json cold_task(const Task &task) {
    auto engine = task.kind.make();
    OpenOptions options;
    options.dir = task.dir();
    const std::uint64_t seed = task.option<std::uint64_t>("round", 0) + 1234;
    auto order = uniform_order(task.entries(), kGets + 1, Random(seed));
    std::vector<Entry> entries;
    entries.reserve(order.size());
    for (std::uint32_t index : order) {
        entries.push_back(task.dataset.entry(index, task.shape()));
    }
    std::vector<std::byte> buffers((kGets + 1) * kBufferSize);
    std::vector<std::int64_t> sizes(kGets + 1, kMiss);
    std::vector<std::uint64_t> stamps(kGets + 2);
    warm_own_code();

    const std::uint64_t start = now_ns();
    bool opened = engine->open(options);
    stamps[0] = now_ns();
    for (std::size_t i = 0; opened && i <= kGets; ++i) {
        sizes[i] = engine->get(entries[i].key_bytes(), {&buffers[i * kBufferSize], kBufferSize});
        stamps[i + 1] = now_ns();
    }
    if (!opened) {
        throw std::runtime_error("cannot open: " + engine->error());
    }
    engine->close();

    std::vector<double> gets;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i <= kGets; ++i) {
        Bytes found{&buffers[i * kBufferSize],
                    static_cast<std::size_t>(std::max<std::int64_t>(sizes[i], 0))};
        wrong += sizes[i] < 0 || !task.dataset.matches(order[i], task.shape(), found) ? 1U : 0U;
        if (i > 0) {
            gets.push_back(static_cast<double>(stamps[i + 1] - stamps[i]));
        }
    }
    std::sort(gets.begin(), gets.end());
    return {{"open_ns", stamps[0] - start},
            {"first_get_ns", stamps[1] - stamps[0]},
            {"total_ns", stamps[1] - start},
            {"p50_ns", gets[kGets / 2 - 1]},
            {"p90_ns", gets[kGets * 9 / 10 - 1]},
            {"p99_ns", gets[kGets * 99 / 100 - 1]},
            {"wrong", wrong}};
}

}  // namespace bench
