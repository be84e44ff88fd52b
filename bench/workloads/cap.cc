// A limit of 64 MiB: 20,000 entries (166 MB) are put while the first 500 are read all along, one
// read after each put. Disk use is sampled from outside, by blocks, as often as the folder can be
// walked.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "bench/harness/folders.h"
#include "bench/harness/stats.h"
#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kEntries = 20000;
constexpr std::uint64_t kHotEntries = 500;
constexpr std::uint64_t kNewestEntries = kEntries / 8;

bool fits(const Traits &traits) {
    return traits.writes;
}

class PeakSampler {
  public:
    explicit PeakSampler(std::filesystem::path dir)
        : dir_(std::move(dir)), thread_([this] { sample(); }) {}
    ~PeakSampler() {
        stop_ = true;
        thread_.join();
    }
    PeakSampler(const PeakSampler &) = delete;
    PeakSampler &operator=(const PeakSampler &) = delete;
    std::uint64_t peak_bytes() const { return peak_; }

  private:
    void sample() {
        while (!stop_) {
            peak_ = std::max<std::uint64_t>(peak_, disk_usage(dir_).bytes);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    std::filesystem::path dir_;
    std::atomic<bool> stop_ = false;
    std::atomic<std::uint64_t> peak_ = 0;
    std::thread thread_;  // last: it uses the others
};

void run_one(Session &session, const EngineKind &kind) {
    auto dir = session.scratch();
    auto task = Session::task("cap", kind, dir, kEntries);
    task["create"] = true;
    if (kind.traits.bounded) {
        task["limit"] = kLimitBytes;
    }
    std::uint64_t peak = 0;
    ChildResult result;
    {
        PeakSampler sampler(dir);
        result = session.run(task);
        peak = sampler.peak_bytes();
    }
    const std::uint64_t end = kind.traits.persistent ? disk_usage(dir).bytes : 0;
    session.remove(dir);
    if (!result.ok) {
        return;
    }
    auto add = [&](const char *metric, double value, Summary summary) {
        session.report().add("cap", kind.name, kEntries, metric, value, summary);
    };
    for (const char *metric : {"refused", "kept", "hot_kept_percent", "newest_kept_percent",
                               "put_p50_ns", "put_p99_ns", "put_max_ns"}) {
        add(metric, result.value[metric], Summary::median);
    }
    add("put_own_max_worst_ns", result.value["put_own_max_ns"], Summary::worst);
    add("wrong", result.value["wrong"], Summary::sum);
    add("peak_bytes", static_cast<double>(std::max(peak, end)), Summary::worst);
    add("end_bytes", static_cast<double>(end), Summary::median);
}

double percent_right(const std::string &states, std::size_t first, std::size_t count) {
    return 100.0 * static_cast<double>(count_of(states.substr(first, count), 'r')) /
           static_cast<double>(count);
}

}  // namespace

void run_cap(Session &session) {
    if (!session.wants("cap")) {
        return;
    }
    for (unsigned round = 0; round < session.rounds(3, 1); ++round) {
        for (const EngineKind *kind : session.engines(round, fits)) {
            run_one(session, *kind);
        }
    }
}

nlohmann::json cap_task(const Task &task) {
    auto engine = open_store(task, true);
    auto entries = task.dataset.entries(0, kEntries, task.shape());
    std::vector<std::byte> buffer(kBufferSize);
    PutSamples puts(kEntries);
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < kEntries; ++i) {
        Bytes value = task.dataset.value(i, task.shape());
        bool put = puts.time([&] { return engine->put(entries[i].key_bytes(), value); });
        refused += put ? 0 : 1;
        if (i >= kHotEntries) {
            engine->get(entries[i % kHotEntries].key_bytes(), buffer);
        }
    }
    std::string states = read_range(*engine, task, 0, kEntries);
    engine->close();
    return {
        {"refused", refused},
        {"kept", count_of(states, 'r')},
        {"wrong", count_of(states, 'w')},
        {"hot_kept_percent", percent_right(states, 0, kHotEntries)},
        {"newest_kept_percent", percent_right(states, kEntries - kNewestEntries, kNewestEntries)},
        {"put_p50_ns", puts.all().percentile_ns(50)},
        {"put_p99_ns", puts.all().percentile_ns(99)},
        {"put_max_ns", puts.all().max_ns()},
        {"put_own_max_ns", puts.own_max_ns()}};
}

}  // namespace bench
