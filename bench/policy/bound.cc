// SPDX-License-Identifier: MIT
#include "policy/bound.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace policy_sim {

double bound_us(const Trace &trace, std::uint64_t limit_bytes) {
    struct Interval {
        double takes;
        double avoids_us;
    };
    constexpr std::size_t kNever = SIZE_MAX;
    std::vector<Interval> intervals;
    std::vector<std::size_t> last(trace.key_count, kNever);
    for (std::size_t i = 0; i < trace.requests.size(); ++i) {
        const Request &request = trace.requests[i];
        if (last[request.key] != kNever && request.record_bytes <= limit_bytes) {
            const auto length = static_cast<double>(i - last[request.key]);
            intervals.push_back({length * request.record_bytes, 1.0 * request.cost_us});
        }
        last[request.key] = i;
    }
    std::sort(intervals.begin(), intervals.end(), [](const Interval &a, const Interval &b) {
        return a.avoids_us * b.takes > b.avoids_us * a.takes;
    });
    double left = static_cast<double>(limit_bytes) * static_cast<double>(trace.requests.size());
    double avoided_us = 0;
    for (const Interval &interval : intervals) {
        if (interval.takes > left) return avoided_us + interval.avoids_us * left / interval.takes;
        left -= interval.takes;
        avoided_us += interval.avoids_us;
    }
    return avoided_us;
}

}  // namespace policy_sim
