// SPDX-License-Identifier: MIT
#include "crash/remembering.h"

#include <cairn/internal/front_end.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "history/counters.h"
#include "history/history.h"
#include "history/reader.h"
#include "support/cache.h"
#include "support/random.h"
#include "support/stamped_value.h"

namespace cairn_test {
namespace {

using cairn::History;
using cairn::Number;

constexpr std::uint64_t kFamily = 6;
constexpr const char *kIdentifier = "torture";
// So large, and the values, too, that no ghost and no program goes for another one.
constexpr std::uint64_t kLimit = 64u << 20;
constexpr std::size_t kValueMin = 16u << 10, kValueMax = 96u << 10;
constexpr std::uint64_t kProgramsOfWorker = 50;
// What may be lost in a round as two processes wrote to one place at once.
constexpr std::uint64_t kUnluckyMax = 10;
constexpr std::uint64_t kDay = 20'000;
constexpr std::uint64_t kReopenOneIn = 40;

unsigned long long number(std::uint64_t value) {
    return value;
}

bool open_cache(Arena &arena, const std::string &root, Cache &cache) {
    CacheOptions options;
    options.root = root;
    options.identifier = kIdentifier;
    options.limit_bytes = kLimit;
    const int result = cache.open(options);
    if (result != CAIRN_OK) {
        report(arena.findings(), arena.findings().failed, "open: %s", cairn_result_string(result));
    }
    return result == CAIRN_OK;
}

std::unique_ptr<History> open_history(Arena &arena, const std::string &root) {
    auto opened = History::open({root, kIdentifier, 1, kLimit});
    if (opened.ok()) return std::move(*opened);
    report(arena.findings(), arena.findings().failed, "the history does not open");
    return nullptr;
}

bool start_counting(Arena &arena, const std::string &root) {
    cairn::pretend_day(kDay);
    const bool counts = cairn::open_counters(root);
    if (!counts) report(arena.findings(), arena.findings().failed, "the counters do not open");
    return counts;
}

ByteVector key_of(std::uint64_t worker, std::uint64_t n) {
    return numbered_key(kFamily, worker << 32 | n);
}

cairn::ProgramParts program_of(std::uint64_t worker, std::uint64_t n) {
    const std::uint64_t mixed = mix(worker, n);
    return {mixed, mix(mixed), static_cast<std::uint32_t>(mixed),
            static_cast<std::uint32_t>(mixed >> 32)};
}

// Each part follows from the others, so that halves of two are noticed.
cairn::Link link_of(std::uint64_t worker, std::uint64_t n) {
    cairn::Link link;
    link.outcome = cairn::Outcome::never_seen;
    const std::array words = {worker, n};
    std::memcpy(link.key.data(), words.data(), link.key.size());
    link.other = mix(worker, n);
    link.cost_ns = (link.other & 0xFFFF) * 1000;
    return link;
}

class Rememberer {
  public:
    Rememberer(Arena &arena, unsigned self, std::uint64_t seed)
        : arena_(arena), self_(self), random_(seed) {}

    void run(const std::string &root) {
        if (!start_counting(arena_, root)) return;
        cairn::DayTally day(kIdentifier, 0);
        while (arena_.ledger.stop == 0) {
            Cache cache;
            if (!open_cache(arena_, root, cache)) return;
            const auto history = open_history(arena_, root);
            if (history == nullptr) return;
            do {
                step(cache, *history, day);
            } while (arena_.ledger.stop == 0 && !random_.one_in(kReopenOneIn));
        }
    }

  private:
    void step(Cache &cache, History &history, cairn::DayTally &day) {
        Remembered &own = arena_.remembered[self_];
        ++own.begun;
        day.add(Number::stored, 1);
        ++own.counted;
        history.add(Number::stored, 1);
        if (own.started == kRememberedMax) {
            ++arena_.ledger.progress[self_].reads;
            return;
        }
        const std::uint64_t n = own.started.fetch_add(1);
        const std::size_t size = kValueMin + random_.below(kValueMax - kValueMin);
        const int result = cache.put(key_of(self_, n), stamped_value({n, self_, n, 0}, size));
        arena_.ledger.bytes_written += size;
        Progress &progress = arena_.ledger.progress[self_];
        ++(result == CAIRN_OK ? progress.writes : progress.refused);
        if (result == CAIRN_OK) own.acked[n] |= kIsStored;
        history.note_link(link_of(self_, n));
        if (n >= kProgramsOfWorker) return;
        history.note(program_of(self_, n), true);
        own.acked[n] |= kIsNoted;
    }

