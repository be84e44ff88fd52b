// What the calls cost that remember what becomes of look-ups, alone: those of a hit, of a miss of a program that was never
// seen, with no other generation of the application and with three of 2,000 and of 20,000 programs, and opening.
// SPDX-License-Identifier: MIT
//
//     why_calls [ROUNDS]                    medians and p99 over rounds in which all take turns (60)
//     why_calls fill ROOT IDENTIFIER COUNT  makes three other generations beside a cache, for bench/why_bench
//
// The calls are those of frontends/gl/account.cc, in its order, and of its callers.
#include <cairn/cairn_program_cache.h>
#include <cairn/internal/front_end.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/harness/stats.h"
#include "bench/samples.h"
#include "history/counters.h"
#include "history/history.h"

namespace {

namespace fs = std::filesystem;
using cairn::DayTally;
using cairn::History;
using cairn::Number;
using cairn::Outcome;
using cairn::ProgramParts;

constexpr std::size_t kKnown = 1000;  // programs of a cache itself
constexpr std::size_t kCalls = 200;   // in a round
constexpr std::size_t kDigits = 16;   // at the end of an identifier
constexpr std::uint64_t kOwnLimit = std::uint64_t{1} << 30;
constexpr std::uint64_t kLargeLimit = std::uint64_t{4} << 30;  // of what has 20,000 programs

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "why_calls: %s\n", what);
    std::exit(1);
}

ProgramParts program(std::uint64_t seed, std::uint64_t i) {
    std::mt19937_64 random(seed << 32 | i);
    const std::uint64_t sources = random();
    const std::uint64_t rest = random();
    return {sources, seed, static_cast<std::uint32_t>(rest),
            static_cast<std::uint32_t>(rest >> 32)};
}

std::unique_ptr<History> open_history(const std::string &root, const std::string &identifier,
                                      std::uint64_t driver, std::uint64_t limit) {
    auto opened = History::open({root, identifier, driver, limit});
    if (!opened.ok()) fail("cannot open a history");
    return std::move(opened.value());
}

void fill(const std::string &root, const std::string &identifier, std::size_t count) {
    for (std::uint64_t other = 1; other <= 3; ++other) {
        char digits[kDigits + 1];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(other));
        const std::string name = identifier.substr(0, identifier.size() - kDigits) + digits;
        fs::create_directories(root + "/" + name);
        fs::permissions(root + "/" + name, fs::perms::owner_all);
        std::ofstream(root + "/" + name + "/generation") << "of why_bench\n";
        const auto history = open_history(root, name, 1000 + other, kLargeLimit);
        for (std::size_t i = 0; i < count; ++i) history->note(program(other, i), true);
    }
}

// A cache, what remembers for it, and the numbers of the day.
class Subject {
  public:
    Subject(const std::string &root, std::size_t others) {
        cairn_program_cache_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        options.application = "why";
        options.identity = "a driver";
        options.limit_bytes = kOwnLimit;
        if (cairn_program_cache_open(&options, &cache_) != CAIRN_OK) fail("cannot open a cache");
        const std::string identifier = cairn_program_cache_identifier(cache_);
        if (others != 0) fill(root, identifier, others);
        // A process has one file of these.
        [[maybe_unused]] static const bool counts = cairn::open_counters(root);
        day_.emplace("why", cairn::generation_number(identifier));
        history_ = open_history(root, identifier, 1, kOwnLimit);
        for (std::uint64_t i = 0; i < kKnown; ++i) history_->note(program(0, i), true);
    }
    ~Subject() { cairn_close(cache_); }
    Subject(const Subject &) = delete;
    Subject &operator=(const Subject &) = delete;

