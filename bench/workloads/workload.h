// The workloads: what each is called, its half in the parent (which rounds, which engines) and its
// half in the child (what is measured).
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "bench/harness/session.h"

namespace bench {

struct Workload {
    const char *name;
    const char *about;
    const char *ratio_metric;  // that the printed ratios are of
};

// In the order they are run and printed.
std::span<const Workload> workloads();

// Parent halves; each adds to the session's report. Run in this order, because the last ones use up
// what others need.
void run_open(Session &session);
void run_cold(Session &session);
void run_hot(Session &session);  // get_copy, get_view and miss
void run_disk(Session &session);
void run_put(Session &session);
void run_processes(Session &session);
void run_damage(Session &session);
void run_cap(Session &session);
void run_kill(Session &session);

// A child works on this.
struct Task {
    nlohmann::json given;
    const EngineKind &kind;
    const Dataset &dataset;
    ControlBlock &control;

    std::filesystem::path dir() const { return given["dir"].get<std::string>(); }
    std::uint64_t entries() const { return given["entries"].get<std::uint64_t>(); }
    Shape shape() const { return given["tiny"].get<bool>() ? Shape::tiny : Shape::program; }
    template <typename Value>
    Value option(const char *name, Value fallback) const {
        return given.value(name, fallback);
    }
};

// Child halves, by the name of their task.
nlohmann::json fill_task(const Task &task);
nlohmann::json open_task(const Task &task);
nlohmann::json cold_task(const Task &task);
nlohmann::json hot_task(const Task &task);
nlohmann::json disk_task(const Task &task);
nlohmann::json put_task(const Task &task);
nlohmann::json reader_task(const Task &task);
nlohmann::json writer_task(const Task &task);
nlohmann::json check_task(const Task &task);  // reads all entries; says of each whether it is right
nlohmann::json cap_task(const Task &task);

// The largest value, and so the size of every buffer.
inline constexpr std::size_t kBufferSize = 65536;

// Opens the task's store, or throws with the engine's words. Engines that are not persistent are
// filled.
std::unique_ptr<Engine> open_store(const Task &task, bool create = false);
void put_range(Engine &engine, const Task &task, std::uint64_t first, std::uint64_t count);

// Reads entries [first, first + count): 'r' right, 'm' missing, 'w' wrong, one character each.
std::string read_range(Engine &engine, const Task &task, std::uint64_t first, std::uint64_t count);
std::uint64_t count_of(const std::string &states, char state);

}  // namespace bench
