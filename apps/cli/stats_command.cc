// SPDX-License-Identifier: MIT
// `cairn stats`: what each cache holds and how much room it takes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter = R"(Examples:
  cairn stats
  cairn stats --json | jq .total.disk_bytes

Exit codes: 0 all caches were read (there may be none), 1 one could not be read, 2 wrong usage.)";

struct Row {
    std::string identifier;
    std::string about;
    cairn_stats stats = {};
    CrashCounts crashes;
    std::size_t start_keys = 0;
    std::string problem;  // why it could not be read; then `stats` is zero
};

Row read_row(const std::string &root, const std::string &identifier) {
    Row row;
    row.identifier = identifier;
    row.about = about_cache(root, identifier);
    row.crashes = crash_counts(root, identifier);
    row.start_keys = start_keys(root, identifier);
    try {
        row.stats = cache_stats(open_cache(root, identifier, Access::read));
    } catch (const Failure &failure) {
        row.problem = failure.what();
    }
    return row;
}

cairn_stats total_of(const std::vector<Row> &rows) {
    cairn_stats total = {};
    for (const Row &row : rows) {
        total.entries += row.stats.entries;
        total.disk_bytes += row.stats.disk_bytes;
    }
    return total;
}

nlohmann::ordered_json json_of(const std::string &root, const std::vector<Row> &rows) {
    nlohmann::ordered_json json = {{"root", root}, {"caches", nlohmann::ordered_json::array()}};
    for (const Row &row : rows) {
        nlohmann::ordered_json cache = {{"identifier", row.identifier}, {"about", row.about}};
        if (row.problem.empty()) {
            cache["entries"] = row.stats.entries;
            cache["disk_bytes"] = row.stats.disk_bytes;
            cache["limit_bytes"] = row.stats.limit_bytes;
            cache["version"] = row.stats.version;
            cache["crashes_dropped"] = row.crashes.dropped;
            cache["crashes_kept_out"] = row.crashes.kept_out;
            cache["start_keys"] = row.start_keys;
        } else {
            cache["problem"] = row.problem;
        }
        json["caches"].push_back(std::move(cache));
    }
    const cairn_stats total = total_of(rows);
    json["total"] = {
        {"caches", rows.size()}, {"entries", total.entries}, {"disk_bytes", total.disk_bytes}};
    return json;
}

void print_row(const Row &row) {
    print_line(row.identifier);
    if (row.problem.empty()) {
        print_line(fmt::format(
            "    {} in {} (limit {})", format_count(row.stats.entries, "entry", "entries"),
            format_bytes(row.stats.disk_bytes), format_bytes(row.stats.limit_bytes)));
    } else {
        print_line(fmt::format("    cannot be read: {}", row.problem));
    }
    if (row.crashes.dropped != 0) {
        print_line(fmt::format("    {} dropped after a driver had died with them, {} kept out",
                               row.crashes.dropped, row.crashes.kept_out));
    }
    if (row.start_keys != 0) {
        print_line(fmt::format("    {} recorded of earlier starts",
                               format_count(row.start_keys, "key", "keys")));
    }
    if (!row.about.empty()) {
        print_line(fmt::format("    {}", row.about));
    }
}

void print_rows(const std::string &root, const std::vector<Row> &rows) {
    if (rows.empty()) {
        print_line(fmt::format("No caches in {} yet. `cairn run -- APP` makes one.", root));
        return;
    }
    for (const Row &row : rows) {
        print_row(row);
    }
    const cairn_stats total = total_of(rows);
    print_line(fmt::format("{} in {}: {} in {}", format_count(rows.size(), "cache", "caches"), root,
                           format_count(total.entries, "entry", "entries"),
                           format_bytes(total.disk_bytes)));
}

std::vector<Row> read_rows(const std::string &root, Quiet quiet) {
    const std::vector<std::string> identifiers = list_caches(root);
    Progress progress("Counting entries", quiet, identifiers.size());
    std::vector<Row> rows;
    for (const std::string &identifier : identifiers) {
        rows.push_back(read_row(root, identifier));
        progress.add(1);
    }
    return rows;
}

int print_stats(const std::string &dir, bool json, Quiet quiet) {
    const std::string root = resolve_root(dir);
    require_usable_root(root);
    const std::vector<Row> rows = read_rows(root, quiet);
    json ? print_json(json_of(root, rows)) : print_rows(root, rows);
    const bool is_whole =
        std::all_of(rows.begin(), rows.end(), [](const Row &row) { return row.problem.empty(); });
    return is_whole ? kExitOk : kExitFailure;
}

}  // namespace

void add_stats_command(CLI::App &app, int &exit_code) {
    struct Options {
        std::string dir;
        bool json = false;
        Quiet quiet = Quiet::no;
    };
    CLI::App *command =
        app.add_subcommand("stats", "Show what the caches hold and what room they take");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    command->add_flag("--json", options->json, "Print JSON");
    add_dir_option(*command, options->dir);
    add_quiet_option(*command, options->quiet, "Do not show how far it is");
    command->callback([options, &exit_code] {
        exit_code = print_stats(options->dir, options->json, options->quiet);
    });
}

}  // namespace cairn::cli
