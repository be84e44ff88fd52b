// Measures what a put costs where the cache's limit is small, so that each put evicts.
// SPDX-License-Identifier: MIT
//
// limit_bench FOLDER [PUTS [ROUNDS [LARGEST_KIB]]]: puts the same values into a cache with a
// limit of 6 MiB and into one of 1 GiB, which take turns, another one first in each round.
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

constexpr std::array<unsigned, 2> kLimitsMib = {6, 1024};
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

Outcome put_all(const Load &load, unsigned limit_mib) {
    static const std::string pool = bench::value_of(1, kKib * kKib);
    const bench::Folder folder(load.folder);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = folder.path.c_str();
    options.identifier = "bench";
    options.limit_bytes = std::uint64_t{limit_mib} << 20;
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
    std::vector<double> of_means, of_p50, of_p99;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::array<std::vector<double>, kLimitsMib.size()> times;
        for (std::size_t turn = 0; turn < times.size(); ++turn) {
            const std::size_t which = (round + turn) % times.size();
            const Outcome outcome = put_all(load, kLimitsMib[which]);
            const std::vector<double> &now = outcome.times_us;
            std::printf("%4u MiB: mean %.1f us, p50 %.1f, p99 %.1f; %llu entries stay\n",
                        kLimitsMib[which], mean(now), now[now.size() / 2],
                        now[now.size() * 99 / 100],
                        static_cast<unsigned long long>(outcome.entries));
            times[which] = now;
            std::fflush(stdout);
        }
        of_means.push_back(mean(times[0]) / mean(times[1]));
        of_p50.push_back(times[0][load.puts / 2] / times[1][load.puts / 2]);
        of_p99.push_back(times[0][load.puts * 99 / 100] / times[1][load.puts * 99 / 100]);
    }
    std::printf("6 MiB / 1 GiB: mean %.2f, p50 %.2f, p99 %.2f\n", bench::median(of_means),
                bench::median(of_p50), bench::median(of_p99));
    return 0;
}
