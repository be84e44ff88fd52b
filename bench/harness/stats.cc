// SPDX-License-Identifier: MIT
#include "bench/harness/stats.h"

#include <sys/resource.h>

#include <numeric>

namespace bench {

double ns_per_tick() {
    static const double ratio = [] {
        constexpr std::uint64_t kCalibrationNs = 5'000'000;
        std::uint64_t start_ns = now_ns();
        std::uint64_t start = ticks();
        std::uint64_t end_ns = start_ns;
        while (end_ns - start_ns < kCalibrationNs) {
            end_ns = now_ns();
        }
        return static_cast<double>(end_ns - start_ns) / static_cast<double>(ticks() - start);
    }();
    return ratio;
}

double tick_overhead_ns() {
    Samples samples(1000);
    for (int i = 0; i < 1000; ++i) {
        std::uint64_t start = ticks();
        samples.add(ticks() - start);
    }
    return samples.percentile_ns(50);
}

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Samples::percentile_ns(double percent) {
    if (ticks_.empty()) {
        return 0;
    }
    return static_cast<double>(percentile(ticks_, percent)) * ns_per_tick();
}

std::int64_t preemptions() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

double Samples::sum_ns() const {
    return static_cast<double>(std::accumulate(ticks_.begin(), ticks_.end(), std::uint64_t{0})) *
           ns_per_tick();
}

}  // namespace bench
