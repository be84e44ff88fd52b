// SPDX-License-Identifier: MIT
#include "store/policy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace cairn {
namespace {

// Keeps candidates from the highest score down while they fit: pinned ones first, none with 0.
template <typename Score>
void keep_best(std::span<Candidate> candidates, std::uint64_t keep_bytes, Score score) {
    std::vector<std::pair<std::uint64_t, Candidate *>> ranked;
    for (Candidate &candidate : candidates) {
        const std::uint64_t points = candidate.pinned ? UINT64_MAX : score(candidate);
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

// Keeps only what is pinned.
class KeepNone final : public Policy {
  public:
    constexpr KeepNone(std::string_view name, Order order) : name_(name), order_(order) {}
    std::string_view name() const override { return name_; }
    Order order() const override { return order_; }
    void choose(std::span<Candidate> candidates, std::uint64_t keep_bytes) const override {
        keep_best(candidates, keep_bytes, [](const Candidate &) { return std::uint64_t{0}; });
    }

  private:
    std::string_view name_;
    Order order_;
};

class Lru final : public Policy {
  public:
    std::string_view name() const override { return "lru"; }
    void choose(std::span<Candidate> candidates, std::uint64_t keep_bytes) const override {
        keep_best(candidates, keep_bytes,
                  [](const Candidate &c) { return c.hits == 0 ? 0 : c.stamp_ns / 2 + 1; });
    }
};

// The cost per byte in powers of two, so that small differences do not outweigh hits.
unsigned density_class(const Candidate &candidate) {
    const std::uint64_t per_kib =
        std::uint64_t{candidate.cost_us} * 1024 / std::max<std::uint64_t>(candidate.size_bytes, 1);
    return static_cast<unsigned>(std::bit_width(per_kib));
}

class Default final : public Policy {
  public:
    std::string_view name() const override { return "default"; }
    void choose(std::span<Candidate> candidates, std::uint64_t keep_bytes) const override {
        const unsigned usual = median_density(candidates);
        keep_best(candidates, keep_bytes, [usual](const Candidate &c) -> std::uint64_t {
            const unsigned density = c.cost_us == 0 ? usual : density_class(c);
            if (c.hits == 0) return !c.copied && density >= usual + 2 ? 1 : 0;
            // A hit weighs as much as a four-fold cost per byte.
            return 16 + 2 * c.hits + density;
        });
    }

  private:
    static unsigned median_density(std::span<const Candidate> candidates) {
        std::vector<unsigned> classes;
        for (const Candidate &c : candidates) {
            if (c.cost_us != 0) classes.push_back(density_class(c));
        }
        if (classes.empty()) return 0;
        const auto middle = classes.begin() + static_cast<std::ptrdiff_t>(classes.size() / 2);
        std::nth_element(classes.begin(), middle, classes.end());
        return *middle;
    }
};

const Default kDefault;
const KeepNone kFifo("fifo", Policy::Order::oldest_segment_first);
const Lru kLru;
const KeepNone kMru("mru", Policy::Order::newest_segment_first);

}  // namespace

const Policy &default_policy() {
    return kDefault;
}

const Policy *policy_by_name(std::string_view name) {
    static constexpr std::array<const Policy *, 4> kPolicies = {&kDefault, &kFifo, &kLru, &kMru};
    for (const Policy *policy : kPolicies) {
        if (policy->name() == name) return policy;
    }
    return nullptr;
}

}  // namespace cairn
