// SPDX-License-Identifier: MIT
// `cairn why`: what became of the programs of a run, and why some of them were compiled.
#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "caches.h"
#include "command.h"
#include "histories.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(A run is one process. Run 1 is the last one, run 2 the one before it; `cairn why` lists them. What the outcomes
mean is in docs/why.md.

Examples:
  cairn why
  cairn why glmark2-es2
  cairn why --run 2 --json | jq .run.outcomes

Exit codes: 0 shown; 1 there is no such run; 2 wrong usage.)";

constexpr std::size_t kRunsListed = 10;

struct Options {
    std::string application;
    bool last = false;
    std::optional<std::string> run;
    std::optional<std::string> programs;
    bool json = false;
};

std::size_t number_of(const char *option, const std::string &text) {
    std::size_t number = 0;
    const char *const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number == 0) {
        throw Failure(kExitUsage, "{} `{}` is no number; write for example 1", option, text);
    }
    return number;
}

// What the run is, in a line.
std::string about_run(const ApplicationRun &run) {
    const Numbers &numbers = run.run.numbers;
    return fmt::format("{}  {}: {} of {} from the cache{}",
                       format_time(run.run.start_ns / 1'000'000), run.application, numbers.hits(),
                       format_count(numbers.lookups(), "program", "programs"),
                       run.run.is_alive ? ", still running" : "");
}

// The links of one outcome whose details are the same.
struct Group {
    std::string details;
    std::size_t links = 0;
    uint64_t cost_ns = 0;
};

std::vector<Group> groups_of(const std::string &root, const ApplicationRun &run, Outcome outcome) {
    // By what the details are made from: to find them may read files.
    std::map<std::pair<Detail, uint64_t>, Group> by_reason;
    for (const LinkRead &read : run.links) {
        const Link &link = read.link;
        if (link.outcome != outcome) continue;
        Group &group = by_reason[{link.detail, link.other}];
        if (group.links++ == 0) group.details = details_of(root, run, link);
        group.cost_ns += link.cost_ns;
    }
    std::vector<Group> groups;
    for (const auto &[reason, group] : by_reason) {
        if (!group.details.empty()) groups.push_back(group);
    }
    std::sort(groups.begin(), groups.end(),
              [](const Group &a, const Group &b) { return a.cost_ns > b.cost_ns; });
    return groups;
}

void print_outcomes(const std::string &root, const ApplicationRun &run) {
    constexpr std::size_t kGroupsShown = 5;
    const Numbers &numbers = run.run.numbers;
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        const uint64_t count = numbers.count(outcome);
        if (count == 0) continue;
        print_line("  {:>6}  {:<26} {:>10}", count, outcome_words(outcome),
                   format_duration_ns(numbers.ns(outcome)));
        const std::vector<Group> groups = groups_of(root, run, outcome);
        for (std::size_t n = 0; n < std::min(groups.size(), kGroupsShown); ++n) {
            print_line("  {:>6}    {}", groups.size() == 1 ? "" : std::to_string(groups[n].links),
                       groups[n].details);
        }
        if (groups.size() > kGroupsShown) {
            print_line("            and {} other reasons (--json has all)",
                       groups.size() - kGroupsShown);
        }
    }
}

void print_dearest(const std::string &root, const ApplicationRun &run, std::size_t shown) {
    std::vector<LinkRead> links = run.links;
    std::stable_sort(links.begin(), links.end(), [](const LinkRead &a, const LinkRead &b) {
        return a.link.cost_ns > b.link.cost_ns;
    });
    links.resize(std::min(links.size(), shown));
    if (links.empty()) return;
    print_line("Programs that cost most{}:",
               run.has_older_links ? fmt::format(" (of the last {})", run.links.size()) : "");
    const auto sources = sources_of(root, run.identifier);
    for (const LinkRead &read : links) {
        const Link &link = read.link;
        const std::string key =
            link.key == LinkKey() ? "no key" : format_key(link.key.data(), link.key.size(), 8);
        print_line("  {:>8}  {:<18} {}", format_cost_ns(link.cost_ns), key,
                   outcome_words(link.outcome));
        const auto source = sources.find(link.key);
        if (source == sources.end()) continue;
        for (const std::string &line : source_lines(source->second)) {
            print_line("            | {}", line);
        }
    }
    if (sources.empty()) {
        print_line("  (`cairn run --keep-sources -- APP` keeps the first lines of their sources)");
    }
}

void print_run(const std::string &root, const ApplicationRun &run, std::size_t shown) {
    const Numbers &numbers = run.run.numbers;
    print_line(about_run(run));
    if (numbers[Number::saved_ns] > 0) {
        print_line("  about {} saved", format_duration_ns(numbers[Number::saved_ns]));
    }
    print_outcomes(root, run);
    print_dearest(root, run, shown);
}

void print_list(const std::vector<ApplicationRun> &runs) {
    print_line("Runs, the last one first:");
    for (std::size_t i = 0; i < std::min(runs.size(), kRunsListed); ++i) {
        print_line("  {:>2}  {}", i + 1, about_run(runs[i]));
    }
    if (runs.size() > kRunsListed) print_line("  and {} before", runs.size() - kRunsListed);
    print_line("");
}

Failure no_runs(const std::string &root, const std::string &application) {
    if (application.empty()) {
        return {kExitFailure,
                "no run is remembered in {}; start an application with `cairn run -- APP`, or in a "
                "session with `cairn enable`",
                root};
    }
    Words known;
    for (const auto &[identifier, name] : list_applications(root)) {
        known.push_back(application_name(name));
    }
    return {kExitFailure,
            "no run of `{}` is remembered in {}{}; it may not have linked a program through Cairn "
            "(`cairn status` says for which applications it is off)",
            application, root, did_you_mean(application, known)};
}

int why(const Options &options) {
    const std::string root = usable_root();
    const std::size_t chosen = options.run ? number_of("--run", *options.run) : 1;
    const std::size_t shown = options.programs ? number_of("--programs", *options.programs) : 5;
    const std::vector<ApplicationRun> runs = read_runs(root, options.application);
    if (runs.empty()) throw no_runs(root, options.application);
    if (chosen > runs.size()) {
        throw Failure(kExitFailure, "there is no run {}: {} remembered", chosen,
                      runs.size() == 1 ? "1 is" : fmt::format("{} are", runs.size()));
    }
    const ApplicationRun &run = runs[chosen - 1];
    if (options.json) {
        print_json({{"root", root},
                    {"number", chosen},
                    {"runs", runs.size()},
                    {"run", json_of(root, run, sources_of(root, run.identifier))}});
        return kExitOk;
    }
    if (!options.last && !options.run) print_list(runs);
    print_run(root, run, shown);
    return kExitOk;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.value("application", options->application, "Only runs of this application");
    take.exclusive(
        {take.flag("--last", options->last, "Only the last run, without the list"),
         take.value("--run", options->run, "Only this run, counted from the last", "N")});
    take.value("--programs", options->programs, "How many programs are shown (5)", "N");
    take.flag("--json", options->json, "Print JSON");
    take.dir();
    return [options] { return why(*options); };
}

}  // namespace

const Command why_command = {"why", "Show why programs of an application were compiled", kFooter,
                             define};

}  // namespace cairn::cli
