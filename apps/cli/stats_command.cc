// SPDX-License-Identifier: MIT
// `cairn stats`: what each cache holds and how much room it takes, and what was counted over time.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cache/driver_cache.h"
#include "caches.h"
#include "command.h"
#include "output.h"
#include "over_time.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Days are those of UTC. Numbers of 90 days are kept by day; older ones count for `all`.

Examples:
  cairn stats
  cairn stats week --application game --by-generation
  cairn stats --json | jq .total.disk_bytes
  cairn stats --json | jq .over_time.today.total.hits
  cairn stats --forget

Exit codes: 0 all caches were read (there may be none), or the numbers were forgotten, 1 one could not be
read, or the answer was no, 2 wrong usage.)";

struct Options {
    std::optional<std::string> span;
    std::string application;
    bool by_generation = false;
    bool json = false;
    bool forget = false;
    bool yes = false;
};

cairn_stats total_of(const std::vector<CacheSummary> &rows) {
    cairn_stats total = {};
    for (const CacheSummary &row : rows) {
        total.entries += row.stats.entries;
        total.disk_bytes += row.stats.disk_bytes;
    }
    return total;
}

void print_all_json(const std::string &root, const std::vector<CacheSummary> &rows,
                    const Options &options, const OverTime &over_time) {
    nlohmann::ordered_json json = json_of(root, rows);
    const cairn_stats total = total_of(rows);
    json["total"] = {{"caches", rows.size()},
                     {"entries", total.entries},
                     {"disk_bytes", total.disk_bytes},
                     {"driver_bytes", driver_caches_bytes(root, options.application)}};
    json["over_time"] =
        over_time.json(std::nullopt, options.by_generation ? ByGeneration::yes : ByGeneration::no);
    print_json(json);
}

void print_row(const CacheSummary &row) {
    print_line(row.identifier);
    if (row.problem.empty()) {
        print_line("    {} in {} (limit {})", format_count(row.stats.entries, "entry", "entries"),
                   format_bytes(row.stats.disk_bytes), format_bytes(row.stats.limit_bytes));
    } else {
        print_line("    cannot be read: {}", row.problem);
    }
    if (row.crashes.dropped != 0) {
        print_line("    {} dropped after a driver had died with them, {} kept out",
                   row.crashes.dropped, row.crashes.kept_out);
    }
    if (row.start_keys != 0) {
        print_line("    {} recorded of earlier starts",
                   format_count(row.start_keys, "key", "keys"));
    }
    if (!row.about.empty()) print_line("    {}", row.about);
}

void print_rows(const std::string &root, const std::vector<CacheSummary> &rows,
                const std::string &application) {
    if (rows.empty() && !application.empty()) {
        print_line("No caches of `{}` in {}.", application, root);
        return;
    }
    if (rows.empty()) {
        print_line("No caches in {} yet. `cairn run -- APP` makes one.", root);
        return;
    }
    for (const CacheSummary &row : rows) print_row(row);
    const cairn_stats total = total_of(rows);
    const std::uint64_t of_drivers = driver_caches_bytes(root, application);
    if (of_drivers != 0) {
        print_line("{} of machine code in {}, which drivers keep by application",
                   format_bytes(of_drivers), driver_caches_path(root));
    }
    print_line("{} in {}: {} in {}", format_count(rows.size(), "cache", "caches"), root,
               format_count(total.entries, "entry", "entries"), format_bytes(total.disk_bytes));
}

int print_stats(const std::string &root, const Options &options) {
    std::vector<CacheSummary> rows = summarize_caches(root);
    std::erase_if(rows, [&](const CacheSummary &row) {
        return !is_of_application(row.application, options.application);
    });
    const OverTime over_time(root, options.application);
    if (options.json) {
        print_all_json(root, rows, options, over_time);
    } else {
        print_rows(root, rows, options.application);
        over_time.print_summary();
    }
    return exit_code_of(rows);
}

int print_span(const std::string &root, const Options &options) {
    const Span span = span_of(*options.span);
    const OverTime over_time(root, options.application);
    const auto by_generation = options.by_generation ? ByGeneration::yes : ByGeneration::no;
    if (options.json) {
        print_json({{"root", root}, {"over_time", over_time.json(span, by_generation)}});
    } else {
        over_time.print(span, by_generation);
    }
    return kExitOk;
}

int run_stats(const Options &options) {
    const std::string root = usable_root();
    if (options.forget) {
        forget_over_time(root, options.application, options.yes);
        return kExitOk;
    }
    return options.span ? print_span(root, options) : print_stats(root, options);
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    CLI::Option *span = take.value("SPAN", options->span,
                                   "Only what was counted today, in a week, or in all: today, week "
                                   "or all");
    take.value("--application", options->application, "Only of this application", "NAME");
    CLI::Option *by_generation =
        take.flag("--by-generation", options->by_generation, "Show numbers by generation, too");
    CLI::Option *json = take.flag("--json", options->json, "Print JSON");
    CLI::Option *forget =
        take.flag("--forget", options->forget, "Forget what was counted; the caches stay");
    take.flag("--yes,-y", options->yes, "Do not ask");
    take.exclusive({forget, span});
    take.exclusive({forget, json});
    take.exclusive({forget, by_generation});
    take.dir();
    take.quiet("Do not show how far it is");
    return [options] { return run_stats(*options); };
}

}  // namespace

const Command stats_command = {"stats", "Show what the caches hold, and what was counted over time",
                               kFooter, define};

}  // namespace cairn::cli