    Arena &arena_;
    const unsigned self_;
    Random random_;
};

std::uint32_t fate_of(Cache &cache, std::uint64_t worker, std::uint64_t n) {
    const ByteVector key = key_of(worker, n);
    std::uint32_t fate = UINT32_MAX;
    std::uint64_t when_s = 0;
    (void)cairn_fate(cache.handle(), key.data(), key.size(), &fate, &when_s);
    return fate;
}

void verify_fates(Arena &arena, const std::string &root) {
    Cache cache;
    if (!open_cache(arena, root, cache)) return;
    std::uint64_t forgotten = 0;
    for (std::uint64_t worker = 0; worker < arena.worker_count; ++worker) {
        const Remembered &own = arena.remembered[worker];
        for (std::uint64_t n = 0; n < own.started; ++n) {
            if ((own.acked[n] & kIsStored) == 0) continue;
            if (cache.contains(key_of(worker, n)) == CAIRN_OK) continue;
            const std::uint32_t fate = fate_of(cache, worker, n);
            if (fate == CAIRN_FATE_UNKNOWN) ++forgotten;
            if (fate == CAIRN_FATE_UNKNOWN || fate == CAIRN_FATE_EVICTED) continue;
            report(arena.findings(), arena.findings().wrong, "entry %llu of worker %llu: fate %u",
                   number(n), number(worker), fate);
        }
        for (std::uint64_t n = own.started; n < own.started + 100; ++n) {
            if (fate_of(cache, worker, n) == CAIRN_FATE_UNKNOWN) continue;
            report(arena.findings(), arena.findings().wrong,
                   "entry %llu of worker %llu, which nobody stored, has a fate", number(n),
                   number(worker));
        }
    }
    if (forgotten > kUnluckyMax) {
        report(arena.findings(), arena.findings().lost, "%llu evictions are not remembered",
               number(forgotten));
    }
}

void verify_programs(Arena &arena, const std::string &root) {
    const auto history = open_history(arena, root);
    if (history == nullptr) return;
    std::uint64_t forgotten = 0;
    for (std::uint64_t worker = 0; worker < arena.worker_count; ++worker) {
        const Remembered &own = arena.remembered[worker];
        for (std::uint64_t n = 0; n < 2 * kProgramsOfWorker; ++n) {
            const cairn::Seen seen = history->find(program_of(worker, n));
            const bool is_noted = (own.acked[n] & kIsNoted) != 0;
            if (is_noted && seen.how != cairn::Seen::How::same) ++forgotten;
            const bool may_be = n < kProgramsOfWorker && n < own.started;
            if (may_be || seen.how == cairn::Seen::How::never) continue;
            report(arena.findings(), arena.findings().wrong,
                   "program %llu of worker %llu, which nobody noted, is known", number(n),
                   number(worker));
        }
    }
    if (forgotten > kUnluckyMax) {
        report(arena.findings(), arena.findings().lost, "%llu programs are not remembered",
               number(forgotten));
    }
}

// Before this process begins a run itself: all others have ended.
void verify_links(Arena &arena, const std::string &root) {
    const auto directory = cairn::Directory::open(root + "/" + kIdentifier);
    if (!directory.ok()) return;
    const auto read = cairn::read_history(directory.value());
    if (!read.ok()) {
        report(arena.findings(), arena.findings().lost, "there is no history");
        return;
    }
    for (const cairn::LinkRead &each : read->links) {
        std::array<std::uint64_t, 2> words = {};
        std::memcpy(words.data(), each.link.key.data(), sizeof words);
        const auto [worker, n] = words;
        const bool is_known = worker < arena.worker_count && n < arena.remembered[worker].started;
        if (is_known && each.link.other == link_of(worker, n).other &&
            each.link.cost_ns == link_of(worker, n).cost_ns) {
            continue;
        }
        report(arena.findings(), arena.findings().wrong, "link %llu is none that was noted",
               number(each.number));
    }
    std::uint64_t stored = 0;
    for (const cairn::RunRead &run : read->runs) {
        stored += run.numbers[Number::stored];
        if (!run.is_alive) continue;
        report(arena.findings(), arena.findings().wrong, "a run goes on after its process");
    }
    std::uint64_t begun = 0;
    for (const Remembered &each : arena.remembered) begun += each.begun;
    if (stored > begun || read->links.empty()) {
        report(arena.findings(), arena.findings().wrong,
               "the last runs stored %llu of %llu entries, and %zu links are known", number(stored),
               number(begun), read->links.size());
    }
}

void verify_counts(Arena &arena, const std::string &root) {
    std::uint64_t found = 0;
    for (const cairn::DayRow &row : cairn::read_counters(root))
        found += row.numbers[Number::stored];
    std::uint64_t counted = 1, begun = 1;  // in prepare_remembering()
    for (const Remembered &each : arena.remembered) {
        counted += each.counted;
        begun += each.begun;
    }
    if (found < counted) {
        report(arena.findings(), arena.findings().lost, "%llu of %llu counts", number(found),
               number(counted));
    } else if (found > begun) {
        report(arena.findings(), arena.findings().wrong, "%llu counts of %llu", number(found),
               number(begun));
    }
}

}  // namespace

// The row of the day is there before there are so many processes that one might not get the lock.
void prepare_remembering(Arena &arena, const std::string &root) {
    Cache cache;
    if (!open_cache(arena, root, cache) || !start_counting(arena, root)) return;
    cairn::DayTally(kIdentifier, 0).add(Number::stored, 1);
}

void remember(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed) {
    Rememberer(arena, self, seed).run(root);
}

void verify_remembering(Arena &arena, const std::string &root) {
    verify_links(arena, root);
    verify_fates(arena, root);
    verify_programs(arena, root);
    verify_counts(arena, root);
}

}  // namespace cairn_test
