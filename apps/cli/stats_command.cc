// SPDX-License-Identifier: MIT
// `cairn stats`: what each cache holds and how much room it takes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cache/driver_cache.h"
#include "caches.h"
#include "command.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter = R"(Examples:
  cairn stats
  cairn stats --json | jq .total.disk_bytes

Exit codes: 0 all caches were read (there may be none), 1 one could not be read, 2 wrong usage.)";

cairn_stats total_of(const std::vector<CacheSummary> &rows) {
    cairn_stats total = {};
    for (const CacheSummary &row : rows) {
        total.entries += row.stats.entries;
        total.disk_bytes += row.stats.disk_bytes;
    }
    return total;
}

std::uint64_t driver_bytes(const std::string &root) {
    std::uint64_t bytes = 0;
    const auto all = Directory::open(driver_caches_path(root));
    if (!all.ok()) return 0;
    (void)all.value().list([&](const char *name) { bytes += driver_cache_bytes(root, name); });
    return bytes;
}

void print_all_json(const std::string &root, const std::vector<CacheSummary> &rows) {
    nlohmann::ordered_json json = json_of(root, rows);
    const cairn_stats total = total_of(rows);
    json["total"] = {{"caches", rows.size()},
                     {"entries", total.entries},
                     {"disk_bytes", total.disk_bytes},
                     {"driver_bytes", driver_bytes(root)}};
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

void print_rows(const std::string &root, const std::vector<CacheSummary> &rows) {
    if (rows.empty()) {
        print_line("No caches in {} yet. `cairn run -- APP` makes one.", root);
        return;
    }
    for (const CacheSummary &row : rows) print_row(row);
    const cairn_stats total = total_of(rows);
    const std::uint64_t of_drivers = driver_bytes(root);
    if (of_drivers != 0) {
        print_line("{} of machine code in {}, which drivers keep by application",
                   format_bytes(of_drivers), driver_caches_path(root));
    }
    print_line("{} in {}: {} in {}", format_count(rows.size(), "cache", "caches"), root,
               format_count(total.entries, "entry", "entries"), format_bytes(total.disk_bytes));
}

int print_stats(const std::string &root, bool json) {
    const std::vector<CacheSummary> rows = summarize_caches(root);
    json ? print_all_json(root, rows) : print_rows(root, rows);
    return exit_code_of(rows);
}

Run define(Arguments &take) {
    auto json = std::make_shared<bool>();
    take.flag("--json", *json, "Print JSON");
    take.dir();
    take.quiet("Do not show how far it is");
    return [json] { return print_stats(usable_root(), *json); };
}

}  // namespace

const Command stats_command = {"stats", "Show what the caches hold and what room they take",
                               kFooter, define};

}  // namespace cairn::cli
