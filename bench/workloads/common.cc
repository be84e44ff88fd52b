// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <stdexcept>

#include "bench/workloads/workload.h"

namespace bench {
namespace {

constexpr Workload kWorkloads[] = {
    {"open", "a new process opens the store and has its first hit", "total_ns"},
    {"cold", "the same with nothing in the page cache, then 200 random gets", "p50_ns"},
    {"get_copy", "hot get into the caller's buffer, one pinned thread", "p50_ns"},
    {"get_view", "hot get of a pointer to the value, one pinned thread", "mean_ns"},
    {"miss", "a key that is not there, one pinned thread", "mean_ns"},
    {"disk", "bytes on disk, and memory of a process that has read everything", "disk_per_payload"},
    {"put", "single puts into a fresh store, not batched, not synced", "p50_ns"},
    {"put_full", "the same into a store that has 100,000 entries", "p50_ns"},
    {"processes", "readers and writers in processes of their own on one store", "w2_writes_per_s"},
    {"damage", "50 bits flipped or 50 pages zeroed at rest", ""},
    {"cap", "64 MiB allowed, 166 MB put, 500 hot entries read all along", "put_p50_ns"},
    {"kill", "kill -9 while writing", ""},
};

}  // namespace

std::span<const Workload> workloads() {
    return kWorkloads;
}

void put_range(Engine &engine, const Task &task, std::uint64_t first, std::uint64_t count) {
    engine.begin_fill();
    for (std::uint64_t i = first; i < first + count; ++i) {
        Entry entry = task.dataset.entry(i, task.shape());
        if (!engine.put(entry.key_bytes(), task.dataset.value(i, task.shape()))) {
            throw std::runtime_error("put " + std::to_string(i) + " was refused");
        }
    }
    engine.end_fill();
}

std::unique_ptr<Engine> open_store(const Task &task, bool create) {
    auto engine = task.kind.make();
    OpenOptions options;
    options.dir = task.dir();
    options.create = create || !task.kind.traits.persistent;
    options.expected_entries = task.entries();
    options.limit_bytes = task.option<std::uint64_t>("limit", 0);
    if (!engine->open(options)) {
        throw std::runtime_error("cannot open: " + engine->error());
    }
    if (!create && !task.kind.traits.persistent) {
        put_range(*engine, task, 0, task.entries());
    }
    return engine;
}

std::string read_range(Engine &engine, const Task &task, std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> buffer(kBufferSize);
    std::string states(count, 'm');
    for (std::uint64_t i = 0; i < count; ++i) {
        Entry entry = task.dataset.entry(first + i, task.shape());
        std::int64_t size = engine.get(entry.key_bytes(), buffer);
        if (size >= 0) {
            Bytes found{buffer.data(), static_cast<std::size_t>(size)};
            states[i] = task.dataset.matches(first + i, task.shape(), found) ? 'r' : 'w';
        }
    }
    return states;
}

std::uint64_t count_of(const std::string &states, char state) {
    return static_cast<std::uint64_t>(std::count(states.begin(), states.end(), state));
}

nlohmann::json fill_task(const Task &task) {
    auto engine = open_store(task, true);
    put_range(*engine, task, 0, task.entries());
    engine->close();
    return {{"filled", task.entries()}};
}

nlohmann::json check_task(const Task &task) {
    auto engine = open_store(task);
    nlohmann::json result;
    result["states"] =
        read_range(*engine, task, task.option<std::uint64_t>("first", 0), task.entries());
    if (task.option("then_put", false)) {
        constexpr std::uint64_t kNew = std::uint64_t{1} << 40;
        Entry entry = task.dataset.entry(kNew, task.shape());
        bool put = engine->put(entry.key_bytes(), task.dataset.value(kNew, task.shape()));
        result["takes_new"] = put && read_range(*engine, task, kNew, 1) == "r";
    }
    engine->close();
    return result;
}

}  // namespace bench
