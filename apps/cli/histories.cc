// SPDX-License-Identifier: MIT
#include "histories.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cache/generations.h"
#include "caches.h"
#include "history/counters.h"
#include "history/files.h"
#include "os/file.h"
#include "os/text_file.h"
#include "store/formats.h"

namespace cairn::cli {
namespace {

constexpr std::size_t kGenerationTextMax = 256 * 1024;
constexpr std::string_view kSessionPrefix = "d3d12-";

// The application that the second line of a D3D12 session's text names; else what its caches are called.
std::string application_of_session(const std::string &root, const std::string &identifier) {
    constexpr std::string_view kField = "application: ";
    const std::string about = about_text(root, identifier);
    const std::size_t begin = std::min(about.find('\n'), about.size() - 1) + 1;
    const std::string line = about.substr(begin, about.find('\n', begin) - begin);
    const std::string name = line.starts_with(kField) ? line.substr(kField.size()) : "";
    if (valid_application(name)) return name;
    return identifier.substr(0, identifier.size() - generation_end_size(identifier));
}

// Every run of one cache.
void add_runs(const Directory &root, const FrontEndCache &cache,
              std::vector<ApplicationRun> &runs) {
    const auto directory = root.open_directory(cache.identifier);
    if (!directory.ok()) return;
    const auto read = read_history(directory.value());
    if (!read.ok()) return;
    const HistoryRead &history = read.value();
    const bool is_full = history.links.size() == history.links_max;
    for (const RunRead &run : history.runs) {
        if (run.numbers.lookups() == 0) continue;
        ApplicationRun added = {cache.application, cache.identifier, run, {}, false};
        for (const LinkRead &link : history.links) {
            if (link.run_start_ns == run.start_ns) added.links.push_back(link);
        }
        added.has_older_links = is_full && history.links.front().run_start_ns == run.start_ns;
        runs.push_back(std::move(added));
    }
}

// The lines of a cache's text about itself, by what they are about.
std::map<std::string, std::string> fields_of(const std::string &root,
                                             const std::string &identifier) {
    std::map<std::string, std::string> fields;
    const auto directory = Directory::open(root + "/" + identifier);
    if (!directory.ok() || identifier.empty()) return fields;
    auto whole = read_text_file(directory.value(), kGenerationFileName, kGenerationTextMax);
    const std::string text = whole.ok() ? std::move(whole.value()) : about_text(root, identifier);
    std::string_view left = text;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        const std::string_view line = left.substr(0, end);
        left.remove_prefix(std::min(end + 1, left.size()));
        const std::size_t sign = line.find_first_of(":=");
        if (sign == std::string_view::npos) continue;
        std::string field(line.substr(0, sign));
        std::string_view value = line.substr(sign + 1);
        if (line[sign] == '=') field.insert(0, "variable ");
        value.remove_prefix(value.starts_with(' ') ? 1 : 0);
        // Of these there are several, and the first word says which.
        if (field == "library" || field == "configuration") {
            const std::size_t space = std::min(value.find(' '), value.size());
            field.append(" ").append(value.substr(0, space));
            value.remove_prefix(std::min(space + 1, value.size()));
        }
        fields.emplace(std::move(field), value);
    }
    return fields;
}

// Enough to tell two values apart.
std::string shortened(const std::string &value) {
    constexpr std::size_t kSizeMax = 48;
    constexpr std::size_t kHashShown = 12;
    const bool is_hash = value.size() >= 2 * kHashShown && value.find(' ') == std::string::npos;
    if (value.empty()) return "none";
    if (is_hash) return value.substr(0, kHashShown);
    return value.size() <= kSizeMax ? value : value.substr(0, kSizeMax) + "..";
}

std::string words_of_difference(const Difference &difference) {
    return fmt::format("{} from {} to {}", difference.field, shortened(difference.from),
                       shortened(difference.to));
}

std::string words_of_other_driver(const std::vector<Difference> &found) {
    if (found.empty()) return "the other generation cannot be read any more";
    constexpr std::size_t kShown = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
        text += (i == 0 ? "" : "; ") + words_of_difference(found[i]);
    }
    if (found.size() > kShown) text += fmt::format("; and {} more", found.size() - kShown);
    return text;
}

