// SPDX-License-Identifier: MIT
#include "bench/link/start.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
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

// How a process finds things.
struct Start {
    const char *name;
    Condition condition;
    const char *cache;  // behind the folder's name
    const char
        *template_;  // what the cache is copied from each time; "" for nothing; null: it stays
};
constexpr Start kStarts[] = {
    {"without Cairn", Condition::plain, "-none", nullptr},
    {"cold, no folder", Condition::cold, "-new", ""},
    {"cold, no cache", Condition::cold, "-root", "-root-template"},
    {"cold", Condition::cold, "-other", "-other-template"},
    {"warm", Condition::warm, "-warm", nullptr},
    {"driver's load", Condition::driver, "-none", nullptr},
};

struct Starts {
    std::vector<double> context_ms, context_cpu_ms, cpu_ms, wall_ms;
    std::array<std::vector<double>, kBuildPhases> phases_us;  // processor time

    void add(const PlayedFamily &played) {
        const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
        const Spent &spent = played.programs.front().spent;
        context_ms.push_back(ms(played.context_ns));
        context_cpu_ms.push_back(ms(played.context_cpu_ns));
        cpu_ms.push_back(ms(build_ns(spent.cpu_ns)));
        wall_ms.push_back(ms(build_ns(spent.wall_ns)));
        for (std::size_t phase = 0; phase < kBuildPhases; ++phase) {
            phases_us[phase].push_back(1e3 * ms(spent.cpu_ns[phase]));
        }
    }
};

using AllStarts = std::array<Starts, std::size(kStarts)>;

// The caches that processes find, each made by a process, and the driver's binary.
void prepare_caches(const Theatre &theatre, const std::string &cache) {
    theatre.play({"es-small", Condition::plain, {0}, cache, false, true});
    theatre.play({"es-small", Condition::warm, {0}, cache + "-warm"});
    theatre.play({"es-small", Condition::cold, {1}, cache + "-other-template"});
    theatre.play({"es-small", Condition::cold, {1}, cache + "-root-template"});
    for (const auto &entry : fs::directory_iterator(cache + "-root-template")) {
        if (entry.is_directory()) fs::remove_all(entry);
    }
}

void print_starts(const AllStarts &all) {
    std::printf(
        "\nThe first program of a process, of 2 KB, medians; processor time but for wall:\n");
    std::printf("%-16s  context wall ms  context ms  built wall ms  built ms ", "");
    for (std::size_t phase = 0; phase < kBuildPhases; ++phase) {
        std::printf("  %s", kPhaseNames[phase]);
    }
    std::printf(" us\n");
    for (std::size_t which = 0; which < all.size(); ++which) {
        const Starts &starts = all[which];
        std::printf("%-16s  %15.2f  %10.2f  %13.3f  %8.3f ", kStarts[which].name,
                    median(starts.context_ms), median(starts.context_cpu_ms),
                    median(starts.wall_ms), median(starts.cpu_ms));
        for (std::size_t phase = 0; phase < kBuildPhases; ++phase) {
            std::printf("  %*.0f", static_cast<int>(std::strlen(kPhaseNames[phase])),
                        median(starts.phases_us[phase]));
        }
        std::printf("\n");
    }
}

void measure_first_link(const Theatre &theatre, const std::string &cache, std::size_t rounds) {
    prepare_caches(theatre, cache);
    AllStarts all;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < all.size(); ++turn) {
            const std::size_t which = (round + turn) % all.size();
            const Start &start = kStarts[which];
            const std::string folder = cache + start.cache;
            if (start.template_ != nullptr) {
                fs::remove_all(folder);
                if (*start.template_ != '\0') {
                    fs::copy(cache + start.template_, folder, fs::copy_options::recursive);
                }
            }
            all[which].add(theatre.play({"es-small", start.condition, {0}, folder}));
        }
    }
    print_starts(all);
}

}  // namespace

void measure_start(const Theatre &theatre, const std::string &folder, std::size_t rounds) {
    constexpr std::size_t kLauncherRounds = 4;  // for each round of the others: they are short
    measure_launcher(folder + "/run", kLauncherRounds * rounds);
    measure_first_link(theatre, folder + "/first", rounds);
}

}  // namespace bench
