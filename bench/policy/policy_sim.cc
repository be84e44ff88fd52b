// policy_sim: what each way of evicting saves on a trace of look-ups: the store's policies, in a real
// cache; those of other caches; and the bound that none exceeds.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "policy/bound.h"
#include "policy/replay.h"
#include "policy/rivals.h"
#include "policy/trace.h"

namespace {

using policy_sim::Score;
using policy_sim::Trace;

constexpr std::uint64_t kLimitMin = 1024 * 1024;  // as the store has

double percent(double part, double whole) {
    return whole == 0 ? 0 : 100 * part / whole;
}

// "25%" of the footprint, "6M", or bytes. 0: it is none of these.
std::uint64_t limit_of(const std::string &text, const Trace &trace) {
    std::size_t end = 0;
    double number = 0;
    try {
        number = std::stod(text, &end);
    } catch (const std::exception &) {
        return 0;
    }
    const std::string unit = text.substr(end);
    if (unit == "%") number *= static_cast<double>(trace.footprint_bytes) / 100;
    if (unit == "M") number *= 1024 * 1024;
    const bool is_known = unit.empty() || unit == "%" || unit == "M";
    return is_known && number >= 1 && number < 1e18 ? static_cast<std::uint64_t>(number) : 0;
}

void print(const char *kind, std::string_view name, const Trace &trace, const Score &score) {
    std::printf(
        "%-6s %-10.*s %7.2f %7.2f %7.2f", kind, static_cast<int>(name.size()), name.data(),
        percent(static_cast<double>(score.avoided_us), static_cast<double>(trace.cost_us)),
        percent(static_cast<double>(score.hits), static_cast<double>(trace.requests.size())),
        percent(static_cast<double>(score.hit_bytes), static_cast<double>(trace.bytes)));
}

void compare(const Trace &trace, std::uint64_t limit, const std::vector<std::string> &policies,
             const std::string &folder) {
    std::printf("limit %.1f MiB, %.1f %% of the footprint\n",
                static_cast<double>(limit) / 1048576.0,
                percent(static_cast<double>(limit), static_cast<double>(trace.footprint_bytes)));
    std::printf("                  stall    hits   bytes  (%% avoided or found)\n");
    std::uint64_t room = 0;
    for (const std::string &policy : policies) {
        const auto outcome = policy_sim::replay(trace, limit, policy, folder);
        print("store", policy, trace, outcome.score);
        std::printf("  %.1f us a put\n", outcome.put_us);
        std::fflush(stdout);
        if (room == 0) room = outcome.room_bytes;
    }
    const auto print_rivals = [&](const char *kind, std::uint64_t bytes) {
        for (const policy_sim::Rival &rival : policy_sim::rivals()) {
            print(kind, rival.name, trace, rival.run(trace, bytes));
            std::printf("\n");
        }
    };
    print_rivals("ideal", limit);
    if (room != 0) {
        std::printf("with the %.2f MiB that the store has for entries:\n",
                    static_cast<double>(room) / 1048576.0);
        print_rivals("room", room);
    }
    std::printf("bound             %7.2f\n",
                percent(bound_us(trace, limit), static_cast<double>(trace.cost_us)));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app(
        "Replays a trace of look-ups, as `cairn run --trace` records it, against eviction "
        "policies.");
    std::string path;
    std::vector<std::string> limits;
    std::vector<std::string> policies = {"default", "lru", "fifo", "mru"};
    std::string folder = "/dev/shm";
    app.add_option("TRACE", path, "lines of KEY SIZE_BYTES COST_US")->required();
    app.add_option("LIMIT", limits,
                   "bytes, or such as 6M, or a part of the bytes of all keys such as 25%")
        ->required();
    app.add_option("--store", policies,
                   "the store's policies, of which the first says how much room the others get; "
                   "none: only the others")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    app.add_option("--folder", folder, "where the store's caches are made")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    if (policies == std::vector<std::string>{"none"}) policies.clear();
    const auto trace = policy_sim::read_trace(path.c_str());
    if (!trace) {
        std::fprintf(stderr, "policy_sim: no look-ups in %s\n", path.c_str());
        return 1;
    }
    std::printf("%zu look-ups of %zu keys, footprint %.1f MiB, %.1f s to make them all\n",
                trace->requests.size(), trace->key_count,
                static_cast<double>(trace->footprint_bytes) / 1048576.0,
                static_cast<double>(trace->cost_us) / 1e6);
    for (const std::string &text : limits) {
        const std::uint64_t limit = limit_of(text, *trace);
        if (limit < kLimitMin) {
            std::fprintf(stderr,
                         "policy_sim: a limit is 1 MiB or more, such as 6M or 25%%, not %s\n",
                         text.c_str());
            return 2;
        }
        try {
            compare(*trace, limit, policies, folder);
        } catch (const std::exception &error) {
            std::fprintf(stderr, "policy_sim: %s\n", error.what());
            return 1;
        }
    }
    return 0;
}