// Of a context's fields; a session of D3D12 has its Version only.
Words field_names(const std::string &identifier, std::uint64_t fields) {
    Words names;
    for (std::size_t i = 0; i < kContextFields; ++i) {
        if ((fields >> i & 1) == 0) continue;
        names.emplace_back(identifier.starts_with(kSessionPrefix)
                               ? "the session's Version"
                               : context_field_name(ContextField(i)));
    }
    return names;
}

// Other caches of a run's application, by their numbers, and how it differs from them.
struct Sibling {
    std::string identifier;
    std::vector<Difference> differences;
};
using KnownSiblings = std::map<std::uint64_t, Sibling>;

nlohmann::ordered_json json_of_link(const std::string &root, const ApplicationRun &run,
                                    const LinkRead &read, KnownSiblings &known,
                                    const Sources &sources) {
    const Link &link = read.link;
    const bool is_of_driver = link.outcome == Outcome::other_driver;
    if (is_of_driver && !known.contains(link.other)) {
        const std::string other = sibling_identifier(root, run.identifier, link.other);
        known[link.other] = {other, differences(root, other, run.identifier)};
    }
    nlohmann::ordered_json json = {
        {"outcome", outcome_name(link.outcome)},
        {"why", is_of_driver ? words_of_other_driver(known[link.other].differences)
                             : details_of(root, run, link)},
        {"time_ms", read.time_ns / 1'000'000},
        {"cost_ns", link.cost_ns},
        {"key", nullptr}};
    if (link.key != LinkKey()) {
        json["key"] = format_key(link.key.data(), link.key.size(), link.key.size());
    }
    if (link.outcome == Outcome::other_context)
        json["fields"] = field_names(run.identifier, link.other);
    if (is_of_driver) {
        json["other_cache"] = known[link.other].identifier;
        json["differences"] = nlohmann::ordered_json::array();
        for (const Difference &each : known[link.other].differences) {
            json["differences"].push_back(
                {{"field", each.field}, {"from", each.from}, {"to", each.to}});
        }
    }
    if (link.outcome == Outcome::evicted || link.outcome == Outcome::cleared) {
        json["at_ms"] = link.other * 1000;
    }
    const auto source = sources.find(link.key);
    if (source != sources.end()) json["sources"] = source->second;
    return json;
}

}  // namespace

std::vector<FrontEndCache> list_front_end_caches(const std::string &root) {
    std::vector<FrontEndCache> caches;
    const auto directory = Directory::open(root);
    if (!directory.ok()) return caches;
    for (const KnownGeneration &each : list_generations(directory.value())) {
        if (each.is_recipes) continue;
        caches.push_back({application_name(each.application), each.identifier, each.bytes,
                          each.limit_bytes.value_or(0)});
    }
    (void)directory->list([&](const char *name) {
        if (!std::string_view(name).starts_with(kSessionPrefix)) return;
        const auto cache = directory->open_directory(name);
        if (!cache.ok() || !cache->info(kHistoryFileName).ok()) return;
        const auto bytes = cache_bytes(cache.value());
        caches.push_back(
            {application_of_session(root, name), name, bytes.ok() ? bytes.value() : 0, 0});
    });
    return caches;
}

std::vector<ApplicationRun> read_runs(const std::string &root, const std::string &application) {
    std::vector<ApplicationRun> runs;
    const auto directory = Directory::open(root);
    if (!directory.ok()) return runs;
    for (const FrontEndCache &cache : list_front_end_caches(root)) {
        if (is_of_application(cache.application, application)) {
            add_runs(directory.value(), cache, runs);
        }
    }
    std::sort(runs.begin(), runs.end(), [](const ApplicationRun &a, const ApplicationRun &b) {
        return a.run.start_ns > b.run.start_ns;
    });
    return runs;
}

