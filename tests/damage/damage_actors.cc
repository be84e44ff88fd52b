// SPDX-License-Identifier: MIT
#include "damage/damage_actors.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "damage/damage_judge.h"
#include "support/cache.h"
#include "support/files.h"
#include "support/random.h"
#include "support/stamped_value.h"

namespace cairn_test {
namespace {

constexpr std::uint64_t kKilledOperations = 4000;
constexpr std::uint64_t kNewPuts = 12;
constexpr std::uint64_t kSegmentBytes = 64 * 1024;  // near the limit

CacheOptions options_of(const CaseScene &scene) {
    CacheOptions options;
    options.root = scene.root;
    options.identifier = scene.sample.identifier();
    options.limit_bytes = scene.plan.is_tight ? kTightLimit : kRoomyLimit;
    options.flags = CAIRN_OPEN_NO_LAYERS;
    return options;
}

// An open cache in which every step is noted.
class Actor {
  public:
    Actor(const CaseScene &scene, std::uint64_t seed, Phase phase)
        : scene_(scene), ledger_(scene.arena.ledger), random_(seed), phase_(phase) {}

    bool open() { return cache_.open(options_of(scene_)) == CAIRN_OK; }
    Cache &cache() { return cache_; }
    Random &random() { return random_; }

    Found look_up(std::uint64_t key) {
        if (random_.one_in(3)) {
            const auto value = cache_.get_into(TortureSample::key(key), 80000);
            return value ? found_of(key, *value) : Found{};
        }
        const auto blob = cache_.get(TortureSample::key(key));
        return blob ? found_of(key, blob->bytes()) : Found{};
    }

    // CAIRN_OK, also where the key takes no more.
    int put(std::uint64_t key, std::uint32_t flags = 0) {
        const auto version = ledger_.begin(key, SampleStep::What::put, phase_);
        if (!version) return CAIRN_OK;
        const ByteVector value = scene_.plan.is_tight && random_.one_in(2)
                                     ? stamped_value({key, 0, *version, 0}, 9000 + key * 100)
                                     : TortureSample::value(key, *version);
        const int result = cache_.put(TortureSample::key(key), value, flags);
        StepState state = StepState::refused;
        if (result == CAIRN_OK) state = StepState::done;
        if (result == CAIRN_EXISTS) state = StepState::nothing;
        ledger_.end(key, state);
        return result;
    }

    void remove(std::uint64_t key) {
        if (!ledger_.begin(key, SampleStep::What::remove, phase_)) return;
        const int result = cache_.remove(TortureSample::key(key));
        StepState state = StepState::refused;
        if (result == CAIRN_OK) state = StepState::done;
        if (result == CAIRN_MISS) state = StepState::not_found;
        ledger_.end(key, state);
    }

  private:
    const CaseScene &scene_;
    DamageLedger &ledger_;
    Random random_;
    const Phase phase_;
    Cache cache_;
};

int ignore_entry(void *, const cairn_entry *) {
    return 0;
}

}  // namespace

int live_beside_damage(const CaseScene &scene, unsigned self) {
    Actor actor(scene, mix(scene.plan.seed, 100 + self), Phase::beside);
    Random &random = actor.random();
    CaseArena &arena = scene.arena;
    while (!arena.stop) {
        if (!actor.open()) {
            ++arena.operations[self];
            usleep(500);
            continue;
        }
        do {
            const std::uint64_t key = random.below(DamageLedger::kKeys);
            const bool is_mine = key % kLiveWriters == self;
            if (is_mine && random.one_in(8)) {
                (void)actor.put(key);
            } else if (is_mine && random.one_in(30)) {
                actor.remove(key);
            } else {
                // Others may be changing it, so it is only asked whether it was ever stored.
                const Found found = actor.look_up(key);
                if (found.is_there &&
                    (found.version == 0 || found.version > arena.ledger.count(key)))
                    complain_wrong(scene, "live: bytes that were never stored", key, found.version);
            }
            ++arena.operations[self];
        } while (!arena.stop && !random.one_in(400));
    }
    return 0;
}

int use_until_killed(const CaseScene &scene, std::uint64_t seed) {
    Actor actor(scene, seed, Phase::after);
    Random &random = actor.random();
    for (std::uint64_t i = 0; i < kKilledOperations; ++i) {
        if ((!actor.cache().is_open() || random.one_in(60)) && !actor.open()) return 0;
        const std::uint64_t key = random.below(DamageLedger::kKeys);
        const std::uint64_t choice = random.below(100);
        if (choice < 50) {
            judge_found(scene, "before a kill", key, actor.look_up(key));
        } else if (choice < 80) {
            (void)actor.put(key, random.one_in(8) ? std::uint32_t{CAIRN_PUT_IF_ABSENT} : 0u);
        } else if (choice < 92) {
            actor.remove(key);
        } else if (choice < 95) {
            (void)actor.cache().compress();
        } else if (choice < 97) {
            (void)actor.cache().sync();
        } else if (choice < 99) {
            (void)cairn_enumerate(actor.cache().handle(), &ignore_entry, nullptr);
        } else if (is_used_by_programs(scene)) {
            (void)use_as_programs(scene.root, 2);
        }
    }
    return 0;
}

namespace {

// The last one.
class Checker {
  public:
    Checker(const CaseScene &scene, std::uint64_t seed)
        : scene_(scene), actor_(scene, seed, Phase::after) {}

