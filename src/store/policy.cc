// SPDX-License-Identifier: MIT
#include "store/policy.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace cairn {
namespace {

// The cost per byte in powers of two, so that small differences do not outweigh hits.
unsigned density_class(const Candidate &candidate) {
    const std::uint64_t per_kib =
        std::uint64_t{candidate.cost_us} * 1024 / std::max<std::uint64_t>(candidate.size_bytes, 1);
    return static_cast<unsigned>(std::bit_width(per_kib));
}

unsigned median_density(std::span<const Candidate> candidates) {
    std::vector<unsigned> classes;
    for (const Candidate &c : candidates) {
        if (c.cost_us != 0) classes.push_back(density_class(c));
    }
    if (classes.empty()) return 0;
    const auto middle = classes.begin() + static_cast<std::ptrdiff_t>(classes.size() / 2);
    std::nth_element(classes.begin(), middle, classes.end());
    return *middle;
}

std::uint64_t default_score(const Candidate &c, unsigned usual) {
    const unsigned density = c.cost_us == 0 ? usual : density_class(c);
    if (c.hits == 0) return !c.copied && density >= usual + 2 ? 1 : 0;
    // A hit weighs as much as a four-fold cost per byte.
    return 16 + 2 * c.hits + density;
}

std::uint64_t lru_score(const Candidate &c, unsigned) {
    return c.hits == 0 ? 0 : c.stamp_ns / 2 + 1;
}

std::uint64_t no_score(const Candidate &, unsigned) {
    return 0;
}

constexpr Policy kPolicies[] = {
    {"default", Policy::Order::oldest_segment_first, default_score},
    {"fifo", Policy::Order::oldest_segment_first, no_score},
    {"lru", Policy::Order::oldest_segment_first, lru_score},
    {"mru", Policy::Order::newest_segment_first, no_score},
};

}  // namespace

// Keeps candidates from the highest score down while they fit: pinned ones first, none with 0.
void Policy::choose(std::span<Candidate> candidates, std::uint64_t keep_bytes) const {
    const unsigned usual = median_density(candidates);
    std::vector<std::pair<std::uint64_t, Candidate *>> ranked;
    for (Candidate &candidate : candidates) {
        const std::uint64_t points = candidate.pinned ? UINT64_MAX : score(candidate, usual);
        if (points != 0) ranked.emplace_back(points, &candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    for (const auto &[points, candidate] : ranked) {
        if (candidate->size_bytes > keep_bytes) continue;
        keep_bytes -= candidate->size_bytes;
        candidate->keep = true;
    }
}

const Policy &default_policy() {
    return kPolicies[0];
}

const Policy *policy_by_name(std::string_view name) {
    const auto *found = std::ranges::find(kPolicies, name, &Policy::name);
    return found == std::end(kPolicies) ? nullptr : found;
}

}  // namespace cairn
