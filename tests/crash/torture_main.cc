// Kills processes that share a cache, over and over. Usage: cairn_torture --kills N [OPTION...],
// see kUsage. The last line is `kills N lost N wrong N`. Exit code 0: nothing lost, nothing wrong;
// 1: something was; 2: usage.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "crash/torture.h"

namespace {

using cairn_test::Scenario;
using cairn_test::TortureOptions;

constexpr const char *kUsage =
    "Usage: cairn_torture --kills N [OPTION...]\n"
    "  --kills N        how many processes to kill\n"
    "  --seconds S      end after that time, also with fewer kills\n"
    "  --procs P        how many processes share the cache (8; 2 to 16)\n"
    "  --dir D          where to make the caches ($TMPDIR)\n"
    "  --seed N         of the random choices (1)\n"
    "  --round N        kills in a round (at most 50)\n"
    "  --scenario NAME  only this one: mixed short_lived growth clear wipe rebuild full remember\n";

bool set_scenario(TortureOptions &options, std::string_view name) {
    for (unsigned i = 0; i < static_cast<unsigned>(Scenario::count); ++i) {
        if (cairn_test::scenario_name(static_cast<Scenario>(i)) != name) continue;
        options.only = static_cast<Scenario>(i);
        return true;
    }
    return false;
}

bool set_option(TortureOptions &options, std::string_view name, const char *value) {
    if (name == "--dir") {
        options.directory = value;
        return true;
    }
    if (name == "--scenario") return set_scenario(options, value);
    char *end = nullptr;
    const std::uint64_t number = std::strtoull(value, &end, 10);
    if (end == value || *end != '\0') return false;
    if (name == "--kills")
        options.kills = number;
    else if (name == "--seconds")
        options.seconds = number;
    else if (name == "--procs")
        options.processes = static_cast<unsigned>(number);
    else if (name == "--seed")
        options.seed = number;
    else if (name == "--round")
        options.kills_per_round = number;
    else
        return false;
    return true;
}

bool parse(int argc, char **argv, TortureOptions &options) {
    options.kills = 0;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !set_option(options, argv[i], argv[i + 1])) return false;
    }
    return options.kills != 0 && options.processes >= 2 &&
           options.processes <= cairn_test::kWorkersMax;
}

}  // namespace

int main(int argc, char **argv) {
    TortureOptions options;
    options.verbosity = cairn_test::Verbosity::progress;
    if (!parse(argc, argv, options)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    const auto result = cairn_test::run_torture(options);
    if (result.failed != 0) {
        std::printf("%llu calls gave an error that they must not give\n",
                    static_cast<unsigned long long>(result.failed));
    }
    std::printf("kills %llu lost %llu wrong %llu\n", static_cast<unsigned long long>(result.kills),
                static_cast<unsigned long long>(result.lost),
                static_cast<unsigned long long>(result.wrong));
    return result.good() ? 0 : 1;
}
