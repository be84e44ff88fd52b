// SPDX-License-Identifier: MIT
// `cairn ls`: the caches, or the entries of one.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "caches.h"
#include "command.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Without CACHE: one cache per line. With CACHE: its entries, newest first: the beginning of the key,
the size of the value, what making it cost, and when it was stored.

KEY of --sort is name, application, entries, size or used of caches, and key, size, cost or stored of
entries. Numbers begin with the largest, times with the latest; --reverse turns that around.

Examples:
  cairn ls --sort size
  cairn ls gl-game-0123456789abcdef
  cairn ls --json CACHE | jq -r .entries[].key

Exit codes: 0 listed (there may be nothing), 1 the cache does not exist or cannot be read, 2 wrong usage.)";

constexpr size_t kKeyBytesShown = 8;

struct Options {
    std::optional<std::string> cache;
    std::string sort;
    bool reverse = false;
    bool json = false;
    bool full_keys = false;
    bool no_header = false;
};

template <typename Row>
struct Order {
    const char *name;
    bool (*is_before)(const Row &, const Row &);
};

// The first of `orders` is the usual one. `rows` are in an order that decides where this one does
// not.
template <typename Row, size_t kCount>
void sort_rows(std::vector<Row> &rows, const Options &options,
               const std::array<Order<Row>, kCount> &orders) {
    const auto found = std::find_if(orders.begin(), orders.end(), [&](const Order<Row> &order) {
        return order.name == options.sort;
    });
    if (found == orders.end() && !options.sort.empty()) {
        Words names;
        for (const Order<Row> &order : orders) names.emplace_back(order.name);
        throw Failure(kExitUsage, "these cannot be sorted by `{}`, only by {}", options.sort,
                      fmt::join(names, ", "));
    }
    const auto is_before = (options.sort.empty() ? orders.begin() : found)->is_before;
    std::stable_sort(rows.begin(), rows.end(), [&](const Row &a, const Row &b) {
        return options.reverse ? is_before(b, a) : is_before(a, b);
    });
}

constexpr std::array<Order<CacheSummary>, 5> kCacheOrders = {{
    {"name", [](const auto &a, const auto &b) { return a.identifier < b.identifier; }},
    {"application", [](const auto &a, const auto &b) { return a.application < b.application; }},
    {"entries", [](const auto &a, const auto &b) { return a.stats.entries > b.stats.entries; }},
    {"size", [](const auto &a, const auto &b) { return a.stats.disk_bytes > b.stats.disk_bytes; }},
    {"used", [](const auto &a, const auto &b) { return a.used_at_ms > b.used_at_ms; }},
}};

void print_caches(const std::vector<CacheSummary> &rows, bool no_header) {
    size_t names = 0;
    size_t applications = std::string_view("APPLICATION").size();
    for (const CacheSummary &row : rows) {
        names = std::max(names, row.identifier.size());
        applications = std::max(applications, row.application.size());
    }
    const auto print = [&](const auto &...columns) {
        std::string line = fmt::format("{:<{}}  {:<{}}  {:>9}  {:>10}  {:<19}  {}", columns...);
        line.resize(line.find_last_not_of(' ') + 1);  // the last column may be empty
        print_line(line);
    };
    if (!rows.empty() && !no_header) {
        print("CACHE", names, "APPLICATION", applications, "ENTRIES", "SIZE", "USED", "ABOUT");
    }
    for (const CacheSummary &row : rows) {
        if (row.problem.empty()) {
            print(row.identifier, names, row.application.empty() ? "-" : row.application,
                  applications, row.stats.entries, format_bytes(row.stats.disk_bytes),
                  format_time(row.used_at_ms), row.about);
        } else {
            complain(row.problem);
        }
    }
}

int list_all(const std::string &root, const Options &options) {
    std::vector<CacheSummary> rows = summarize_caches(root);
    sort_rows(rows, options, kCacheOrders);
    options.json ? print_json(json_of(root, rows)) : print_caches(rows, options.no_header);
    return exit_code_of(rows);
}

