// SPDX-License-Identifier: MIT
#include "views.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "history/files.h"
#include "history/outcome.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/root.h"
#include "output.h"
#include "pack/files.h"
#include "text.h"

namespace cairn::dashboard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kCountedFor{5};
constexpr std::size_t kSlowestOfCache = 50;
constexpr std::size_t kSlowest = 100;
constexpr std::size_t kRunsShown = 200;
constexpr std::uint64_t kDayNs = 86'400'000'000'000;
constexpr std::uint64_t kDays = 90;

Json json_of(const Numbers &numbers) {
    std::uint64_t compile_ns = 0;
    Json misses = Json::array();
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (is_hit(outcome)) continue;
        compile_ns += numbers.ns(outcome);
        if (numbers.count(outcome) == 0) continue;
        misses.push_back({{"cause", outcome_name(outcome)},
                          {"words", outcome_words(outcome)},
                          {"count", numbers.count(outcome)},
                          {"ns", numbers.ns(outcome)}});
    }
    return {{"lookups", numbers.lookups()},
            {"hits", numbers.hits()},
            {"saved_ns", numbers[Number::saved_ns]},
            {"compile_ns", compile_ns},
            {"stored", numbers[Number::stored]},
            {"evicted", numbers[Number::evicted]},
            {"misses", std::move(misses)}};
}

// What was counted by day; where nothing was yet, by what the caches remember of the last runs.
std::vector<DayRow> read_days(const std::string &root, bool &is_of_runs) {
    std::vector<DayRow> rows = read_counters(root);
    is_of_runs = rows.empty();
    if (!is_of_runs) return rows;
    for (const cli::ApplicationRun &run : cli::read_runs(root, "")) {
        rows.push_back({run.run.start_ns / kDayNs, run.application,
                        generation_number(run.identifier), run.run.numbers});
    }
    return rows;
}

Json json_of_days(const std::vector<DayRow> &rows, std::uint64_t today) {
    std::map<std::uint64_t, Numbers> days;
    for (const DayRow &row : rows) {
        if (row.day <= today && row.day + kDays > today) days[row.day] += row.numbers;
    }
    Json json = Json::array();
    for (const auto &[day, numbers] : days) {
        json.push_back({{"day_ms", day * (kDayNs / 1'000'000)},
                        {"lookups", numbers.lookups()},
                        {"hits", numbers.hits()},
                        {"saved_ns", numbers[Number::saved_ns]}});
    }
    return json;
}

Json json_of_totals(const std::vector<DayRow> &rows, std::uint64_t today) {
    Numbers of_today, of_week, all;
    for (const DayRow &row : rows) {
        all += row.numbers;
        if (row.day > today) continue;
        if (row.day == today) of_today += row.numbers;
        if (row.day + 7 > today) of_week += row.numbers;
    }
    return {{"today", json_of(of_today)}, {"week", json_of(of_week)}, {"all", json_of(all)}};
}

Json json_of_applications(const std::vector<DayRow> &rows) {
    std::map<std::string, Numbers> applications;
    for (const DayRow &row : rows) applications[row.application] += row.numbers;
    Json json = Json::array();
    for (const auto &[application, numbers] : applications) {
        Json &made = json.emplace_back(json_of(numbers));
        made["application"] = application;
    }
    return json;
}

std::uint64_t driver_bytes(const std::string &root) {
    std::uint64_t bytes = 0;
    const auto all = Directory::open(driver_caches_path(root));
    if (!all.ok()) return 0;
    (void)all.value().list([&](const char *name) { bytes += driver_cache_bytes(root, name); });
    return bytes;
}

bool is_dearer(const Json &a, const Json &b) {
    return a["cost_us"].get<std::uint64_t>() > b["cost_us"].get<std::uint64_t>();
}

// Only the dearest stay.
void keep_dearest(std::vector<Json> &programs, std::size_t count) {
    std::ranges::sort(programs, is_dearer);
    if (programs.size() > count) programs.resize(count);
}

// What a generation's text says of its driver in a few words; "" where it says nothing of one.
std::string driver_words(std::string_view text) {
    std::string words;
    for (const std::string_view field : {"GL_RENDERER: ", "GL_VERSION: "}) {
        std::size_t at = text.find(field);
        while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') {
            at = text.find(field, at + 1);
        }
        if (at == std::string_view::npos) continue;
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        words += (words.empty() ? "" : "; ") + std::string(line.substr(field.size()));
    }
    return words;
}

cli::Failure not_there(const std::string &what) {
    return {cli::kExitUsage, "there is no {} any more; reload the page", what};
}

