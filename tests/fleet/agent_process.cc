// SPDX-License-Identifier: MIT
#include "agent_process.h"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <thread>

#include "support/eventually.h"
#include "support/process.h"

namespace cairn::fleet_test {

void share(const Machine &machine, const std::string &url, const std::string &key) {
    fs::create_directories(machine.configuration());
    std::ofstream(machine.configuration() + "/config") << "share = 1\n";
    std::ofstream(machine.configuration() + "/remotes")
        << "[studio]\nurl = " << url << "\nuse = read" << (key.empty() ? "" : " write") << "\n"
        << (key.empty() ? "" : "sign = " + key + "\n");
}

int as_application(const Machine &machine, const std::function<int()> &work) {
    cairn_test::Child child([&] {
        for (const auto &[name, value] : machine.environment()) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
        return work();
    });
    const int status = child.wait();
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void start_application(const Machine &machine, const std::string &driver) {
    as_application(machine, [&] {
        machine.start(driver);
        return 0;
    });
}

void compile(const Machine &machine, const std::string &driver, int from, int to) {
    as_application(machine, [&] {
        machine.put_programs(driver, from, to);
        return 0;
    });
}

int count_found(const Machine &machine, const std::string &driver, int from, int to) {
    return as_application(machine, [&] { return machine.programs_found(driver, from, to); });
}

void put_many(const Machine &machine, const std::string &driver, int count, std::size_t size) {
    cairn_cache *const cache = machine.open_programs(driver);
    std::mt19937_64 random(1);
    std::string value(size, '\0');
    for (int i = 0; i < count; ++i) {
        for (std::size_t at = 0; at < value.size(); at += 8) {
            const std::uint64_t word = random();
            std::memcpy(value.data() + at, &word, 8);
        }
        const std::string key = Machine::key_of(i);
        const cairn_put_options options = {sizeof options, 0, 1000};
        // Busy: it is put faster than it is written.
        while (cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &options) ==
               CAIRN_ERROR_BUSY) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    cairn_close(cache);
}

AgentProcess::AgentProcess(const Machine &machine, unsigned speed) {
    Environment environment = machine.environment();
    environment["CAIRN_AGENT_SPEED"] = std::to_string(speed);
    program_ = std::make_unique<cli_test::Program>(Words{CAIRN_AGENT, "serve"}, environment);
    EXPECT_TRUE(says("waiting for applications"));
}

void AgentProcess::signal(int number) const {
    EXPECT_EQ(::kill(pid(), number), 0);
}

bool AgentProcess::says(const std::string &text, std::size_t behind) const {
    return cairn_test::eventually([&] { return said().find(text, behind) != std::string::npos; });
}

bool AgentProcess::has_pushed(std::uint64_t entries, std::size_t behind) const {
    constexpr std::string_view kPushed = ": pushed ";
    return cairn_test::eventually([&] {
        std::uint64_t sum = 0;
        const std::string text = said();
        for (std::size_t at = text.find(kPushed, behind); at != std::string::npos;
             at = text.find(kPushed, at + 1)) {
            sum += std::strtoull(text.c_str() + at + kPushed.size(), nullptr, 10);
        }
        return sum >= entries;
    });
}

std::uint64_t AgentProcess::status(const std::string &name) const {
    std::ifstream file("/proc/" + std::to_string(pid()) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1));
    }
    ADD_FAILURE() << "no " << name;
    return 0;
}

std::uint64_t AgentProcess::ticks() const {
    std::ifstream file("/proc/" + std::to_string(pid()) + "/stat");
    std::string text;
    std::getline(file, text);
    // Behind the name, which may have blanks, come the state and ten numbers.
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) rest >> skipped;
    std::uint64_t user = 0, system = 0;
    rest >> user >> system;
    return user + system;
}

}  // namespace cairn::fleet_test
