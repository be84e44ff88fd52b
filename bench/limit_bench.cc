// Measures what a put costs where the cache's limit is small, so that each put evicts.
// SPDX-License-Identifier: MIT
//
// limit_bench FOLDER [PUTS [ROUNDS [LARGEST_KIB]]]: puts the same values into a cache with a
// limit of 6 MiB, into one that evicts by lru, and into one of 1 GiB, which take turns, another one
// first in each round.
#include <cairn/cairn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"

namespace {

struct Kind {
    unsigned limit_mib;
    const char *policy;
};
constexpr std::array<Kind, 3> kKinds = {{{6, "default"}, {6, "lru"}, {1024, "default"}}};
constexpr std::size_t kKib = 1024;

struct Load {
    std::string folder;
    std::size_t puts;
    std::size_t largest_bytes;
};

struct Outcome {
    std::vector<double> times_us;  // of each put, sorted
    std::uint64_t entries;         // that are there at the end
};

Outcome put_all(const Load &load, const Kind &kind) {
    static const std::string pool = bench::value_of(1, kKib * kKib);
    const bench::Folder folder(load.folder);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = folder.path.c_str();
    options.identifier = "bench";
    options.limit_bytes = std::uint64_t{kind.limit_mib} << 20;
    options.policy = kind.policy;
    cairn_cache *cache = nullptr;
    if (cairn_open(&options, &cache) != CAIRN_OK) std::abort();
    std::mt19937_64 random(load.puts);  // the same for all
    std::vector<double> times;
    for (std::size_t i = 0; i < load.puts; ++i) {
        const std::string key = bench::key_of(i);
        const std::size_t size = 1 + random() % load.largest_bytes;
        const char *const value = pool.data() + random() % (pool.size() - size);
        const std::uint64_t begin = bench::now_ns();
        const int result = cairn_put(cache, key.data(), key.size(), value, size, nullptr);
        times.push_back(static_cast<double>(bench::now_ns() - begin) / 1000);
        if (result != CAIRN_OK) std::abort();
    }
    cairn_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_stats_get(cache, &stats) != CAIRN_OK) std::abort();
    cairn_close(cache);
    std::sort(times.begin(), times.end());
    return {std::move(times), stats.entries};
}

double mean(const std::vector<double> &times) {
    double sum = 0;
    for (const double time : times) sum += time;
    return sum / static_cast<double>(times.size());
}

}  // namespace

int main(int count, char **arguments) {
    const auto number = [&](int which, std::size_t otherwise) -> std::size_t {
        return which < count ? std::strtoul(arguments[which], nullptr, 10) : otherwise;
    };
    const Load load = {count > 1 ? arguments[1] : "/dev/shm", number(2, 95'000),
                       number(4, 68) * kKib};
    const std::size_t rounds = number(3, 3);
    struct Ratios {
        const char *name;
        std::size_t of, to;  // which kinds
        std::vector<double> means, p50, p99;
    };
    std::array<Ratios, 2> ratios = {
        {{"default / lru", 0, 1, {}, {}, {}}, {"6 MiB / 1 GiB", 0, 2, {}, {}, {}}}};
    for (std::size_t round = 0; round < rounds; ++round) {
        std::array<std::vector<double>, kKinds.size()> times;
        for (std::size_t turn = 0; turn < times.size(); ++turn) {
            const std::size_t which = (round + turn) % times.size();
            const Outcome outcome = put_all(load, kKinds[which]);
            const std::vector<double> &now = outcome.times_us;
            std::printf("%4u MiB, %-7s: mean %.1f us, p50 %.1f, p99 %.1f; %llu entries stay\n",
                        kKinds[which].limit_mib, kKinds[which].policy, mean(now),
                        now[now.size() / 2], now[now.size() * 99 / 100],
                        static_cast<unsigned long long>(outcome.entries));
            times[which] = now;
            std::fflush(stdout);
        }
        for (Ratios &each : ratios) {
            const std::vector<double> &of = times[each.of], &to = times[each.to];
            each.means.push_back(mean(of) / mean(to));
            each.p50.push_back(of[load.puts / 2] / to[load.puts / 2]);
            each.p99.push_back(of[load.puts * 99 / 100] / to[load.puts * 99 / 100]);
        }
    }
    for (const Ratios &each : ratios) {
        std::printf("%s: mean %.2f, p50 %.2f, p99 %.2f\n", each.name, bench::median(each.means),
                    bench::median(each.p50), bench::median(each.p99));
    }
    return 0;
}