Json json_of_pack(const std::string &root, const std::string &path) {
    Json json = {{"file", path}, {"is_of_system", !path.starts_with(root + "/")}};
    try {
        const cli::OpenPack pack = cli::open_pack(path);
        std::set<std::string> applications;
        Json drivers = Json::array();
        std::uint64_t entries = 0;
        for (const cli::OpenPart &part : pack.parts) {
            if (!part.application.empty()) {
                applications.insert(cli::application_name(part.application));
            }
            if (part.subject.kind != PackKind::entries) continue;
            entries += part.part->row().slot_count();
            const std::string words = driver_words(part.subject.generation);
            if (!words.empty()) drivers.push_back(words);
        }
        json["bytes"] = pack.pack->info().size_bytes;
        json["about"] = pack.pack->about().value_or("");
        json["signer"] = cli::signer_text(pack);
        json["applications"] = applications;
        json["drivers"] = std::move(drivers);
        json["entries_max"] = entries;
    } catch (const cli::Failure &failure) {
        json["problem"] = failure.what();
    }
    return json;
}

}  // namespace

const std::vector<cli::CacheSummary> &Views::caches() {
    const Clock::time_point now = Clock::now();
    if (!caches_ || now - counted_at_ > kCountedFor) {
        caches_ = cli::summarize_caches(root_);
        for (cli::CacheSummary &cache : *caches_) {
            const std::string words = driver_words(cli::about_text(root_, cache.identifier));
            if (!words.empty()) cache.about = words;
        }
        counted_at_ = Clock::now();
    }
    return *caches_;
}

Json Views::overview() {
    const MutexLock lock(mutex_);
    bool is_of_runs = false;
    const std::vector<DayRow> rows = read_days(root_, is_of_runs);
    const std::uint64_t today = counters_today();
    Json json = cli::json_of(root_, caches());
    std::uint64_t entries = 0, bytes = 0;
    for (const cli::CacheSummary &cache : *caches_) {
        entries += cache.stats.entries;
        bytes += cache.stats.disk_bytes;
    }
    json["now_ms"] = wall_clock_ns() / 1'000'000;
    json["today_ms"] = today * (kDayNs / 1'000'000);
    json["is_of_runs"] = is_of_runs;
    json["home"] = home_directory().value_or("");
    json["total"] = {
        {"entries", entries}, {"disk_bytes", bytes}, {"driver_bytes", driver_bytes(root_)}};
    json["totals"] = json_of_totals(rows, today);
    json["days"] = json_of_days(rows, today);
    json["applications"] = json_of_applications(rows);
    return json;
}

Json Views::runs() {
    const MutexLock lock(mutex_);
    Json json = {{"runs", Json::array()}};
    for (const cli::ApplicationRun &run : cli::read_runs(root_, "")) {
        if (json["runs"].size() == kRunsShown) break;
        Json &made = json["runs"].emplace_back(json_of(run.run.numbers));
        made["application"] = run.application;
        made["cache"] = run.identifier;
        made["process"] = run.run.process;
        made["start_ms"] = run.run.start_ns / 1'000'000;
        made["is_running"] = run.run.is_alive;
        made["misses_kept"] = run.links.size();
    }
    return json;
}

Json Views::run(const std::string &identifier, const std::string &start_ms) {
    const MutexLock lock(mutex_);
    for (const cli::ApplicationRun &run : cli::read_runs(root_, "")) {
        if (run.identifier != identifier ||
            std::to_string(run.run.start_ns / 1'000'000) != start_ms) {
            continue;
        }
        Json json = cli::json_of(root_, run, cli::sources_of(root_, identifier));
        for (Json &miss : json["misses"]) {
            if (miss.contains("sources")) {
                miss["sources"] = cli::source_lines(miss["sources"].get<std::string>());
            }
            for (std::size_t i = 0; i < kOutcomes; ++i) {
                const auto outcome = static_cast<Outcome>(i);
                if (miss["outcome"] == outcome_name(outcome))
                    miss["words"] = outcome_words(outcome);
            }
        }
        return json;
    }
    throw not_there("such run");
}

const Views::Costs &Views::costs_of(const cli::CacheSummary &cache) {
    Costs &costs = costs_[cache.identifier];
    if (costs.entries != cache.stats.entries || costs.used_at_ms != cache.used_at_ms) {
        read_entries(cache, costs);
    }
    read_sources(cache.identifier, costs);
    return costs;
}

