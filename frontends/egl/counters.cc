// SPDX-License-Identifier: MIT
#include "counters.h"

#include <time.h>

#include <atomic>

#include "settings.h"

namespace cairn::egl {
namespace {

cairn_report *g_report = nullptr;
std::atomic<bool> g_process_counted = false;

}  // namespace

void attach_counters() {
    if (g_report == nullptr && !settings().report.empty()) {
        g_report = cairn_report_attach(settings().report.c_str());
    }
}

void count(Counter counter, uint64_t amount) {
    if (g_report != nullptr) {
        std::atomic_ref<uint64_t>(g_report->*counter).fetch_add(amount, std::memory_order_relaxed);
    }
}

void count_process() {
    if (!g_process_counted.exchange(true)) {
        count(&cairn_report::processes);
    }
}

uint64_t now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace cairn::egl
