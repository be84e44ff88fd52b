// SPDX-License-Identifier: MIT
#include "bench/link/start.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/harness/process.h"
#include "bench/harness/stats.h"
#include "bench/link/measure.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Cost {
    double wall_ms;
    double cpu_ms;
};

double children_cpu_ms() {
    rusage usage = {};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const auto ms = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// A command from before its process exists until it has ended.
Cost cost_of(const std::vector<const char *> &command, const std::string &cache) {
    const double cpu_before = children_cpu_ms();
    const std::uint64_t begin = now_ns();
    const int status = Process::fork([&] {
                           ::setenv("CAIRN_DIR", cache.c_str(), 1);
                           ::dup2(::open("/dev/null", O_RDWR), STDERR_FILENO);
                           ::execv(command[0], const_cast<char *const *>(command.data()));
                           ::_exit(127);
                       }).wait();
    if (status != 0) throw std::runtime_error(std::string(command[0]) + " failed");
    return {static_cast<double>(now_ns() - begin) * 1e-6, children_cpu_ms() - cpu_before};
}

struct Costs {
    std::vector<double> wall_ms, cpu_ms;
    void add(const Cost &cost) {
        wall_ms.push_back(cost.wall_ms);
        cpu_ms.push_back(cost.cpu_ms);
    }
};

void measure_launcher(const std::string &cache, std::size_t rounds) {
    Costs alone, run;
    for (std::size_t round = 0; round < rounds; ++round) {
        alone.add(cost_of({"/bin/true", nullptr}, cache));
        run.add(cost_of({BENCH_CAIRN, "run", "--", "/bin/true", nullptr}, cache));
    }
    const auto more = [](std::vector<double> &one, std::vector<double> &other, double percent) {
        return percentile(one, percent) - percentile(other, percent);
    };
    std::printf(
        "`cairn run -- /bin/true`, more than /bin/true takes, ms: median %.2f, fastest %.2f; "
        "of processor time %.2f, %.2f\n",
        more(run.wall_ms, alone.wall_ms, 50), more(run.wall_ms, alone.wall_ms, 1),
        more(run.cpu_ms, alone.cpu_ms, 50), more(run.cpu_ms, alone.cpu_ms, 1));
}

struct Starts {
    std::vector<double> context_ms, cpu_ms, wall_ms;
};

void measure_first_link(const Theatre &theatre, const std::string &cache, std::size_t rounds) {
    std::array<Starts, 3> all;
    Wish wish = {"es-small", Condition::warm, {0}, cache + "-warm"};
    theatre.play(wish);
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < all.size(); ++turn) {
            const std::size_t which = (round + turn) % all.size();
            wish.condition = static_cast<Condition>(which);
            wish.cache = cache + (wish.condition == Condition::warm ? "-warm" : "-cold");
            if (wish.condition == Condition::cold) fs::remove_all(wish.cache);
            const PlayedFamily played = theatre.play(wish);
            const Spent &spent = played.programs.front().spent;
            all[which].context_ms.push_back(static_cast<double>(played.context_ns) * 1e-6);
            all[which].cpu_ms.push_back(static_cast<double>(build_ns(spent.cpu_ns)) * 1e-6);
            all[which].wall_ms.push_back(static_cast<double>(build_ns(spent.wall_ns)) * 1e-6);
        }
    }
    std::printf("\nThe first program of a process, of 2 KB, medians:\n");
    for (std::size_t which = 0; which < all.size(); ++which) {
        std::printf("  %-8s context %6.2f ms, then built in %6.3f ms (processor time %6.3f ms)\n",
                    kConditionNames[which], median(all[which].context_ms),
                    median(all[which].wall_ms), median(all[which].cpu_ms));
    }
}

}  // namespace

void measure_start(const Theatre &theatre, const std::string &folder, std::size_t rounds) {
    constexpr std::size_t kLauncherRounds = 4;  // for each round of the others: they are short
    measure_launcher(folder + "/run", kLauncherRounds * rounds);
    measure_first_link(theatre, folder + "/first", rounds);
}

}  // namespace bench
