// Kills a broker and its clients, over and over. Usage: broker_torture KILLS [SEED]. The last line
// is `kills N confirmed N lost N wrong N`. Exit code 0: nothing lost, nothing wrong; 1: something
// was; 2: usage.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>

#include "broker/torture.h"

int main(int argc, char **argv) {
    cairn_test::BrokerTortureOptions options;
    options.progress = true;
    options.kills = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    if (argc > 2) options.seed = std::strtoull(argv[2], nullptr, 10);
    if (options.kills == 0) {
        std::fputs("Usage: broker_torture KILLS [SEED]\n", stderr);
        return 2;
    }
    const auto result = cairn_test::run_broker_torture(options);
    std::printf("kills %llu confirmed %llu lost %llu wrong %llu\n",
                static_cast<unsigned long long>(result.kills),
                static_cast<unsigned long long>(result.confirmed),
                static_cast<unsigned long long>(result.lost),
                static_cast<unsigned long long>(result.wrong));
    return result.good() ? 0 : 1;
}
