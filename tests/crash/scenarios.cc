// SPDX-License-Identifier: MIT
#include "crash/scenarios.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "crash/actor.h"
#include "crash/remembering.h"
#include "support/files.h"

namespace cairn_test {
namespace {

constexpr const char *kIdentifier = "torture";

unsigned long long number(std::uint64_t value) {
    return value;
}

CacheOptions options_for(const Arena &arena, const std::string &root) {
    CacheOptions options;
    options.root = root;
    options.identifier = kIdentifier;
    options.limit_bytes = std::uint64_t{4} << 30;
    // Some processes compress what all of them store.
    if (getpid() % 3 == 0) options.flags = CAIRN_OPEN_COMPRESS;
    if (arena.scenario == Scenario::full) {
        options.limit_bytes = kFullLimit;
        options.limit_entries = kFullEntries;
    }
    return options;
}

ActorRules rules_for(const Arena &arena) {
    ActorRules rules;
    rules.worker_count = arena.worker_count;
    rules.refusals = arena.refusals;
    if (arena.scenario == Scenario::full) {
        rules.losses = Losses::allowed;
        rules.refusals = Refusals::any;
    }
    return rules;
}

bool open_for(Arena &arena, const std::string &root, Cache &cache) {
    const int result = cache.open(options_for(arena, root));
    if (result != CAIRN_OK) {
        report(arena.findings(), arena.findings().failed, "open: %s", cairn_result_string(result));
    }
    return result == CAIRN_OK;
}

void pause_us(std::uint64_t microseconds) {
    const timespec time = {static_cast<time_t>(microseconds / 1000000),
                           static_cast<long>(microseconds % 1000000) * 1000};
    nanosleep(&time, nullptr);
}

// ---- mixed, short_lived, clear, rebuild, full

void clear_repeatedly(Arena &arena, const std::string &root, std::uint64_t seed) {
    Ledger &ledger = arena.ledger;
    Random random(seed);
    Cache cache;
    if (!open_for(arena, root, cache)) return;
    while (ledger.stop == 0) {
        // Where a killed worker left a clear half done, this one finishes it.
        if (ledger.clears_started == ledger.clears_finished) ++ledger.clears_started;
        if (cache.clear() != CAIRN_OK) report(arena.findings(), arena.findings().failed, "clear");
        ledger.clears_finished.store(ledger.clears_started);
        ++ledger.progress[kClearingWorker].writes;
        pause_us(random.below(10000));
    }
}

void use_owned_only(Actor &actor) {
    if (actor.random().one_in(2)) return actor.write_owned();
    actor.read_some_owned();
}

void act(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed) {
    Actor actor(arena.ledger, self, rules_for(arena), seed);
    const std::uint64_t reopen_one_in = arena.scenario == Scenario::short_lived ? 6 : 400;
    while (arena.ledger.stop == 0) {
        Cache cache;
        if (!open_for(arena, root, cache)) return;
        actor.use(&cache);
        do {
            if (arena.scenario == Scenario::clear) {
                use_owned_only(actor);
            } else {
                actor.step();
            }
        } while (arena.ledger.stop == 0 && !actor.random().one_in(reopen_one_in));
    }
}

// While the index is rebuilt there may be misses, but nothing wrong.
void read_while_rebuilding(Arena &arena, unsigned self, const std::string &root,
                           std::uint64_t seed) {
    ActorRules rules = rules_for(arena);
    rules.losses = Losses::allowed;
    Actor actor(arena.ledger, self, rules, seed);
    while (arena.ledger.stop == 0) {
        Cache cache;
        if (!open_for(arena, root, cache)) return;
        actor.use(&cache);
        do {
            actor.read_some_owned();
        } while (arena.ledger.stop == 0 && !actor.random().one_in(100));
        // The next one finds no index again.
        if (actor.random().one_in(20)) unlink((cache_directory(root) + "/cache.idx").c_str());
    }
}

// ---- growth

ByteVector tiny_key(std::uint64_t worker, std::uint64_t n) {
    return numbered_key(kTinyFamily, worker << 32 | n);
}

std::uint64_t tiny_value(std::uint64_t worker, std::uint64_t n) {
    return mix(worker + 77, n);
}

void read_tiny(Arena &arena, Cache &cache, std::uint64_t worker, std::uint64_t n) {
    const bool acked = arena.tiny_acked[worker][n] != 0;
    int result = 0;
    const auto value = cache.get_into(tiny_key(worker, n), 64, &result);
    std::uint64_t found = 0;
    if (value && value->size() == sizeof(found)) std::memcpy(&found, value->data(), sizeof(found));
    if (result == CAIRN_MISS && acked) {
        report(arena.findings(), arena.findings().lost, "tiny entry %llu of worker %llu", number(n),
               number(worker));
    } else if (result != CAIRN_MISS && found != tiny_value(worker, n)) {
        report(arena.findings(), arena.findings().wrong, "tiny entry %llu of worker %llu: %s",
               number(n), number(worker), cairn_result_string(result));
    }
}

void grow(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed) {
    Random random(seed);
    Cache cache;
    if (!open_for(arena, root, cache)) return;
    Progress &progress = arena.ledger.progress[self];
    while (arena.ledger.stop == 0) {
        // Opening must not disturb the growing either.
        if (random.one_in(300) && !open_for(arena, root, cache)) return;
        if (arena.tiny_started[self] < arena.tiny_max && !random.one_in(4)) {
            const std::uint64_t n = arena.tiny_started[self].fetch_add(1);
            const std::uint64_t value = tiny_value(self, n);
            ByteVector bytes(sizeof(value));
            std::memcpy(bytes.data(), &value, sizeof(value));
            const int result = try_again_while_busy(arena.ledger, self, arena.refusals, [&] {
                return cache.put(tiny_key(self, n), bytes);
            });
            if (result == CAIRN_OK) {
                arena.tiny_acked[self][n] = 1;
                ++progress.writes;
            } else if (result != CAIRN_ERROR_BUSY || arena.refusals != Refusals::busy) {
                report(arena.findings(), arena.findings().failed, "put of a tiny entry: %s",
                       cairn_result_string(result));
            }
        } else {
            const std::uint64_t worker = random.below(arena.worker_count);
            const std::uint64_t started = arena.tiny_started[worker];
            if (started != 0) read_tiny(arena, cache, worker, random.below(started));
            ++progress.reads;
        }
    }
}

void verify_tiny(Arena &arena, Cache &cache) {
    for (std::uint64_t worker = 0; worker < arena.worker_count; ++worker) {
        for (std::uint64_t n = 0; n < arena.tiny_started[worker]; ++n)
            read_tiny(arena, cache, worker, n);
    }
}

// ---- wipe

// An acknowledged put, in one word: the cache's version, the worker, the worker's sequence number.
struct Wiped {
    std::uint64_t version;
    std::uint64_t worker;
    std::uint64_t sequence;

