// Damages the files of a cache, over and over, and looks whether every promise was kept. Usage:
// cairn_damage_torture --cases N [OPTION...], see kUsage. The last line is `cases N wrong N
// undamaged-lost N over-limit N hung N`. Exit code 0: all but the first are 0; 1: one is not; 2: usage.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "damage/damage_cases.h"
#include "support/process.h"
#include "support/random.h"

namespace {

using namespace cairn_test;

constexpr const char *kUsage =
    "Usage: cairn_damage_torture --cases N [OPTION...]\n"
    "  --cases N      how many caches to damage\n"
    "  --seed N       of the random choices (1)\n"
    "  --case SEED    only the case of this seed, which a failure names: once, or --cases times\n"
    "  --only KIND    only this kind of damage\n"
    "  --file KIND    only this kind of file: index segment lock ghosts reuse about leases layer\n"
    "                 order history crashes generation\n"
    "  --mode MODE    at-rest or live\n"
    "  --damages N    at most so many at once (20)\n"
    "  --jobs N       cases at a time (one for each processor)\n"
    "  --samples DIR  keep the undamaged caches there, so that a case can be repeated to the byte\n"
    "  --dir DIR      where to damage caches (in memory, where there is /dev/shm)\n"
    "  --list         names the kinds of damage\n";

struct Options {
    std::uint64_t cases = 0;
    std::uint64_t seed = 1;
    std::optional<std::uint64_t> one;
    CaseLimits limits;
    unsigned jobs = 1;
    std::string samples;
    std::string folder;
    std::string repeated;  // the options that a failing case needs
};

// Cases, not entries: one case may lose many.
struct Totals {
    std::atomic<std::uint64_t> cases = 0, wrong = 0, lost = 0, over_limit = 0, hung = 0, stale = 0,
                               hidden = 0;
};

bool set_file(Options &options, std::string_view name) {
    for (unsigned i = 0; i < static_cast<unsigned>(FileKind::count); ++i) {
        if (name == file_kind_name(static_cast<FileKind>(i)))
            options.limits.file = static_cast<FileKind>(i);
    }
    return options.limits.file.has_value();
}

bool set_number(std::string_view name, const char *value, Options &options) {
    char *end = nullptr;
    const std::uint64_t number = std::strtoull(value, &end, 0);
    if (end == value || *end != '\0') return false;
    if (name == "--cases") return (options.cases = number) != 0;
    if (name == "--seed") options.seed = number;
    if (name == "--case") options.one = number;
    if (name == "--damages") options.limits.damages_max = number;
    if (name == "--jobs") options.jobs = static_cast<unsigned>(number);
    const bool is_count = name == "--jobs" || name == "--damages";
    return name == "--seed" || name == "--case" || (is_count && number != 0);
}

bool set_option(std::string_view name, const char *value, Options &options) {
    const bool is_limit =
        name == "--only" || name == "--file" || name == "--mode" || name == "--damages";
    if (is_limit || name == "--samples")
        options.repeated += " " + std::string(name) + " '" + value + "'";
    if (name == "--only") return (options.limits.only = find_damage_kind(value)) != nullptr;
    if (name == "--file") return set_file(options, value);
    if (name == "--mode") {
        const std::string_view mode = value;
        options.limits.mode = mode == "live" ? CaseMode::live : CaseMode::at_rest;
        return mode == "live" || mode == "at-rest";
    }
    if (name == "--samples") options.samples = value;
    if (name == "--dir") options.folder = value;
    return name == "--samples" || name == "--dir" || set_number(name, value, options);
}

bool parse(int argc, char **argv, Options &options) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    options.jobs = processors > 0 ? static_cast<unsigned>(processors) : 1;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !set_option(argv[i], argv[i + 1], options)) return false;
    }
    if (options.one && options.cases == 0) options.cases = options.jobs = 1;
    return options.cases != 0;
}

void tell(const CasePlan &plan, const CaseResult &result, const Options &options) {
    const char *const name = !result.good() ? "failed" : result.stale != 0 ? "stale" : "hidden";
    std::string text = "case " + std::to_string(plan.seed) + " " + name + ", " +
                       (plan.mode == CaseMode::live ? "live" : "at rest") +
                       (plan.is_tight ? ", near the limit" : "") +
                       (plan.sample == SampleKind::program ? ", programs" : "") + ", kills " +
                       std::to_string(plan.kills) + ": " + result.text;
    text += "  repeat: cairn_damage_torture --case " + std::to_string(plan.seed) +
            options.repeated + "\n";
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, text.data(), text.size());
}

int run_job(const Options &options, unsigned job, Totals &totals) {
    DamageTorture torture(options.samples, options.folder);
    if (job == 0 && !torture.can_be_another_user())
        std::puts("permissions cannot be tried here: no process may become another user");
    for (std::uint64_t i = job; i < options.cases; i += options.jobs) {
        const std::uint64_t seed = options.one.value_or(mix(options.seed, i) >> 16);
        const CasePlan plan = torture.plan(seed, options.limits);
        const CaseResult result = torture.run(plan);
        totals.wrong += result.wrong != 0;
        totals.lost += result.lost != 0;
        totals.over_limit += result.over_limit != 0;
        totals.hung += result.hung != 0;
        totals.stale += result.stale != 0;
        totals.hidden += result.hidden != 0;
        if (!result.good() || result.stale != 0 || options.cases == 1) tell(plan, result, options);
        if (++totals.cases % 1000 == 0) {
            std::printf("%llu cases\n", static_cast<unsigned long long>(totals.cases));
            std::fflush(stdout);
        }
    }
    return 0;
}

unsigned long long number(const std::atomic<std::uint64_t> &value) {
    return value;
}

int list_kinds() {
    for (const DamageKind &kind : damage_kinds()) std::puts(kind.name);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    if (argc == 2 && std::string_view(argv[1]) == "--list") return list_kinds();
    if (!parse(argc, argv, options)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    // The samples are made once, before the jobs look for them.
    if (!options.samples.empty()) DamageTorture(options.samples, options.folder);
    const Shared<Totals> totals;
    bool whole = true;
    {
        std::vector<Child> jobs;
        for (unsigned i = 0; i < options.jobs; ++i)
            jobs.emplace_back([&, i] { return run_job(options, i, *totals); });
        for (Child &job : jobs) whole = describe_status(job.wait()).empty() && whole;
    }
    if (!whole) std::puts("a job has ended before its cases");
    std::printf("stale %llu hidden %llu\n", number(totals->stale), number(totals->hidden));
    std::printf("cases %llu wrong %llu undamaged-lost %llu over-limit %llu hung %llu\n",
                number(totals->cases), number(totals->wrong), number(totals->lost),
                number(totals->over_limit), number(totals->hung));
    const std::uint64_t bad = totals->wrong + totals->lost + totals->over_limit + totals->hung;
    return whole && bad == 0 ? 0 : 1;
}
