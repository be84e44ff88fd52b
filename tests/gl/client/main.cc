// SPDX-License-Identifier: MIT
// CLIENT SCENARIO [END]: plays a scenario and writes its transcript to standard output.
// END is how the process ends afterwards: "return" (the default), the same after 0.6 seconds
// ("linger"), "exit" inside a function, or, with the display closed before, "_exit" or "kill" (by
// SIGKILL).
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "gl.h"
#include "scenarios.h"
#include "window_system.h"

namespace {

using client::Scenario;

constexpr Scenario kScenarios[] = {
#define X(name) {#name, &client::name},
    CLIENT_SCENARIOS(X)
#undef X
        {"switched", &client::switched},
    {"varied", &client::varied},
    {"identified", &client::identified},
};

const Scenario *scenario_of(std::string_view name) {
    using List = std::span<const Scenario>;
    for (const List list : {List(kScenarios), client::own_scenarios()}) {
        for (const Scenario &scenario : list) {
            if (name == scenario.name) {
                return &scenario;
            }
        }
    }
    return nullptr;
}

int end(std::string_view how) {
    std::fflush(stdout);
    if (how == "exit") {
        std::exit(0);
    }
    if (how == "linger") {
        usleep(600'000);
        return 0;
    }
    if (how != "return") {
        client::close_display();
    }
    if (how == "_exit") {
        _exit(0);
    }
    if (how == "kill") {
        kill(getpid(), SIGKILL);
    }
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const Scenario *scenario = argc > 1 ? scenario_of(argv[1]) : nullptr;
    if (scenario == nullptr) {
        std::fprintf(stderr, "usage: %s SCENARIO [return|linger|exit|_exit|kill]\n", argv[0]);
        return 2;
    }
    client::load_gl();
    scenario->play();
    return end(argc > 2 ? argv[2] : "return");
}
