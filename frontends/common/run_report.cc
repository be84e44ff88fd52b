// SPDX-License-Identifier: MIT
#include "common/run_report.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "os/file.h"
#include "os/mapping.h"

namespace cairn {
namespace {

RunReport *g_report = nullptr;
std::atomic<bool> g_process_counted = false;

}  // namespace

RunReport *attach_run_report(const char *path) {
    const auto file = File::open_shared_memory(path);
    if (!file.ok()) return nullptr;
    const auto info = file->info();
    if (!info.ok() || info->size_bytes < sizeof(RunReport)) return nullptr;
    auto mapping = Mapping::file(file.value(), Access::read_write, 0, sizeof(RunReport));
    if (!mapping.ok()) return nullptr;
    auto *report = reinterpret_cast<RunReport *>(mapping->data());
    if (report->layout != kRunReportLayout) return nullptr;
    mapping->release();
    return report;
}

void attach_counters(const char *path) {
    if (g_report == nullptr) {
        g_report = attach_run_report(path);
        count(&RunReport::loads);
    }
}

void count(Counter counter, uint64_t amount) {
    if (g_report != nullptr) {
        std::atomic_ref<uint64_t>(g_report->*counter).fetch_add(amount, std::memory_order_relaxed);
    }
}

void count_link(Outcome outcome, uint64_t spent_ns) {
    if (g_report == nullptr) return;
    const auto add = [](uint64_t &word, uint64_t amount) {
        std::atomic_ref<uint64_t>(word).fetch_add(amount, std::memory_order_relaxed);
    };
    add(g_report->outcomes[static_cast<size_t>(outcome)], 1);
    add(g_report->outcome_ns[static_cast<size_t>(outcome)], spent_ns);
}

void count_process() {
    if (!g_process_counted.exchange(true)) {
        count(&RunReport::processes);
    }
}

void note_problem(uint64_t problem, std::string_view why) {
    if (g_report == nullptr) return;
    // The thread that changes 0 to this value writes the text; readers take it for no problem.
    constexpr uint64_t kBeingWritten = UINT64_MAX;
    const std::atomic_ref<uint64_t> state(g_report->problem);
    uint64_t none = 0;
    if (!state.compare_exchange_strong(none, kBeingWritten)) return;
    const size_t size = std::min(why.size(), sizeof g_report->problem_text - 1);
    memcpy(g_report->problem_text, why.data(), size);
    g_report->problem_text[size] = '\0';
    state.store(problem, std::memory_order_release);
}

}  // namespace cairn
