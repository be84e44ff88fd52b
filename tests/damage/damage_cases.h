// One case of the damage torture, from one seed: a copy of a small cache is damaged, at rest or under
// processes that use it; children that use it afterwards are killed at random moments; a last one looks
// whether every promise was kept.
// SPDX-License-Identifier: MIT
//
// Thread safety: one at a time in a process.
// Ownership: a DamageTorture owns its samples and the folder of its cases. Children never outlive a
// case.
// Failure: see CaseResult. What a case found is text for people, with which it can be repeated.
//
// What is drawn, and how often:
//   damages   1 to 3 in three cases of four, else 4 to 20
//   files     the index and segments in 30 % each, the other kinds share the rest; a kind of file that
//             only program caches have takes the sample that has it, else every fourth case does
//   mode      live in one case of four, else at rest
//   kills     none in 40 % of the cases, 1 in 30 %, 2 in 20 %, 3 in 10 %
//   limit     one case of eight is near its limit: there an entry may be missing, as it may have been
//             evicted, but files may not exceed the limit
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "damage/damage_kinds.h"
#include "damage/damage_ledger.h"
#include "damage/torture_sample.h"
#include "support/shared.h"
#include "support/temp_directory.h"

namespace cairn_test {

enum class CaseMode { at_rest, live };

// What the random choice is limited to.
struct CaseLimits {
    const DamageKind *only = nullptr;
    std::optional<FileKind> file = std::nullopt;
    std::optional<CaseMode> mode = std::nullopt;
    std::uint64_t damages_max = 20;
};

struct DamageStep {
    const DamageKind *kind;
    std::string file;
};

struct CasePlan {
    std::uint64_t seed = 0;
    CaseMode mode = CaseMode::at_rest;
    SampleKind sample = SampleKind::plain;
    bool is_tight = false;
    unsigned kills = 0;
    std::vector<DamageStep> damages;
    // Root may do everything: as another user then.
    bool unprivileged() const;
};

struct CaseResult {
    std::uint64_t wrong = 0;
    std::uint64_t lost = 0;
    std::uint64_t over_limit = 0;
    std::uint64_t hung = 0;
    // Allowed, and counted: an older value where the newer record and the index were damaged, and an
    // entry whose damaged slot fits its check bits by chance.
    std::uint64_t stale = 0;
    std::uint64_t hidden = 0;
    std::string text;

    bool good() const { return wrong + lost + over_limit + hung == 0; }
};

// What the processes of a case find and tell. In shared memory.
struct CaseFindings {
    std::atomic<std::uint64_t> wrong = 0, lost = 0, over_limit = 0, stale = 0, hidden = 0;
    std::atomic<unsigned> text_size = 0;
    char text[8192] = {};

    void say(const char *format, ...) __attribute__((format(printf, 2, 3)));
};

struct CaseArena {
    DamageLedger ledger;
    CaseFindings findings;
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> operations[4] = {};
};

class DamageTorture {
  public:
    // `samples`: where the samples are kept, so that a case finds the same bytes again; "": nowhere.
    // `folder`: for the cases; "": in memory where there is such a folder.
    explicit DamageTorture(const std::string &samples = "", const std::string &folder = "");

    CasePlan plan(std::uint64_t seed, const CaseLimits &limits) const;
    // A plan with one damage: of each kind and each file, there is a case.
    CasePlan plan_pair(std::uint64_t seed, const DamageKind &kind, FileKind file,
                       CaseMode mode) const;
    CaseResult run(const CasePlan &plan);

    // Whether cases with permissions can be run here.
    bool can_be_another_user() const { return can_be_another_user_; }

  private:
    const TortureSample &sample(SampleKind kind) const {
        return *samples_[static_cast<unsigned>(kind)];
    }
    std::string pick_file(SampleKind sample, FileKind kind, std::uint64_t number) const;

    TempDirectory folder_;
    std::unique_ptr<TortureSample> samples_[static_cast<unsigned>(SampleKind::count)];
    Shared<CaseArena> arena_;
    bool can_be_another_user_;
};

}  // namespace cairn_test
