// Measures what a put costs where the cache's limit is small, so that each put evicts, and what a hit costs
// there.
// SPDX-License-Identifier: MIT
//
// limit_bench FOLDER [PUTS [ROUNDS [LARGEST_KIB]]]: puts the same values into a cache with a
// limit of 6 MiB, into one that evicts by lru, and into one of 1 GiB, which take turns, another one
// first in each round. Then looks up the newest ones that stay, none of them in the cache's own memory.
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
constexpr std::size_t kHits = 200'000, kKeysMax = 500;  // look-ups, and keys, of one cache

struct Load {
    std::string folder;
    std::size_t puts;
    std::size_t largest_bytes;
};

struct Outcome {
    std::vector<double> puts_us, hits_us;  // of each, sorted
    std::uint64_t entries;                 // that are there at the end
};

double us_since(std::uint64_t begin_ns) {
    return static_cast<double>(bench::now_ns() - begin_ns) / 1000;
}

bool is_there(cairn_cache *cache, const std::string &key) {
    cairn_blob *blob = nullptr;
    const int result = cairn_get(cache, key.data(), key.size(), &blob);
    cairn_blob_free(blob);
    if (result != CAIRN_OK && result != CAIRN_MISS) std::abort();
    return result == CAIRN_OK;
}

std::vector<double> look_up(cairn_cache *cache, std::size_t puts) {
    std::vector<std::string> keys;
    for (std::size_t i = puts; i-- > 0 && keys.size() < kKeysMax;) {
        std::string key = bench::key_of(i);
        if (is_there(cache, key)) keys.push_back(std::move(key));
    }
    if (keys.empty()) std::abort();
    std::vector<double> times;
    for (std::size_t i = 0; i < kHits; ++i) {
        const std::string &key = keys[i % keys.size()];
        const std::uint64_t begin = bench::now_ns();
        if (!is_there(cache, key)) std::abort();
        times.push_back(us_since(begin));
    }
    std::sort(times.begin(), times.end());
    return times;
}

Outcome measure(const Load &load, const Kind &kind) {
    static const std::string pool = bench::value_of(1, kKib * kKib);
    const bench::Folder folder(load.folder);
    cairn_options options = {};
    options.size = sizeof options;
    options.root = folder.path.c_str();
    options.identifier = "bench";
    options.limit_bytes = std::uint64_t{kind.limit_mib} << 20;
    options.policy = kind.policy;
    options.memory_bytes = CAIRN_NONE;
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
        times.push_back(us_since(begin));
        if (result != CAIRN_OK) std::abort();
    }
    cairn_stats stats = {};
    stats.size = sizeof stats;
    if (cairn_stats_get(cache, &stats) != CAIRN_OK) std::abort();
    std::vector<double> hits = look_up(cache, load.puts);
    cairn_close(cache);
    std::sort(times.begin(), times.end());
    return {std::move(times), std::move(hits), stats.entries};
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
        std::vector<double> Outcome::*times;
        std::vector<double> means, p50, p99;
    };
    std::array<Ratios, 3> ratios = {{{"put, default / lru", 0, 1, &Outcome::puts_us, {}, {}, {}},
                                     {"put, 6 MiB / 1 GiB", 0, 2, &Outcome::puts_us, {}, {}, {}},
                                     {"hit, default / lru", 0, 1, &Outcome::hits_us, {}, {}, {}}}};
    for (std::size_t round = 0; round < rounds; ++round) {
        std::array<Outcome, kKinds.size()> outcomes;
        for (std::size_t turn = 0; turn < kKinds.size(); ++turn) {
            const std::size_t which = (round + turn) % kKinds.size();
            outcomes[which] = measure(load, kKinds[which]);
            const auto &[puts, hits, entries] = outcomes[which];
            std::printf(
                "%4u MiB, %-7s: put mean %.1f us, p50 %.1f, p99 %.1f; hit mean %.2f us, p50 %.2f; "
                "%llu entries stay\n",
                kKinds[which].limit_mib, kKinds[which].policy, mean(puts), puts[puts.size() / 2],
                puts[puts.size() * 99 / 100], mean(hits), hits[hits.size() / 2],
                static_cast<unsigned long long>(entries));
            std::fflush(stdout);
        }
        for (Ratios &each : ratios) {
            const std::vector<double> &of = outcomes[each.of].*each.times;
            const std::vector<double> &to = outcomes[each.to].*each.times;
            each.means.push_back(mean(of) / mean(to));
            each.p50.push_back(of[of.size() / 2] / to[to.size() / 2]);
            each.p99.push_back(of[of.size() * 99 / 100] / to[to.size() * 99 / 100]);
        }
    }
    for (const Ratios &each : ratios) {
        std::printf("%s: mean %.2f, p50 %.2f, p99 %.2f\n", each.name, bench::median(each.means),
                    bench::median(each.p50), bench::median(each.p99));
    }
    return 0;
}
