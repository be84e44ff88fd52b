// SPDX-License-Identifier: MIT
#include "damage/damage_judge.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "support/files.h"
#include "support/stamped_value.h"

namespace cairn_test {
namespace {

// Of each sort, so many are told; all are counted.
constexpr std::uint64_t kToldMax = 4;

unsigned long long number(std::uint64_t value) {
    return value;
}

bool is_index_touched(const CaseScene &scene) {
    return scene.damaged.touched("cache.idx");
}

bool is_segment_touched(const CaseScene &scene) {
    return std::ranges::any_of(scene.damaged.ranges, [](const Range &range) {
        return file_kind_of(range.file) == FileKind::segment;
    });
}

// Whether damage may have hit what a step has written, or marked.
bool is_touched(const CaseScene &scene, std::uint64_t key, std::uint64_t version) {
    if (version == 0) return true;
    switch (scene.arena.ledger.step(key, version).phase.load()) {
        case Phase::sample: {
            const Range &record = scene.sample.steps(key)[version - 1].record;
            return std::ranges::any_of(scene.damaged.ranges,
                                       [&](const Range &range) { return range.overlaps(record); });
        }
        case Phase::beside:  // nobody knows where it lies
            return is_segment_touched(scene);
        case Phase::after:
            return false;
    }
    return false;
}

// Who takes the right to write the index or the lock file away has a cache that is only read. It
// takes nothing, and repairs nothing. Another file that may not be written can have got their name.
bool is_only_read(const CaseScene &scene) {
    const std::string directory = scene.root + "/" + scene.sample.identifier();
    return std::ranges::any_of(std::array{"cache.idx", "cache.lock"}, [&](const char *name) {
        const std::string path = path_in_cache(directory, name);
        return access(path.c_str(), R_OK) == 0 && access(path.c_str(), W_OK) != 0;
    });
}

// Where the record of the latest acknowledged step lies, and what the key has gone through.
void describe(const CaseScene &scene, std::uint64_t key) {
    CaseFindings &findings = scene.arena.findings;
    const DamageLedger &ledger = scene.arena.ledger;
    for (std::uint64_t version = 1; version <= ledger.count(key); ++version) {
        const auto &step = ledger.step(key, version);
        constexpr const char *kStates[] = {"begun", "done", "not found", "refused", "nothing"};
        findings.say(" %s%s", step.what == SampleStep::What::put ? "put " : "remove ",
                     kStates[static_cast<unsigned>(step.state.load())]);
        if (step.phase.load() != Phase::sample) continue;
        const Range &record = scene.sample.steps(key)[version - 1].record;
        findings.say(" in %s %llu to %llu,", record.file.c_str(), number(record.begin),
                     number(record.end));
    }
    findings.say("\n");
}

void count_stale(const CaseScene &scene, const char *when, std::uint64_t key,
                 std::uint64_t version) {
    if (++scene.arena.findings.stale > kToldMax) return;
    scene.arena.findings.say("stale %s: key %llu has version %llu;", when, number(key),
                             number(version));
    describe(scene, key);
}

}  // namespace

void complain_wrong(const CaseScene &scene, const char *what, std::uint64_t key,
                    std::uint64_t version) {
    if (++scene.arena.findings.wrong > kToldMax) return;
    scene.arena.findings.say("wrong, %s: key %llu has version %llu;", what, number(key),
                             number(version));
    describe(scene, key);
}

void complain_lost(const CaseScene &scene, const char *what, std::uint64_t key) {
    if (++scene.arena.findings.lost > kToldMax) return;
    scene.arena.findings.say("lost, %s: key %llu;", what, number(key));
    describe(scene, key);
}

bool is_used_by_programs(const CaseScene &scene) {
    return scene.sample.kind() == SampleKind::program;
}

Found found_of(std::uint64_t key, ByteView value) {
    const auto stamp = read_stamp(value);
    const bool is_own = stamp && stamp->key == key;
    return {true, is_own ? stamp->version : 0, value.size()};
}

void judge_found(const CaseScene &scene, const char *when, std::uint64_t key, const Found &found) {
    if (!found.is_there) return;
    const DamageLedger &ledger = scene.arena.ledger;
    if (found.version == 0 || found.version > ledger.count(key))
        return complain_wrong(scene, "never stored", key, found.version);
    const Expectation expected = Expectation::of(ledger, key);
    if (expected.allows(found.version)) {
        // A removal that misses what is there has to say that it cannot tell. What damage takes away
        // and brings back was not there.
        const bool is_missed = expected.was_not_found && found.version == expected.decisive &&
                               !is_touched(scene, key, expected.decisive);
        if (!is_missed) return;
        return complain_wrong(scene, "a removal did not find it", key, found.version);
    }
    const bool is_undecidable =
        is_index_touched(scene) && is_touched(scene, key, expected.decisive);
    if (is_undecidable) return count_stale(scene, when, key, found.version);
    complain_wrong(scene, when, key, found.version);
}

bool may_be_missing(const CaseScene &scene, std::uint64_t key) {
    const Expectation expected = Expectation::of(scene.arena.ledger, key);
    return expected.may_miss || scene.plan.is_tight || is_touched(scene, key, expected.decisive) ||
           (is_only_read(scene) && is_index_touched(scene));
}

void judge_open(const CaseScene &scene, int result) {
    if (is_only_read(scene) && is_index_touched(scene)) return;
    ++scene.arena.findings.lost;
    scene.arena.findings.say("the cache cannot be opened: %s\n", cairn_result_string(result));
}

void judge_miss(const CaseScene &scene, std::uint64_t key) {
    if (may_be_missing(scene, key)) return;
    CaseFindings &findings = scene.arena.findings;
    // Of the slots that damage leaves half as they were, one in 64 still fits its check bits: its
    // entry is not looked for again. The formats page says so. More than one in a cache is a bug.
    if (is_index_touched(scene)) {
        std::uint64_t none = 0;
        if (findings.hidden.compare_exchange_strong(none, key + 1) || none == key + 1) return;
    }
    complain_lost(scene, "its record was not touched", key);
}

// Keys of the sample that nobody counts are those of programs, which only a program cache has.
void judge_enumerated(const CaseScene &scene, const ByteVector &key) {
    std::uint64_t family = 0, own = DamageLedger::kKeys;
    if (key.size() >= 16) {
        std::memcpy(&family, key.data(), 8);
        std::memcpy(&own, key.data() + 8, 8);
    }
    const bool is_ours = family == TortureSample::kFamily && own < DamageLedger::kKeys &&
                         key == TortureSample::key(own);
    const bool is_program = scene.sample.kind() == SampleKind::program && !is_ours &&
                            (own < 4 || own >= 200) && key.size() == 16;
    // A rebuild may list it again.
    if (is_program || key == TortureSample::ghost_key()) return;
    if (!is_ours) return complain_wrong(scene, "a key that nobody stored is enumerated", 0, 0);
    const Expectation expected = Expectation::of(scene.arena.ledger, own);
    if (!expected.may_miss || expected.decisive == 0) return;
    bool may_be_there = false;
    for (std::uint64_t version = 1; version <= scene.arena.ledger.count(own); ++version)
        may_be_there |= expected.allows(version);
    if (!may_be_there) judge_found(scene, "enumerated", own, {true, expected.decisive, 0});
}

void judge_refusal(const CaseScene &scene, std::uint64_t key, int result) {
    const bool is_read_only = result == CAIRN_ERROR_READ_ONLY || result == CAIRN_ERROR_DENIED;
    if (is_read_only && is_only_read(scene)) return;
    if (++scene.arena.findings.wrong > kToldMax) return;
    scene.arena.findings.say("a put is refused: key %llu, %s\n", number(key),
                             cairn_result_string(result));
}

}  // namespace cairn_test