struct Entry {
    std::string key;
    uint64_t value_bytes;
    uint64_t stored_bytes;
    uint64_t stored_at_ms;
    uint32_t cost_us;
    bool pinned;
};

constexpr std::array<Order<Entry>, 4> kEntryOrders = {{
    {"stored", [](const Entry &a, const Entry &b) { return a.stored_at_ms > b.stored_at_ms; }},
    {"key", [](const Entry &a, const Entry &b) { return a.key < b.key; }},
    {"size", [](const Entry &a, const Entry &b) { return a.value_bytes > b.value_bytes; }},
    {"cost", [](const Entry &a, const Entry &b) { return a.cost_us > b.cost_us; }},
}};

std::vector<Entry> read_entries(const CacheHandle &cache, const std::string &identifier,
                                const Options &options) {
    Progress progress("Listing " + identifier, cache_stats(cache).entries);
    std::vector<Entry> entries;
    for_each_entry(cache, fmt::format("list `{}`", identifier), [&](const cairn_entry &entry) {
        progress.add(1);
        entries.push_back({{static_cast<const char *>(entry.key), entry.key_size},
                           entry.value_size,
                           entry.stored_size,
                           entry.stored_at_ms,
                           entry.cost_us,
                           (entry.flags & CAIRN_PUT_PINNED) != 0});
        return true;
    });
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.key < b.key; });
    sort_rows(entries, options, kEntryOrders);
    return entries;
}

void print_entries(const std::vector<Entry> &entries, const Options &options) {
    const size_t bytes_shown = options.full_keys ? CAIRN_KEY_SIZE_MAX : kKeyBytesShown;
    constexpr const char *kColumns = "{:<18}  {:>10}  {:>9}  {}{}";
    if (!entries.empty() && !options.no_header) {
        print_line(fmt::runtime(kColumns), "KEY", "SIZE", "COST", "STORED", "");
    }
    for (const Entry &entry : entries) {
        print_line(fmt::runtime(kColumns),
                   format_key(entry.key.data(), entry.key.size(), bytes_shown),
                   format_bytes(entry.value_bytes),
                   entry.cost_us == 0 ? "-" : format_duration_ns(uint64_t{entry.cost_us} * 1000),
                   format_time(entry.stored_at_ms), entry.pinned ? "  pinned" : "");
    }
}

nlohmann::ordered_json json_of(const std::string &identifier, const std::vector<Entry> &entries) {
    nlohmann::ordered_json json = {{"cache", identifier},
                                   {"entries", nlohmann::ordered_json::array()}};
    for (const Entry &entry : entries) {
        json["entries"].push_back(
            {{"key", format_key(entry.key.data(), entry.key.size(), entry.key.size())},
             {"value_bytes", entry.value_bytes},
             {"stored_bytes", entry.stored_bytes},
             {"cost_us", entry.cost_us},
             {"stored_at_ms", entry.stored_at_ms},
             {"pinned", entry.pinned}});
    }
    return json;
}

int list_entries(const std::string &root, const std::string &identifier, const Options &options) {
    const CacheHandle cache = open_cache(root, identifier, Access::read_only);
    const std::vector<Entry> entries = read_entries(cache, identifier, options);
    options.json ? print_json(json_of(identifier, entries)) : print_entries(entries, options);
    return kExitOk;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.value("CACHE", options->cache, "A cache, as `cairn ls` shows it");
    take.value("--sort", options->sort, "The order of the lines", "KEY");
    take.flag("-r,--reverse", options->reverse, "In the opposite order");
    take.flag("--json", options->json, "Print JSON, with exact numbers and whole keys");
    take.flag("--full-keys", options->full_keys, "Print whole keys");
    take.flag("--no-header", options->no_header, "Do not print the names of the columns");
    take.dir();
    take.quiet("Do not show how far it is");
    return [options] {
        const std::string root = usable_root();
        return options->cache ? list_entries(root, *options->cache, *options)
                              : list_all(root, *options);
    };
}

}  // namespace

const Command ls_command = {"ls", "List the caches, or the entries of one", kFooter, define};

}  // namespace cairn::cli