    void hit(const ProgramParts &parts) {
        add(Number::bytes_read, 4096);
        add(cairn::count_of(Outcome::hit_disk), 1);
        add(cairn::ns_of(Outcome::hit_disk), 50'000);
        add(Number::saved_ns, 2'000'000);
        if (!history_->knows(parts.sources, parts.key)) history_->note(parts, true);
    }

    void miss(const ProgramParts &parts) {
        const cairn::Seen seen = history_->find(parts);
        std::uint32_t fate = 0;
        std::uint64_t when_s = 0;
        (void)cairn_fate(cache_, &parts, sizeof parts, &fate, &when_s);
        cairn::Link link;
        link.outcome = Outcome::never_seen;
        std::memcpy(link.key.data(), &parts, link.key.size());
        if (seen.how != cairn::Seen::How::never) fail("a program is known");
        history_->note_making(true);
        history_->note_making(false);
        add(Number::bytes_written, 4096);
        add(Number::stored, 1);
        add(cairn::count_of(link.outcome), 1);
        add(cairn::ns_of(link.outcome), 2'000'000);
        if (cairn_evicted(cache_) != 0) fail("the cache is full");
        history_->note_link(link);
        history_->note(parts, true);
    }

  private:
    void add(Number number, std::uint64_t amount) {
        history_->add(number, amount);
        day_->add(number, amount);
    }

    cairn_cache *cache_ = nullptr;
    std::optional<DayTally> day_;
    std::unique_ptr<History> history_;
};

class Row {
  public:
    explicit Row(const char *name) : name_(name) {}
    template <typename Call>
    void time(const Call &call) {
        const std::uint64_t start = bench::ticks();
        call();
        samples_.add(bench::ticks() - start);
    }
    void print() {
        const double clock_ns = bench::tick_overhead_ns();
        std::printf("| %s | %.2f | %.2f |\n", name_, (samples_.percentile_ns(50) - clock_ns) / 1000,
                    (samples_.percentile_ns(99) - clock_ns) / 1000);
    }

  private:
    const char *const name_;
    bench::Samples samples_{100'000};
};

void measure(unsigned rounds) {
    constexpr std::size_t kOthers[] = {0, 2000, 20'000};
    const bench::Folder folder;
    std::vector<std::unique_ptr<Subject>> subjects;
    std::vector<std::string> roots;
    for (const std::size_t others : kOthers) {
        roots.push_back(folder.path + "/" + std::to_string(others));
        subjects.push_back(std::make_unique<Subject>(roots.back(), others));
    }
    Row hits("a hit"), opens("opening");
    std::vector<Row> misses = {Row("a miss, no other generation"),
                               Row("a miss, three others of 2,000 programs"),
                               Row("a miss, three others of 20,000")};
    std::vector<Row> firsts = {Row("the first miss of a process, no other generation"),
                               Row("the first, three others of 2,000"),
                               Row("the first, three others of 20,000")};
    std::uint64_t next = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t which = 0; which < subjects.size(); ++which) {
            Subject fresh(roots[which], 0);
            firsts[which].time([&] { fresh.miss(program(9, ++next)); });
            for (std::size_t i = 0; i < kCalls / 10; ++i) {
                const ProgramParts parts = program(9, ++next);
                misses[which].time([&] { subjects[which]->miss(parts); });
            }
        }
        for (std::size_t i = 0; i < kCalls; ++i) {
            const ProgramParts parts = program(0, (i * 7919 + round) % kKnown);
            hits.time([&] { subjects[0]->hit(parts); });
        }
        for (const auto &entry : fs::directory_iterator(roots[0])) {
            const std::string name = entry.path().filename();
            if (!name.starts_with("why-")) continue;
            std::unique_ptr<History> opened;
            opens.time([&] { opened = open_history(roots[0], name, 1, kOwnLimit); });
        }
    }
    std::printf("| us | median | p99 |\n|---|---:|---:|\n");
    hits.print();
    for (Row &row : misses) row.print();
    for (Row &row : firsts) row.print();
    opens.print();
}

}  // namespace

int main(int count, char **arguments) {
    if (count == 5 && std::strcmp(arguments[1], "fill") == 0) {
        fill(arguments[2], arguments[3], std::strtoull(arguments[4], nullptr, 10));
        return 0;
    }
    measure(count > 1 ? static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10)) : 60);
    return 0;
}