void Views::read_entries(const cli::CacheSummary &cache, Costs &costs) const {
    costs = {cache.stats.entries, cache.used_at_ms, 0, {}, {}, 0, 0};
    const cli::CacheHandle handle = cli::open_cache(root_, cache.identifier, Access::read_only);
    struct Dear {
        std::uint32_t cost_us;
        std::uint64_t size, stored_at_ms;
        std::string key;
        LinkKey beginning;
    };
    // A heap whose top is the cheapest of the dearest.
    std::vector<Dear> dearest;
    const auto is_cheaper = [](const Dear &a, const Dear &b) { return a.cost_us > b.cost_us; };
    cli::for_each_entry(handle, "list " + cache.identifier, [&](const cairn_entry &entry) {
        costs.pinned += (entry.flags & CAIRN_PUT_PINNED) != 0 ? 1 : 0;
        if (entry.cost_us == 0) return true;
        if (dearest.size() == kSlowestOfCache) {
            if (dearest.front().cost_us >= entry.cost_us) return true;
            std::ranges::pop_heap(dearest, is_cheaper);
            dearest.pop_back();
        }
        LinkKey beginning = {};
        if (entry.key_size >= beginning.size()) {
            std::memcpy(beginning.data(), entry.key, beginning.size());
        }
        dearest.push_back({entry.cost_us, entry.value_size, entry.stored_at_ms,
                           cli::format_key(entry.key, entry.key_size, 16), beginning});
        std::ranges::push_heap(dearest, is_cheaper);
        return true;
    });
    for (const Dear &each : dearest) {
        costs.slowest.push_back({{"application", cache.application},
                                 {"cache", cache.identifier},
                                 {"key", each.key},
                                 {"cost_us", each.cost_us},
                                 {"bytes", each.size},
                                 {"stored_at_ms", each.stored_at_ms}});
        costs.keys.push_back(each.beginning);
    }
}

// Where the user has them kept. The file is read again only when it has changed.
void Views::read_sources(const std::string &identifier, Costs &costs) const {
    const auto file = file_info(root_ + "/" + identifier + "/" + kSourcesFileName);
    const std::uint64_t bytes = file.ok() ? file->size_bytes : 0;
    const std::uint64_t modified_ns = file.ok() ? file->modified_ns : 0;
    if (bytes == costs.sources_bytes && modified_ns == costs.sources_modified_ns) return;
    costs.sources_bytes = bytes;
    costs.sources_modified_ns = modified_ns;
    const cli::Sources sources = cli::sources_of(root_, identifier);
    for (std::size_t i = 0; i < costs.keys.size(); ++i) {
        const auto found = sources.find(costs.keys[i]);
        const bool has_one = costs.keys[i] != LinkKey() && found != sources.end();
        costs.slowest[i].erase("sources");
        if (has_one) costs.slowest[i]["sources"] = cli::source_lines(found->second);
    }
}

Json Views::programs() {
    const MutexLock lock(mutex_);
    std::vector<Json> all;
    Json pinned = Json::object();
    for (const cli::CacheSummary &cache : caches()) {
        if (!cache.problem.empty()) continue;
        try {
            const Costs &costs = costs_of(cache);
            all.insert(all.end(), costs.slowest.begin(), costs.slowest.end());
            if (costs.pinned != 0) pinned[cache.identifier] = costs.pinned;
        } catch (const cli::Failure &) {
            costs_.erase(cache.identifier);  // it may be gone by now
        }
    }
    keep_dearest(all, kSlowest);
    return {{"programs", all}, {"pinned", pinned}};
}

Json Views::generations() {
    const MutexLock lock(mutex_);
    std::vector<const cli::CacheSummary *> found;
    for (const cli::CacheSummary &cache : caches()) {
        if (!cache.application.empty()) found.push_back(&cache);
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &cli::CacheSummary::used_at_ms);
    Json json = {{"generations", Json::array()}};
    for (const cli::CacheSummary *const cache : found) {
        Json &made = json["generations"].emplace_back();
        made = {{"identifier", cache->identifier}, {"application", cache->application},
                {"about", cache->about},           {"used_at_ms", cache->used_at_ms},
                {"entries", cache->stats.entries}, {"disk_bytes", cache->stats.disk_bytes}};
        if (!cache->problem.empty()) made["problem"] = cache->problem;
    }
    return json;
}

Json Views::differences(const std::string &from, const std::string &to) {
    for (const std::string &identifier : {from, to}) {
        if (!valid_identifier(identifier)) throw not_there("such generation");
    }
    const MutexLock lock(mutex_);
    Json json = {{"from", from}, {"to", to}, {"fields", Json::array()}};
    for (const cli::Difference &each : cli::differences(root_, from, to)) {
        json["fields"].push_back({{"field", each.field}, {"from", each.from}, {"to", each.to}});
    }
    return json;
}

Json Views::packs() {
    const MutexLock lock(mutex_);
    Json json = {{"packs", Json::array()}};
    for (const std::string &folder : cli::install_folders(root_)) {
        for (const std::string &path : cli::installed_packs(folder)) {
            json["packs"].push_back(json_of_pack(root_, path));
        }
    }
    return json;
}

void Views::forget() {
    const MutexLock lock(mutex_);
    caches_.reset();
    costs_.clear();
}

}  // namespace cairn::dashboard
