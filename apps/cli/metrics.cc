// SPDX-License-Identifier: MIT
#include "metrics.h"

#include <cairn/cairn.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "caches.h"
#include "history/counters.h"
#include "over_time.h"
#include "text.h"

namespace cairn::cli {
namespace {

using Labels = std::vector<std::pair<const char *, std::string>>;

// Text of the format, line by line. A metric's lines follow its begin().
class Exposition {
  public:
    void begin(const char *name, const char *type, const char *help) {
        name_ = name;
        text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    void add(const Labels &labels, std::uint64_t value) { add_text(labels, std::to_string(value)); }
    // Exactly: the parser makes a double of it.
    void add_seconds(const Labels &labels, std::uint64_t nanoseconds) {
        constexpr std::uint64_t kSecond = 1'000'000'000;
        add_text(labels, fmt::format("{}.{:09}", nanoseconds / kSecond, nanoseconds % kSecond));
    }
    std::string take() { return std::move(text_); }

  private:
    static std::string escaped(std::string_view value) {
        std::string text;
        for (const char c : value) {
            if (c == '\\' || c == '"') text += '\\';
            text += c;
        }
        return text;
    }
    void add_text(const Labels &labels, const std::string &value) {
        std::vector<std::string> parts;
        for (const auto &[name, label] : labels) {
            parts.push_back(fmt::format("{}=\"{}\"", name, escaped(label)));
        }
        text_ += parts.empty() ? fmt::format("{} {}\n", name_, value)
                               : fmt::format("{}{{{}}} {}\n", name_, fmt::join(parts, ","), value);
    }

    const char *name_ = "";
    std::string text_;
};

// A value of a label has no line end and is UTF-8.
std::string label_of(const std::string &application) {
    return application.empty() ? kOtherApplications : printable_line(application);
}

// By label, as two names may look the same.
std::map<std::string, Numbers> numbers_by_application(const std::string &root) {
    std::map<std::string, Numbers> sums;
    for (const DayRow &row : read_counters(root)) sums[label_of(row.application)] += row.numbers;
    return sums;
}

void add_outcomes(Exposition &out, const std::map<std::string, Numbers> &sums) {
    const auto each = [&](const auto &add) {
        for (const auto &[application, numbers] : sums) {
            for (std::size_t i = 0; i < kOutcomes; ++i) {
                const auto outcome = static_cast<Outcome>(i);
                add(Labels{{"application", application}, {"outcome", outcome_name(outcome)}},
                    numbers, outcome);
            }
        }
    };
    out.begin("cairn_lookups_total", "counter",
              "Programs that were looked up, by what came of it.");
    each([&](const Labels &labels, const Numbers &numbers, Outcome outcome) {
        out.add(labels, numbers.count(outcome));
    });
    out.begin("cairn_lookup_seconds_total", "counter",
              "Time that linking these programs took, compiles included.");
    each([&](const Labels &labels, const Numbers &numbers, Outcome outcome) {
        out.add_seconds(labels, numbers.ns(outcome));
    });
}

struct Counted {
    const char *name;
    Number number;
    const char *help;
};

constexpr Counted kCounted[] = {
    {"cairn_stored_entries_total", Number::stored, "Entries stored."},
    {"cairn_store_failures_total", Number::store_failed, "Entries that could not be stored."},
    {"cairn_read_bytes_total", Number::bytes_read, "Bytes of program binaries from the cache."},
    {"cairn_written_bytes_total", Number::bytes_written, "Bytes of program binaries stored."},
    {"cairn_evicted_entries_total", Number::evicted, "Entries evicted to make room."},
    {"cairn_starts_total", Number::starts, "Processes that looked something up."},
};

void add_counters(Exposition &out, const std::map<std::string, Numbers> &sums) {
    add_outcomes(out, sums);
    out.begin("cairn_saved_seconds_total", "counter",
              "About how long compiling what was found would have taken longer.");
    for (const auto &[application, numbers] : sums) {
        out.add_seconds({{"application", application}}, numbers[Number::saved_ns]);
    }
    for (const Counted &counted : kCounted) {
        out.begin(counted.name, "counter", counted.help);
        for (const auto &[application, numbers] : sums) {
            out.add({{"application", application}}, numbers[counted.number]);
        }
    }
}

void add_caches(Exposition &out, const std::vector<CacheSummary> &caches) {
    const auto each = [&](const char *name, const char *help, std::uint64_t cairn_stats::*value) {
        out.begin(name, "gauge", help);
        for (const CacheSummary &cache : caches) {
            if (!cache.problem.empty()) continue;
            out.add(
                {{"cache", cache.identifier}, {"application", printable_line(cache.application)}},
                cache.stats.*value);
        }
    };
    each("cairn_cache_entries", "Entries in a cache.", &cairn_stats::entries);
    each("cairn_cache_disk_bytes", "Room on disk that a cache takes.", &cairn_stats::disk_bytes);
    each("cairn_cache_limit_bytes", "Room on disk that a cache may take.",
         &cairn_stats::limit_bytes);
    out.begin("cairn_caches_unreadable", "gauge", "Caches that could not be read.");
    std::uint64_t unreadable = 0;
    for (const CacheSummary &cache : caches) unreadable += cache.problem.empty() ? 0u : 1u;
    out.add({}, unreadable);
}

}  // namespace

std::string metrics_text(const std::string &root) {
    Exposition out;
    out.begin("cairn_build_info", "gauge", "1, with the version of this program.");
    out.add({{"version", cairn_version_string()}}, 1);
    add_counters(out, numbers_by_application(root));
    add_caches(out, summarize_caches(root));
    out.begin("cairn_driver_cache_bytes", "gauge",
              "Machine code that drivers keep by application in the root.");
    out.add({}, driver_caches_bytes(root, ""));
    return out.take();
}

}  // namespace cairn::cli
