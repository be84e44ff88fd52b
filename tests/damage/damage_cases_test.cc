// The short form of `make torture DAMAGE=N`: each kind of damage to each kind of file, and mixed cases
// with kills. Whatever was not touched is found, and nothing wrong.
// SPDX-License-Identifier: MIT
#include "damage/damage_cases.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "support/random.h"

namespace cairn_test {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kEach = 4;  // ten times slower: every fourth pair, in turn
constexpr std::uint64_t kMixed = 40;
#else
constexpr std::uint64_t kEach = 1;
constexpr std::uint64_t kMixed = 200;
#endif

DamageTorture &torture() {
    static DamageTorture torture;
    return torture;
}

std::string describe(const CaseResult &result) {
    return "wrong " + std::to_string(result.wrong) + " undamaged-lost " +
           std::to_string(result.lost) + " over-limit " + std::to_string(result.over_limit) +
           " hung " + std::to_string(result.hung) + ": " + result.text;
}

class DamageOf : public testing::TestWithParam<FileKind> {};

TEST_P(DamageOf, OfEachKindCostsOnlyWhatItHits) {
    std::uint64_t number = 0;
    for (const DamageKind &kind : damage_kinds()) {
        ++number;
        const CaseMode mode = number % 3 == 0 ? CaseMode::live : CaseMode::at_rest;
        const Use use = mode == CaseMode::live ? Use::mapped : Use::at_rest;
        const Use possible = can_have(kind, GetParam(), use) ? use : Use::at_rest;
        if (number % kEach != 0 || !can_have(kind, GetParam(), possible)) continue;
        if (kind.is_permission && !torture().can_be_another_user()) {
            std::puts("permissions cannot be tried here: no process may become another user");
            continue;
        }
        const CasePlan plan = torture().plan_pair(
            number, kind, GetParam(), possible == Use::mapped ? CaseMode::live : CaseMode::at_rest);
        const CaseResult result = torture().run(plan);
        EXPECT_TRUE(result.good()) << kind.name << ": " << describe(result);
    }
}

std::vector<FileKind> all_files() {
    std::vector<FileKind> files;
    for (unsigned i = 0; i < static_cast<unsigned>(FileKind::count); ++i)
        files.push_back(static_cast<FileKind>(i));
    return files;
}

INSTANTIATE_TEST_SUITE_P(Files, DamageOf, testing::ValuesIn(all_files()),
                         [](const auto &file) { return std::string(file_kind_name(file.param)); });

TEST(DamageTorture, HasFortyKindsOfDamageForEachKindOfFile) {
    for (const FileKind file : all_files()) {
        unsigned count = 0;
        for (const DamageKind &kind : damage_kinds()) count += can_have(kind, file, Use::at_rest);
        EXPECT_GE(count, 40u) << file_kind_name(file);
    }
}

TEST(DamageTorture, DrawsEveryKindOfDamageFileAndMode) {
    std::map<std::string, unsigned> seen;
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        const CasePlan plan = torture().plan(seed, {});
        ++seen[plan.mode == CaseMode::live ? "live" : "at rest"];
        ++seen[plan.is_tight ? "near the limit" : "far from the limit"];
        ++seen["kills " + std::to_string(plan.kills)];
        for (const DamageStep &step : plan.damages) {
            ++seen[step.kind->name];
            ++seen[file_kind_name(*file_kind_of(step.file))];
        }
        EXPECT_GE(plan.damages.size(), 1u);
        EXPECT_LE(plan.damages.size(), 20u);
    }
    EXPECT_EQ(seen.size(), damage_kinds().size() + static_cast<unsigned>(FileKind::count) + 8);
    for (const auto &[name, count] : seen) EXPECT_GT(count, 100u) << name;
}

TEST(DamageTorture, ManyDamagesAndKillsCostOnlyWhatTheyHit) {
    for (std::uint64_t i = 0; i < kMixed && !HasFailure(); ++i) {
        const CasePlan plan = torture().plan(mix(5, i), {});
        const CaseResult result = torture().run(plan);
        EXPECT_TRUE(result.good()) << "seed " << plan.seed << ", " << describe(result);
    }
}

}  // namespace
}  // namespace cairn_test