    std::uint64_t pack() const { return version << 56 | worker << 48 | sequence; }
    static Wiped unpack(std::uint64_t word) {
        return {word >> 56, word >> 48 & 0xFF, word & 0xFFFFFFFFFFFF};
    }
    ByteVector key() const { return numbered_key(kWipeFamily, worker << 48 | sequence); }
};

// Looks an acknowledged put up in a cache that is open in `version`, and was when log entry `since`
// was written.
void read_wiped(Arena &arena, Cache &cache, std::uint64_t version, std::uint64_t index,
                std::uint64_t since) {
    const std::uint64_t word = arena.wipe_log[index];
    if (word == 0) return;  // claimed and not yet written, or its worker was killed in between
    const Wiped put = Wiped::unpack(word);
    int result = 0;
    const auto blob = cache.get(put.key(), &result);
    if (index >= since && put.version != version) {
        report(arena.findings(), arena.findings().wrong,
               "the cache is open in version %llu and in version %llu", number(version),
               number(put.version));
    } else if (index >= since && result == CAIRN_MISS) {
        report(arena.findings(), arena.findings().lost, "put %llu of worker %llu in version %llu",
               number(put.sequence), number(put.worker), number(version));
    } else if (blob) {
        const auto stamp = read_stamp(blob->bytes());
        const bool right = stamp && stamp->writer == put.worker && stamp->begin == put.sequence &&
                           stamp->version == version;
        if (!right) {
            report(arena.findings(), arena.findings().wrong,
                   "an entry of another version, or nobody's, in version %llu", number(version));
        }
    }
}

void use_in_version(Arena &arena, unsigned self, Cache &cache, std::uint64_t version,
                    Random &random) {
    const std::uint64_t since = arena.wipe_logged;
    const std::uint64_t steps = 5 + random.below(60);
    for (std::uint64_t i = 0; i < steps && arena.ledger.stop == 0; ++i) {
        const std::uint64_t sequence = arena.wipe_sequence[self].fetch_add(1) + 1;
        const Wiped put = {version, self, sequence};
        const auto value = stamped_value({0, self, version, sequence}, 64 + random.below(4096));
        const int result = try_again_while_busy(arena.ledger, self, arena.refusals,
                                                [&] { return cache.put(put.key(), value); });
        if (result != CAIRN_OK) {
            report(arena.findings(), arena.findings().failed, "put: %s",
                   cairn_result_string(result));
            return;
        }
        arena.ledger.bytes_written += value.size();
        const std::uint64_t index = arena.wipe_logged.fetch_add(1);
        if (index >= kWipeLog) {
            arena.ledger.stop = 1;
            return;
        }
        arena.wipe_log[index] = put.pack();
        ++arena.ledger.progress[self].writes;
        read_wiped(arena, cache, version, random.below(index + 1), since);
        read_wiped(arena, cache, version, since + random.below(index + 1 - since), since);
    }
}

void wipe(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed) {
    Random random(seed);
    std::uint64_t version = 1;
    while (arena.ledger.stop == 0) {
        if (random.one_in(4)) version = 1 + random.below(3);
        CacheOptions options = options_for(arena, root);
        options.version = version;
        Cache cache;
        const int result = cache.open(options);
        if (result == CAIRN_ERROR_BUSY) {
            ++arena.ledger.progress[self].refused;
            pause_us(random.below(500));
            continue;
        }
        if (result != CAIRN_OK) {
            report(arena.findings(), arena.findings().failed, "open in version %llu: %s",
                   number(version), cairn_result_string(result));
            return;
        }
        ++arena.wipe_opened;
        use_in_version(arena, self, cache, version, random);
    }
}

// Nobody has the cache open any more: it opens in a new version, and is empty.
void verify_wiped(Arena &arena, const std::string &root) {
    CacheOptions options = options_for(arena, root);
    options.version = 200;
    Cache cache;
    if (cache.open(options) != CAIRN_OK) {
        report(arena.findings(), arena.findings().failed, "open in a new version: %s",
               cairn_result_string(cache.result()));
        return;
    }
    const std::uint64_t logged = std::min<std::uint64_t>(arena.wipe_logged, kWipeLog);
    for (std::uint64_t i = 0; i < logged; ++i) read_wiped(arena, cache, 200, i, logged);
    if (cache.stats().entries != 0)
        report(arena.findings(), arena.findings().wrong, "entries in a new version");
    if (logged == 0 || arena.wipe_opened == 0)
        report(arena.findings(), arena.findings().failed, "nobody could open the cache");
}

}  // namespace

std::string_view scenario_name(Scenario scenario) {
    constexpr std::array<std::string_view, static_cast<unsigned>(Scenario::count)> kNames = {
        "mixed", "short_lived", "growth", "clear", "wipe", "rebuild", "full", "remember"};
    return kNames[static_cast<unsigned>(scenario)];
}

std::string cache_directory(const std::string &root) {
    return store_files(root + "/" + kIdentifier);
}

void run_worker(Arena &arena, unsigned self, const std::string &root, std::uint64_t seed) {
    switch (arena.scenario) {
        case Scenario::growth:
            return grow(arena, self, root, seed);
        case Scenario::wipe:
            return wipe(arena, self, root, seed);
        case Scenario::rebuild:
            return read_while_rebuilding(arena, self, root, seed);
        case Scenario::remember:
            return remember(arena, self, root, seed);
        case Scenario::clear:
            if (self == kClearingWorker) return clear_repeatedly(arena, root, seed);
            return act(arena, self, root, seed);
        default:
            return act(arena, self, root, seed);
    }
}

void prepare_cache(Arena &arena, const std::string &root) {
    if (arena.scenario == Scenario::remember) return prepare_remembering(arena, root);
    if (arena.scenario != Scenario::rebuild) return;
    Cache cache;
    if (!open_for(arena, root, cache)) return;
    for (unsigned self = 0; self < arena.worker_count; ++self) {
        Actor actor(arena.ledger, self, rules_for(arena), self);
        actor.use(&cache);
        for (unsigned i = 0; i < 300; ++i) actor.write_owned();
    }
    cache.close();
    unlink((cache_directory(root) + "/cache.idx").c_str());
}

// A miss searches the segments for a bounded time only, so one may not be enough.
void finish_rebuild(Cache &cache) {
    constexpr unsigned kMissesMax = 10'000;
    for (unsigned i = 0; cache.rebuild_is_due() && i < kMissesMax; ++i) {
        (void)cache.get(tiny_key(kWorkersMax, 0));
        pause_us(1'000);
    }
}

void verify_cache(Arena &arena, const std::string &root) {
    if (arena.scenario == Scenario::wipe) return verify_wiped(arena, root);
    if (arena.scenario == Scenario::remember) return verify_remembering(arena, root);
    Cache cache;
    if (!open_for(arena, root, cache)) return;
    finish_rebuild(cache);
    if (arena.scenario == Scenario::growth) return verify_tiny(arena, cache);
    Actor actor(arena.ledger, 0, rules_for(arena), 1);
    actor.use(&cache);
    actor.read_everything();
    if (arena.scenario != Scenario::full) return actor.enumerate_everything();
    // Each process that was killed may have counted one entry wrongly, until somebody counts anew.
    const std::uint64_t entries = cache.stats().entries;
    if (entries > kFullEntries + arena.worker_count) {
        report(arena.findings(), arena.findings().wrong, "%llu entries, limit %llu",
               number(entries), number(kFullEntries));
    }
}

}  // namespace cairn_test