std::string sibling_identifier(const std::string &root, const std::string &identifier,
                               std::uint64_t generation) {
    const std::string_view beginning =
        std::string_view(identifier).substr(0, identifier.size() - generation_end_size(identifier));
    std::string found;
    const auto directory = Directory::open(root);
    if (!directory.ok()) return found;
    (void)directory->list([&](const char *name) {
        const bool is_it = std::string_view(name).starts_with(beginning) &&
                           std::string_view(name).size() == identifier.size() &&
                           generation_number(name) == generation;
        if (is_it) found = name;
    });
    return found;
}

std::vector<Difference> differences(const std::string &root, const std::string &from,
                                    const std::string &to) {
    const auto before = fields_of(root, from);
    const auto after = fields_of(root, to);
    std::vector<Difference> found;
    if (before.empty() || after.empty()) return found;
    const auto value_in = [](const auto &fields, const std::string &field) {
        const auto place = fields.find(field);
        return place == fields.end() ? std::string() : place->second;
    };
    std::map<std::string, std::string> all = before;
    all.insert(after.begin(), after.end());
    for (const auto &[field, value] : all) {
        Difference each = {field, value_in(before, field), value_in(after, field)};
        if (each.from != each.to) found.push_back(std::move(each));
    }
    // What the driver calls itself says more than the numbers of libraries.
    std::stable_partition(found.begin(), found.end(),
                          [](const Difference &each) { return each.field.starts_with("GL_"); });
    return found;
}

std::string details_of(const std::string &root, const ApplicationRun &run, const Link &link) {
    switch (link.outcome) {
        case Outcome::other_driver:
            return words_of_other_driver(differences(
                root, sibling_identifier(root, run.identifier, link.other), run.identifier));
        case Outcome::other_context: {
            const Words names = field_names(run.identifier, link.other);
            return names.empty() ? "which field differs is no longer known"
                                 : fmt::format("{} differ{}", fmt::join(names, ", "),
                                               names.size() == 1 ? "s" : "");
        }
        case Outcome::never_seen:
            return link.other == 0
                       ? ""
                       : "not since the cache was cleared at " + format_time(link.other * 1000);
        case Outcome::evicted:
        case Outcome::cleared:
            return "at " + format_time(link.other * 1000);
        default:
            return detail_words(link.detail);
    }
}

Sources sources_of(const std::string &root, const std::string &identifier) {
    const auto all = Directory::open(root);
    if (!all.ok()) return {};
    const auto directory = all->open_directory(identifier);
    return directory.ok() ? read_sources(directory.value()) : Sources();
}

Words source_lines(std::string_view sources) {
    constexpr std::size_t kLinesMax = 60;  // of six stages: a name, and eight lines or a few more
    Words lines;
    while (!sources.empty() && lines.size() < kLinesMax) {
        const std::string_view line = sources.substr(0, sources.find('\n'));
        lines.push_back(printable_line(line));
        sources.remove_prefix(std::min(line.size() + 1, sources.size()));
    }
    return lines;
}

nlohmann::ordered_json json_of(const std::string &root, const ApplicationRun &run,
                               const Sources &sources) {
    const Numbers &numbers = run.run.numbers;
    nlohmann::ordered_json json = {{"application", run.application},
                                   {"cache", run.identifier},
                                   {"process", run.run.process},
                                   {"start_ms", run.run.start_ns / 1'000'000},
                                   {"is_running", run.run.is_alive},
                                   {"programs", numbers.lookups()},
                                   {"hits", numbers.hits()},
                                   {"saved_ns", numbers[Number::saved_ns]},
                                   {"stored", numbers[Number::stored]},
                                   {"store_failed", numbers[Number::store_failed]},
                                   {"evicted", numbers[Number::evicted]},
                                   {"queued_entries", run.run.queued_entries},
                                   {"queued_bytes", run.run.queued_bytes}};
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        json["outcomes"][outcome_name(outcome)] = {{"programs", numbers.count(outcome)},
                                                   {"spent_ns", numbers.ns(outcome)}};
    }
    json["has_older_misses"] = run.has_older_links;
    json["misses"] = nlohmann::ordered_json::array();
    KnownSiblings known;
    for (const LinkRead &link : run.links) {
        json["misses"].push_back(json_of_link(root, run, link, known, sources));
    }
    return json;
}

}  // namespace cairn::cli
