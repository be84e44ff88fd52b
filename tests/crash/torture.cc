// SPDX-License-Identifier: MIT
#include "crash/torture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "support/files.h"
#include "support/process.h"
#include "support/random.h"
#include "support/shared.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr std::uint64_t kRoundBytesMax = 384u << 20;
constexpr unsigned kHangSeconds = 60;
// How many operations of a worker show that it gets on.
constexpr std::uint64_t kSettledOperations = 20;
// Of clears, fewer: each deletes what all others keep storing. For every file it waits for a write
// that the kernel slows down, by up to 200 ms, where the disk is slower than the workers.
constexpr std::uint64_t kSettledClears = 2;

std::uint64_t now_ms() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
           static_cast<std::uint64_t>(time.tv_nsec) / 1000000;
}

void pause_us(std::uint64_t microseconds) {
    const timespec time = {static_cast<time_t>(microseconds / 1000000),
                           static_cast<long>(microseconds % 1000000) * 1000};
    nanosleep(&time, nullptr);
}

class Round {
  public:
    Round(const TortureOptions &options, Scenario scenario, std::uint64_t seed)
        : random_(seed), directory_(options.directory) {
        arena_->scenario = scenario;
        arena_->worker_count = options.processes;
    }

    // Kills up to `kills` workers, or fewer when time is up; gives how many.
    std::uint64_t run(std::uint64_t kills, std::uint64_t deadline_ms);
    Arena &arena() { return *arena_; }

  private:
    void start(unsigned worker);
    void kill_one();
    void settle();
    void end_all();
    void check_end(Child &child, int expected_signal);
    void check_size();
    void in_child(const char *what, void (*body)(Arena &, const std::string &));

    Random random_;
    TempDirectory directory_;
    Shared<Arena> arena_;
    std::vector<Child> workers_;
    std::uint64_t kills_ = 0;
};

std::uint64_t Round::run(std::uint64_t kills, std::uint64_t deadline_ms) {
    in_child("preparing", &prepare_cache);
    workers_.resize(arena_->worker_count);
    for (unsigned i = 0; i < workers_.size(); ++i) start(i);
    while (kills_ < kills && now_ms() < deadline_ms && arena_->ledger.stop == 0 &&
           arena_->ledger.bytes_written < kRoundBytesMax) {
        kill_one();
        if (arena_->scenario == Scenario::full) check_size();
    }
    settle();
    end_all();
    in_child("verifying", &verify_cache);
    return kills_;
}

void Round::start(unsigned worker) {
    const std::uint64_t seed = random_.next();
    workers_[worker] = Child([this, worker, seed] {
        run_worker(*arena_, worker, directory_.path(), seed);
        return 0;
    });
}

// Half of the kills hit a worker soon after its start, while it opens the cache; the others any
// worker at any time.
void Round::kill_one() {
    static thread_local unsigned latest = 0;
    const bool young = random_.one_in(2);
    pause_us(random_.below(young ? 1500 : 6000));
    const auto victim = young ? latest % arena_->worker_count
                              : static_cast<unsigned>(random_.below(arena_->worker_count));
    workers_[victim].signal(SIGKILL);
    check_end(workers_[victim], SIGKILL);
    ++kills_;
    start(victim);
    latest = victim;
}

// Everyone left alive must get on: a dead process is in nobody's way.
void Round::settle() {
    const auto &progress = arena_->ledger.progress;
    std::vector<std::uint64_t> wanted;
    for (unsigned i = 0; i < workers_.size(); ++i) {
        const bool clears = arena_->scenario == Scenario::clear && i == kClearingWorker;
        wanted.push_back(progress[i].total() + (clears ? kSettledClears : kSettledOperations));
    }
    const std::uint64_t deadline = now_ms() + kHangSeconds * 1000;
    for (unsigned i = 0; i < workers_.size(); ++i) {
        while (arena_->ledger.stop == 0 && progress[i].total() < wanted[i]) {
            if (now_ms() > deadline) {
                report(arena_->findings(), arena_->findings().wrong,
                       "worker %u hangs: %llu operations are missing", i,
                       static_cast<unsigned long long>(wanted[i] - progress[i].total()));
                return;
            }
            if (workers_[i].ended()) break;
            pause_us(1000);
        }
    }
}

