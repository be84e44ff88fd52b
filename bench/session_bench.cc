// What it costs look-ups of D3D12 sessions that their outcomes are remembered (docs/why.md).
// SPDX-License-Identifier: MIT
//
// session_bench [ROUNDS [VALUES]]: in each round two processes look up the same values (2,000) in caches of their own, one
// with `record = 0` in its configuration. Medians and p99 over all rounds (20), and the difference.
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"
#include "session_cache.h"

namespace {

using cairn::as_bytes;
using cairn::d3d12::CacheOptions;
using cairn::d3d12::EntryRef;
using cairn::d3d12::Outcome;
using cairn::d3d12::SessionCache;

constexpr std::size_t kValueSize = 2000;

enum Kind : std::size_t { kOpen, kMiss, kHitOnDisk, kHitInMemory, kKinds };
constexpr std::array<const char *, kKinds> kNames = {"opening", "a miss", "a hit, DISK",
                                                     "a hit, MEMORY"};
using Times = std::array<std::vector<double>, kKinds>;

double now_us() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

void check(bool is_right, const char *what) {
    if (is_right) return;
    std::fprintf(stderr, "session_bench: %s\n", what);
    std::_Exit(1);
}

std::shared_ptr<SessionCache> open(const std::string &folder, bool is_on_disk) {
    CacheOptions options;
    options.is_on_disk = is_on_disk;
    options.identifier = "d3d12-bench-00000001-0000-0000-0000-000000000000";
    options.identity = is_on_disk ? "disk" : "memory";
    options.application = "bench";
    options.root = options.control_root = folder + "/root";
    options.limit_bytes = 128u << 20;
    options.memory_bytes = is_on_disk ? 0 : 64u << 20;
    options.memory_entries = 100'000;
    std::shared_ptr<SessionCache> cache;
    check(join_cache(options, cache) == Outcome::ok, "no session");
    return cache;
}

double time_of_find(SessionCache &cache, const std::string &key, Outcome expected) {
    EntryRef entry;
    const double begin = now_us();
    const Outcome outcome = cache.find(as_bytes(key), SessionCache::Wanted::value, entry);
    const double end = now_us();
    check(outcome == expected, "an entry is there, or is not");
    return end - begin;
}

// A start, as a process of its own has it.
void start(const std::string &folder, unsigned round, std::size_t values) {
    Times times;
    const double begin = now_us();
    const auto disk = open(folder, true);
    times[kOpen].push_back(now_us() - begin);
    const auto memory = open(folder, false);
    for (std::size_t i = 0; i < values; ++i) {
        const std::string key = bench::key_of(i);
        const std::string value = bench::value_of(i, kValueSize);
        times[kMiss].push_back(
            time_of_find(*disk, bench::key_of((round + 1) * 1'000'000 + i), Outcome::not_found));
        if (round == 0)
            check(disk->store(as_bytes(key), as_bytes(value)) == Outcome::ok, "not stored");
        check(memory->store(as_bytes(key), as_bytes(value)) == Outcome::ok, "not stored");
    }
    for (std::size_t i = 0; i < values; ++i) {
        const std::string key = bench::key_of(i * 7919 % values);
        times[kHitOnDisk].push_back(time_of_find(*disk, key, Outcome::ok));
        times[kHitInMemory].push_back(time_of_find(*memory, key, Outcome::ok));
    }
    std::ofstream file(folder + "/times");
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        for (const double each : times[kind]) file << kind << ' ' << each << '\n';
    }
}

// With a configuration of its own.
void start_process(const std::string &folder, unsigned round, std::size_t values, Times &times) {
    const pid_t child = fork();
    if (child == 0) {
        ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
        start(folder, round, values);
        std::_Exit(0);
    }
    int status = 0;
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a process failed");
    std::ifstream file(folder + "/times");
    std::size_t kind = 0;
    double time = 0;
    while (file >> kind >> time) times.at(kind).push_back(time);
}

double p99(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() * 99 / 100];
}

}  // namespace

int main(int count, char **arguments) {
    const auto rounds =
        static_cast<unsigned>(count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 20);
    const std::size_t values = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 2000;
    const bench::Folder folder;
    const std::string without = folder.path + "/without";
    const std::string with = folder.path + "/with";
    for (const std::string &each : {without, with}) {
        std::filesystem::create_directories(each + "/cairn");
        std::filesystem::create_directories(each + "/root");
    }
    std::ofstream(without + "/cairn/config") << "record = 0\n";
    Times plain;
    Times remembered;
    for (unsigned round = 0; round < rounds; ++round) {
        start_process(without, round, values, plain);
        start_process(with, round, values, remembered);
    }
    std::printf("%-14s %22s %22s %12s\n", "", "not remembered, p99", "remembered, p99",
                "difference");
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        const double before = bench::median(plain[kind]);
        const double after = bench::median(remembered[kind]);
        std::printf("%-14s %10.2f %8.2f us %10.2f %8.2f us %+9.2f us\n", kNames[kind], before,
                    p99(plain[kind]), after, p99(remembered[kind]), after - before);
    }
}
