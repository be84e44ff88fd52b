// SPDX-License-Identifier: MIT
#include "store/policy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
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

// That of the middle one of those whose cost is known. Counts them instead of sorting, as this must
// not need memory.
unsigned median_density(std::span<const Candidate> candidates) {
    std::array<std::uint32_t, 65> of_class = {};
    std::size_t known = 0;
    for (const Candidate &c : candidates) {
        if (c.cost_us == 0) continue;
        ++of_class[density_class(c)];
        ++known;
    }
    if (known == 0) return 0;
    unsigned middle = 0;
    for (std::size_t seen = of_class[0]; seen <= known / 2; seen += of_class[middle]) ++middle;
    return middle;
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
    {"default", Policy::Order::oldest_segment_first, Policy::OnHit::counts, default_score, true},
    {"fifo", Policy::Order::oldest_segment_first, Policy::OnHit::nothing, no_score},
    {"lru", Policy::Order::oldest_segment_first, Policy::OnHit::renews, lru_score},
    {"mru", Policy::Order::newest_segment_first, Policy::OnHit::nothing, no_score},
};

// What all decisions go by.
std::uint64_t points_of(const Policy &policy, const Candidate &candidate, unsigned usual) {
    return candidate.pinned ? UINT64_MAX : policy.score(candidate, usual);
}

std::uint64_t points_of(const Candidate &candidate, const Taste &taste) {
    // The taste was found among entries as they were put.
    const std::uint64_t bytes = std::max(candidate.raw_bytes, candidate.size_bytes);
    const int worth =
        worth_of(candidate.uses, density_of(candidate.cost_us, bytes), candidate.age, taste);
    return stays(worth, candidate.lot, taste) ? 1 + static_cast<std::uint64_t>(worth - INT16_MIN)
                                              : 0;
}

}  // namespace

// Keeps candidates from the highest score down while they fit: pinned ones first, none with 0.
void Policy::choose(std::span<Candidate> candidates, CopyAllowance allowance,
                    const Taste *taste) const {
    const unsigned usual = median_density(candidates);
    std::vector<std::pair<std::uint64_t, Candidate *>> ranked;
    for (Candidate &candidate : candidates) {
        const std::uint64_t points = taste != nullptr && !candidate.pinned
                                         ? points_of(candidate, *taste)
                                         : points_of(*this, candidate, usual);
        if (points != 0) ranked.emplace_back(points, &candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    for (const auto &[points, candidate] : ranked) {
        const std::uint64_t size = candidate->size_bytes;
        std::uint64_t &left = candidate->pinned ? allowance.pinned_bytes : allowance.other_bytes;
        if (size > left) continue;
        left -= size;
        if (candidate->pinned) allowance.other_bytes -= std::min(allowance.other_bytes, size);
        candidate->keep = true;
    }
}

std::size_t Policy::first_to_go(std::span<Candidate> candidates) const {
    assert(!candidates.empty());
    const unsigned usual = median_density(candidates);
    std::size_t first = 0;
    std::uint64_t lowest = UINT64_MAX;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::uint64_t points = points_of(*this, candidates[i], usual);
        candidates[i].keep = points != 0;
        const std::uint64_t stamp = candidates[i].stamp_ns, other = candidates[first].stamp_ns;
        const bool is_next = order == Order::oldest_segment_first ? stamp < other : stamp > other;
        if (points < lowest || (points == lowest && is_next)) {
            first = i;
            lowest = points;
        }
    }
    return first;
}

const Policy &default_policy() {
    return kPolicies[0];
}

const Policy *policy_by_name(std::string_view name) {
    const auto *found = std::ranges::find(kPolicies, name, &Policy::name);
    return found == std::end(kPolicies) ? nullptr : found;
}

}  // namespace cairn
