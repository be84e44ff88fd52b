// SPDX-License-Identifier: MIT
// egl_client SCENARIO [END]: plays a scenario and writes its transcript to standard output.
// END is how the process ends afterwards: "return" (the default), "exit" inside a function, or,
// with displays terminated before, "_exit" or "kill" (by SIGKILL).
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gl.h"
#include "scenarios.h"
#include "scene.h"

namespace {

struct Scenario {
    const char *name;
    void (*play)();
};

constexpr Scenario kScenarios[] = {
#define X(name) {#name, &client::name},
    CLIENT_SCENARIOS(X)
#undef X
        {"vendors", &client::vendors},
    {"beside", &client::beside},
    {"switched", &client::switched},
};

int end(std::string_view how) {
    std::fflush(stdout);
    if (how == "exit") {
        std::exit(0);
    }
    if (how != "return") {
        client::egl.Terminate(client::display());
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
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (wanted == "--list") {
        for (const Scenario &scenario : kScenarios) {
            std::puts(scenario.name);
        }
        return 0;
    }
    for (const Scenario &scenario : kScenarios) {
        if (wanted == scenario.name) {
            client::load_gl();
            scenario.play();
            return end(argc > 2 ? argv[2] : "return");
        }
    }
    std::fprintf(stderr, "usage: %s SCENARIO [return|exit|_exit|kill]\n", argv[0]);
    return 2;
}
