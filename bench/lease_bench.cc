// Measures what leases save where several processes start at once and miss the same programs, and
// the cost of a lease.
// SPDX-License-Identifier: MIT
//
// lease_bench [PROCESSES [PROGRAMS [COMPILE_MS]]]: prints medians over rounds that take turns. A
// compile is so much time of the processor. Each process misses all programs, in the same order.
#include <cairn/cairn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/harness/process.h"
#include "bench/harness/stats.h"
#include "bench/samples.h"

namespace {

using bench::median;
using bench::Process;

constexpr unsigned kRounds = 5;
constexpr unsigned kProcessesMax = 64;
constexpr std::uint32_t kPatienceMs = 10'000;

struct Board {
    std::atomic<unsigned> ready;
    std::atomic<unsigned> compiles;
    std::array<std::atomic<double>, kProcessesMax> ready_ms;  // of each process
    std::atomic<double> released_ms;
};

double now_ms(clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

void compile(double cost_ms) {
    const double begin = now_ms(CLOCK_THREAD_CPUTIME_ID);
    while (now_ms(CLOCK_THREAD_CPUTIME_ID) - begin < cost_ms) {
    }
}

cairn_cache *open_cache(const std::string &root) {
    cairn_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.identifier = "bench";
    cairn_cache *cache = nullptr;
    if (cairn_open(&options, &cache) != CAIRN_OK) std::abort();
    return cache;
}

struct Plan {
    std::string root;
    unsigned processes, programs;
    double compile_ms;
    bool leased;
};

void make(cairn_cache *cache, const std::string &key, const Plan &plan, Board &board) {
    cairn_lease *lease = nullptr;
    if (plan.leased &&
        cairn_lease_acquire(cache, key.data(), key.size(), kPatienceMs, &lease) == CAIRN_EXISTS) {
        return;
    }
    compile(plan.compile_ms);
    ++board.compiles;
    const std::string value(8192, 'v');
    (void)cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr);
    cairn_lease_release(lease);
}

void play(const Plan &plan, unsigned number, Board &board) {
    cairn_cache *cache = open_cache(plan.root);
    ++board.ready;
    while (board.ready < plan.processes) usleep(50);
    const double begin = now_ms(CLOCK_MONOTONIC);
    for (unsigned n = 0; n < plan.programs; ++n) {
        const std::string key = "program " + std::to_string(n);
        if (cairn_contains(cache, key.data(), key.size()) != CAIRN_OK) {
            make(cache, key, plan, board);
        }
    }
    board.ready_ms[number] = now_ms(CLOCK_MONOTONIC) - begin;
    cairn_close(cache);
}

void run_round(const Plan &plan, Board &board) {
    board.ready = 0;
    board.compiles = 0;
    std::filesystem::remove_all(plan.root);
    cairn_close(open_cache(plan.root));
    std::vector<Process> processes;
    for (unsigned i = 0; i < plan.processes; ++i) {
        processes.push_back(Process::fork([&plan, i, &board] { play(plan, i, board); }));
    }
    for (Process &process : processes) process.wait();
}

void compare(Plan plan, Board &board) {
    std::array<std::vector<double>, 2> last, compiles;
    for (unsigned round = 0; round < kRounds; ++round) {
        for (const bool leased : {round % 2 == 0, round % 2 != 0}) {
            plan.leased = leased;
            run_round(plan, board);
            const auto *begin = board.ready_ms.data();
            last[leased].push_back(*std::max_element(begin, begin + plan.processes));
            compiles[leased].push_back(board.compiles);
        }
    }
    for (const bool leased : {false, true}) {
        std::printf("%-15s last process ready after %7.1f ms, %4.0f compiles\n",
                    leased ? "with leases" : "without leases", median(last[leased]),
                    median(compiles[leased]));
    }
}

// The cost of a lease that no other process wants.
void measure_cost(const std::string &root) {
    constexpr unsigned kTimes = 2000;
    cairn_cache *cache = open_cache(root);
    const double begin = now_ms(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < kTimes; ++i) {
        cairn_lease *lease = nullptr;
        if (cairn_lease_acquire(cache, "free", 4, 0, &lease) != CAIRN_OK) std::abort();
        cairn_lease_release(lease);
    }
    std::printf("acquire and release, nobody waits: %.1f us\n",
                (now_ms(CLOCK_MONOTONIC) - begin) / kTimes * 1e3);
    cairn_close(cache);
}

// How long after a lease is given back another process has it.
void measure_delay(const std::string &root, Board &board) {
    std::vector<double> delays;
    for (unsigned round = 0; round < 20; ++round) {
        board.ready = 0;
        Process holder = Process::fork([&] {
            cairn_lease *lease = nullptr;
            if (cairn_lease_acquire(open_cache(root), "held", 4, 0, &lease) != CAIRN_OK) abort();
            board.ready = 1;
            usleep(30'000 + round * 97);
            board.released_ms = now_ms(CLOCK_MONOTONIC);
            cairn_lease_release(lease);
        });
        while (board.ready == 0) usleep(50);
        cairn_cache *cache = open_cache(root);
        cairn_lease *lease = nullptr;
        if (cairn_lease_acquire(cache, "held", 4, kPatienceMs, &lease) != CAIRN_OK) std::abort();
        delays.push_back(now_ms(CLOCK_MONOTONIC) - board.released_ms);
        cairn_lease_release(lease);
        cairn_close(cache);
        holder.wait();
    }
    std::printf("given back, then had by another process: %.2f ms, at most %.2f ms\n",
                median(delays), *std::max_element(delays.begin(), delays.end()));
}

}  // namespace

int main(int argc, char **argv) {
    const auto number = [&](int place, int otherwise) {
        return argc > place ? std::max(static_cast<int>(std::strtol(argv[place], nullptr, 10)), 1)
                            : otherwise;
    };
    const bench::Folder folder;
    void *memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    auto &board = *new (memory) Board{};
    const Plan plan = {
        folder.path + "/cache", std::min(static_cast<unsigned>(number(1, 4)), kProcessesMax),
        static_cast<unsigned>(number(2, 40)), static_cast<double>(number(3, 5)), false};
    std::printf("%u processes, %u programs, %.0f ms of a processor for each; %ld processors\n",
                plan.processes, plan.programs, plan.compile_ms, sysconf(_SC_NPROCESSORS_ONLN));
    compare(plan, board);
    measure_cost(plan.root);
    measure_delay(plan.root, board);
    return 0;
}
