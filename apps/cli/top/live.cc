// SPDX-License-Identifier: MIT
#include "top/live.h"

#include <algorithm>

#include "os/environment.h"
#include "os/file.h"

namespace cairn::cli {
namespace {

constexpr std::uint64_t kLookNs = 3'000'000'000;
constexpr std::size_t kMissesMax = 100;

std::uint64_t misses_of(const Numbers &numbers) {
    return numbers.lookups() - numbers.hits();
}

double rate(std::uint64_t now, std::uint64_t before, std::uint64_t elapsed_ns) {
    if (elapsed_ns == 0 || now < before) return 0;
    return static_cast<double>(now - before) * 1e9 / static_cast<double>(elapsed_ns);
}

}  // namespace

void LiveView::look_for_caches(std::uint64_t now_ns) {
    if (looked_ns_ != 0 && now_ns - looked_ns_ < kLookNs) return;
    looked_ns_ = now_ns;
    caches_.clear();
    caches_ = list_front_end_caches(root_);
}

LiveSample LiveView::sample() {
    const std::uint64_t now_ns = monotonic_ns();
    const bool is_first = sampled_ns_ == 0;
    const std::uint64_t elapsed_ns = is_first ? 0 : now_ns - sampled_ns_;
    sampled_ns_ = now_ns;
    look_for_caches(now_ns);
    LiveSample sample;
    sample.time_ns = wall_clock_ns();
    sample.caches = caches_.size();
    std::map<RunKey, Numbers> numbers;
    const auto root = Directory::open(root_);
    for (const FrontEndCache &cache : caches_) {
        sample.disk_bytes += cache.disk_bytes;
        if (!root.ok()) continue;
        const auto directory = root.value().open_directory(cache.identifier);
        if (!directory.ok()) continue;
        const auto history = read_history(directory.value());
        if (!history.ok()) continue;
        std::uint64_t &last = last_link_[cache.identifier];
        const auto &links = history.value().links;
        // A cache that was cleared counts anew.
        if (links.empty() || links.back().number < last) last = 0;
        for (const LinkRead &link : links) {
            if (link.number <= last) continue;
            last = link.number;
            if (is_first) continue;
            ApplicationRun run = {cache.application, cache.identifier, {}, {}, false};
            sample.misses.push_back(
                {cache.application, cache.identifier, link, details_of(root_, run, link.link)});
        }
        for (const RunRead &run : history.value().runs) {
            if (!run.is_alive) continue;
            LiveRun live;
            live.known = {cache.application, cache.identifier, run, {}, false};
            live.disk_bytes = cache.disk_bytes;
            live.limit_bytes = cache.limit_bytes;
            if (run.making_ns != 0 && run.making_ns < now_ns) {
                live.making_for_ns = now_ns - run.making_ns;
            }
            const RunKey key = {cache.identifier, run.start_ns};
            const auto before = numbers_.find(key);
            // Of a run that has begun since then, all is new.
            const Numbers base = before == numbers_.end() ? Numbers() : before->second;
            if (!is_first) {
                live.lookups_per_s = rate(run.numbers.lookups(), base.lookups(), elapsed_ns);
                live.misses_per_s = rate(misses_of(run.numbers), misses_of(base), elapsed_ns);
            }
            numbers[key] = run.numbers;
            sample.total += run.numbers;
            sample.queued_entries += run.queued_entries;
            sample.queued_bytes += run.queued_bytes;
            sample.lookups_per_s += live.lookups_per_s;
            sample.runs.push_back(std::move(live));
        }
    }
    numbers_ = std::move(numbers);
    std::stable_sort(sample.runs.begin(), sample.runs.end(), [](const auto &a, const auto &b) {
        return a.lookups_per_s > b.lookups_per_s;
    });
    std::sort(sample.misses.begin(), sample.misses.end(),
              [](const auto &a, const auto &b) { return a.link.time_ns > b.link.time_ns; });
    if (sample.misses.size() > kMissesMax) sample.misses.resize(kMissesMax);
    return sample;
}

}  // namespace cairn::cli