    int run();

  private:
    bool open();
    void check_packed();
    void check_all();
    void check(std::uint64_t key);
    Found look_up_patiently(std::uint64_t key);
    void check_enumeration();
    void put_new();
    void check_limit();

    const CaseScene &scene_;
    Actor actor_;
    std::map<std::uint64_t, Found> found_;  // by key, of the latest visit
    bool has_put_ = false;
};

int Checker::run() {
    if (is_used_by_programs(scene_) && use_as_programs(scene_.root, 3) == 2)
        complain_wrong(scene_, "a program has wrong bytes", 0, 0);
    if (scene_.sample.kind() == SampleKind::plain) check_packed();
    for (int visit = 0; visit < 2; ++visit) {
        if (!open()) return 0;
        check_all();
        check_enumeration();
        if (visit == 0) put_new();
        actor_.cache().close();
    }
    check_limit();
    return 0;
}

bool Checker::open() {
    if (actor_.open()) return true;
    judge_open(scene_, actor_.cache().result());
    return false;
}

// What is packed is there or hidden, and what was removed is hidden, whatever the file says that
// remembers it, unless that was touched.
void Checker::check_packed() {
    const bool is_layer_touched = std::ranges::any_of(
        scene_.damaged.ranges,
        [](const Range &range) { return file_kind_of(range.file) == FileKind::layer; });
    if (!is_layer_touched) return;
    cairn_options options = {};
    options.size = sizeof options;
    options.root = scene_.root.c_str();
    options.identifier = scene_.sample.identifier().c_str();
    options.version = 1;
    options.limit_bytes = scene_.plan.is_tight ? kTightLimit : kRoomyLimit;
    const char *const path = scene_.sample.pack().c_str();
    options.layers = &path;
    options.layer_count = 1;
    cairn_cache *cache = nullptr;
    if (cairn_open(&options, &cache) != CAIRN_OK) return;  // open() says so without the pack
    for (std::uint64_t i = 0; i < 6; ++i) {
        const std::string key = "packed " + std::to_string(i);
        const std::string value = "value " + std::to_string(i);
        char buffer[64];
        std::size_t size = 0;
        const int result =
            cairn_get_into(cache, key.data(), key.size(), buffer, sizeof buffer, &size);
        if (result == CAIRN_OK && std::string_view(buffer, size) != value)
            complain_wrong(scene_, "packed bytes", i, 0);
    }
    cairn_close(cache);
}

void Checker::check_all() {
    found_.clear();
    const std::uint64_t first = actor_.random().below(DamageLedger::kKeys);
    for (std::uint64_t i = 0; i < DamageLedger::kKeys; ++i)
        check((first + i) % DamageLedger::kKeys);
}

// A rebuild that is due or goes on in the background must come to its end.
Found Checker::look_up_patiently(std::uint64_t key) {
    constexpr int kPatienceMs = 10000;
    Found found = actor_.look_up(key);
    if (found.is_there || may_be_missing(scene_, key)) return found;
    for (int i = 0; i < kPatienceMs && !found.is_there && scene_.arena.findings.lost == 0; ++i) {
        const bool is_due = actor_.cache().rebuild_is_due();
        if (i > 0) usleep(1000);
        found = actor_.look_up(key);
        if (!is_due && i > 2) break;  // nothing is going to bring it back
    }
    return found;
}

void Checker::check(std::uint64_t key) {
    const Found found = look_up_patiently(key);
    judge_found(scene_, "at the end", key, found);
    if (!found.is_there) judge_miss(scene_, key);
    if (found.is_there) found_[key] = found;
}

void Checker::check_enumeration() {
    struct Seen {
        std::map<ByteVector, std::size_t> sizes;
        bool twice = false;
    } seen;
    const auto visit = [](void *user, const cairn_entry *entry) {
        const auto *key = static_cast<const std::uint8_t *>(entry->key);
        auto *all = static_cast<Seen *>(user);
        all->twice |=
            !all->sizes.try_emplace(ByteVector(key, key + entry->key_size), entry->value_size)
                 .second;
        return 0;
    };
    if (cairn_enumerate(actor_.cache().handle(), visit, &seen) != CAIRN_OK)
        complain_wrong(scene_, "enumeration fails", 0, 0);
    if (seen.twice) complain_wrong(scene_, "a key is enumerated twice", 0, 0);
    for (const auto &[key, found] : found_) {
        const auto entry = seen.sizes.find(TortureSample::key(key));
        if (entry == seen.sizes.end()) {
            if (!scene_.plan.is_tight)
                complain_wrong(scene_, "found and not enumerated", key, found.version);
        } else if (entry->second != found.size && found.version == scene_.arena.ledger.count(key)) {
            // A rebuild may bring a put that was not acknowledged in between.
            complain_wrong(scene_, "enumerated with a wrong size", key, found.version);
        }
    }
    for (const auto &[key, size] : seen.sizes) judge_enumerated(scene_, key);
}

void Checker::put_new() {
    for (std::uint64_t i = 0; i < kNewPuts; ++i) {
        // Every third replaces an entry, whether that was damaged or not.
        const std::uint64_t key =
            i % 3 == 0 ? actor_.random().below(TortureSample::kKeys)
                       : TortureSample::kKeys + actor_.random().below(DamageLedger::kKeysNew);
        const bool is_stored = scene_.arena.ledger.count(key) < DamageLedger::kStepsMax;
        const int result = actor_.put(key);
        if (result != CAIRN_OK) {
            judge_refusal(scene_, key, result);
            continue;
        }
        has_put_ |= is_stored;
        const Found found = actor_.look_up(key);
        judge_found(scene_, "just stored", key, found);
        const bool is_full = scene_.arena.ledger.count(key) == DamageLedger::kStepsMax;
        if (!found.is_there && !is_full) complain_lost(scene_, "just stored", key);
    }
}

// What is no segment cannot be evicted, however large damage has made it, and only puts evict.
void Checker::check_limit() {
    if (!has_put_) return;
    const std::uint64_t limit = scene_.plan.is_tight ? kTightLimit : kRoomyLimit;
    const std::string directory = scene_.root + "/" + scene_.sample.identifier();
    const std::uint64_t held = blocks_held(directory);
    const std::uint64_t fixed = held - blocks_held(directory, ".val");
    const std::uint64_t others = fixed - blocks_held(directory, ".idx");
    // Where these are more than half of it, the cache makes room bit by bit, with later puts.
    const std::uint64_t uncounted = others > limit / 2 ? others : 0;
    if (held <= limit + uncounted || fixed + 2 * kSegmentBytes > limit + uncounted) return;
    ++scene_.arena.findings.over_limit;
    scene_.arena.findings.say("files hold %llu bytes of %llu, and all but segments %llu\n",
                              static_cast<unsigned long long>(held),
                              static_cast<unsigned long long>(limit),
                              static_cast<unsigned long long>(fixed));
}

}  // namespace

int check_after_damage(const CaseScene &scene, std::uint64_t seed) {
    return Checker(scene, seed).run();
}

}  // namespace cairn_test