void Round::end_all() {
    arena_->ledger.stop = 1;
    const std::uint64_t deadline = now_ms() + kHangSeconds * 1000;
    for (Child &worker : workers_) {
        while (!worker.ended()) {
            if (now_ms() > deadline) {
                report(arena_->findings(), arena_->findings().wrong, "a worker does not end");
                worker.signal(SIGKILL);
                break;
            }
            pause_us(1000);
        }
        check_end(worker, SIGKILL);
    }
}

// A worker ends by being told to, or by our signal; anything else is a crash.
void Round::check_end(Child &child, int expected_signal) {
    const int status = child.wait();
    if (WIFSIGNALED(status) && WTERMSIG(status) == expected_signal) return;
    const std::string what = describe_status(status);
    if (!what.empty())
        report(arena_->findings(), arena_->findings().wrong, "a worker ended by %s", what.c_str());
}

void Round::check_size() {
    const std::uint64_t held = blocks_held(cache_directory(directory_.path()));
    if (held > kFullLimit) {
        report(arena_->findings(), arena_->findings().wrong, "%llu bytes on disk, limit %llu",
               static_cast<unsigned long long>(held), static_cast<unsigned long long>(kFullLimit));
    }
}

void Round::in_child(const char *what, void (*body)(Arena &, const std::string &)) {
    const std::string end = run_in_child(2 * kHangSeconds, [&] {
        body(*arena_, directory_.path());
        return 0;
    });
    if (!end.empty())
        report(arena_->findings(), arena_->findings().wrong, "%s: %s", what, end.c_str());
}

void print_round(const TortureOptions &options, std::uint64_t round, Arena &arena,
                 const TortureResult &result) {
    if (options.verbosity == Verbosity::quiet) return;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t refused = 0;
    for (const Progress &progress : arena.ledger.progress) {
        reads += progress.reads;
        writes += progress.writes;
        refused += progress.refused;
    }
    std::printf(
        "round %llu %s: kills %llu of %llu, %llu stores, %llu refused, %llu lookups, "
        "lost %llu wrong %llu failed %llu\n",
        static_cast<unsigned long long>(round), scenario_name(arena.scenario).data(),
        static_cast<unsigned long long>(result.kills),
        static_cast<unsigned long long>(options.kills), static_cast<unsigned long long>(writes),
        static_cast<unsigned long long>(refused), static_cast<unsigned long long>(reads),
        static_cast<unsigned long long>(result.lost), static_cast<unsigned long long>(result.wrong),
        static_cast<unsigned long long>(result.failed));
    std::fflush(stdout);
}

}  // namespace

TortureResult run_torture(const TortureOptions &options) {
    TortureResult result;
    const std::uint64_t deadline =
        options.seconds == 0 ? UINT64_MAX : now_ms() + options.seconds * 1000;
    constexpr auto kScenarios = static_cast<std::uint64_t>(Scenario::count);
    const std::uint64_t share = options.only ? options.kills : options.kills / kScenarios;
    const std::uint64_t per_round = options.kills_per_round != 0
                                        ? options.kills_per_round
                                        : std::clamp<std::uint64_t>(share, 5, 50);
    for (std::uint64_t number = 0; result.kills < options.kills && now_ms() < deadline; ++number) {
        const auto scenario = options.only.value_or(static_cast<Scenario>(number % kScenarios));
        Round round(options, scenario, mix(options.seed, number));
        const std::uint64_t wanted = std::min(per_round, options.kills - result.kills);
        result.kills += round.run(wanted, deadline);
        const Findings &findings = round.arena().findings();
        result.lost += findings.lost;
        result.wrong += findings.wrong;
        result.failed += findings.failed;
        print_round(options, number, round.arena(), result);
    }
    return result;
}

}  // namespace cairn_test
