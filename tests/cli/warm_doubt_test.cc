// SPDX-License-Identifier: MIT
// `cairn warm` believes neither recipes nor players: what is noted as made, and what is not.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/process.h"
#include "warm_support.h"

namespace cairn::cli_test {
namespace {

using ::testing::HasSubstr;

TEST_F(WarmTest, AnotherTextUnderTheKeyOfASourceIsDamage) {
    record({"good 1", "good 2"});
    cairn_cache *cache = open_recipes(root_);
    const std::string key = recipe::key_of_source(recipe::hash_of(recipe::Source{"good 1"}));
    put(cache, key, recipe::encode(recipe::Source{"evil"}));
    flush(cache);
    const Json first = result();
    EXPECT_EQ(first["made"], 1);
    EXPECT_EQ(first["damaged"], 1);
    EXPECT_EQ(given().count("evil"), 0u);
    put(cache, key, recipe::encode(recipe::Source{"good 1"}));
    cairn_close(cache);
    const Json second = result();
    EXPECT_EQ(second["made"], 1) << "nothing was noted for it";
    EXPECT_EQ(second["known"], 1);
}

TEST_F(WarmTest, AProgramThatLacksAStateIsMadeAgainWhenThatIsThere) {
    cairn_cache *cache = open_recipes(root_);
    const recipe::Key program = put_recipe(cache, {{"good"}});
    put_state(cache, program, 4);
    recipe::DrawState state;
    state.mode = 5;
    const std::string right = recipe::encode(state);
    state.mode = 6;
    const std::string key = recipe::key_of_state(program, as_bytes(right));
    put(cache, key, recipe::encode(state));
    flush(cache);
    EXPECT_EQ(result()["made"], 1);
    put(cache, key, right);
    cairn_close(cache);
    EXPECT_EQ(result()["made"], 1);
    EXPECT_EQ(result()["known"], 1);
}

TEST_F(WarmTest, WhatIsMoreThanAPlayerTakesIsDamage) {
    record({"good"});
    cairn_cache *cache = open_recipes(root_);
    const recipe::Source large = {"large" + std::string(5 << 18, 'x')};
    (void)put_recipe(cache, std::vector<recipe::Source>(64, large));
    cairn_close(cache);
    const Json done = result();
    EXPECT_EQ(done["made"], 1);
    EXPECT_EQ(done["damaged"], 1);
    EXPECT_EQ(done["failed"], 0);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what is freed
    rusage usage = {};
    ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, 400 * 1024);
#endif
}

TEST_F(WarmTest, PlayersThatDoNotEndWellHaveMadeNothing) {
    record(many("good", 5));
    environment_["WARM_TEST_END"] = "fail";
    const Json done = result({}, 1);
    EXPECT_EQ(done["made"], 0);
    EXPECT_EQ(done["skipped"], 5);
    environment_.erase("WARM_TEST_END");
    EXPECT_EQ(result()["made"], 5);
}

TEST_F(WarmTest, StoppedWhileAPlayerIsToEndItWaitsAFewSeconds) {
    record(many("good", 3));
    environment_["WARM_TEST_END"] = "silent";
    Program program(cairn_command(command({"game"})), environment_);
    wait_until_given(3);
    const auto start = std::chrono::steady_clock::now();
    ::kill(program.pid(), SIGINT);
    EXPECT_EQ(program.wait(), 128 + SIGINT);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_TRUE(players_end_soon());
}

TEST_F(WarmTest, ProgramsThatADriverHadNoMemoryForAreTriedTheNextTime) {
    record({"lacking"});
    record(many("good", 3));
    const Json first = result();
    EXPECT_EQ(first["made"], 3);
    EXPECT_EQ(first["skipped"], 1);
    (void)result();
    EXPECT_EQ(given()["lacking"], 2);
    EXPECT_EQ(given_in_all(), 5);
}

TEST_F(WarmTest, StatesThatWereNotDrawnAreCounted) {
    record(many("undrawn", 3));
    const Json done = result();
    EXPECT_EQ(done["made"], 3);
    EXPECT_EQ(done["undrawn"], 3);
    EXPECT_THAT(run({"--again"}).standard_output, HasSubstr("3 states were not drawn"));
}

TEST_F(WarmTest, TheFirstRefusalSaysWhy) {
    record(many("refuse", 3));
    EXPECT_THAT(run().standard_error, HasSubstr("a program does not compile: as it was told"));
}

TEST_F(WarmTest, PlayersCannotNameACacheThatIsNotThisApplications) {
    record(many("good", 3));
    cairn_cache *recipes = open_recipes(root_);
    cairn_cache *other = open_recipes(root_, CAIRN_OPEN_NO_LAYERS, "gl-gamelike");
    const Words wrong = {cairn_program_cache_identifier(recipes),
                         cairn_program_cache_identifier(other), "../elsewhere", ""};
    cairn_close(recipes);
    cairn_close(other);
    for (const std::string &name : wrong) {
        environment_["WARM_TEST_CACHE"] = name;
        const Finished done = run();
        EXPECT_EQ(done.exit_code, 1) << name;
        EXPECT_THAT(done.standard_error, HasSubstr("does not serve game")) << name;
    }
    EXPECT_EQ(given_in_all(), 0);
}

TEST_F(WarmTest, ExecutablesThatAreNoneAreAMistake) {
    record({"good"});
    for (const char *wrong : {"/nonexistent/game", "/etc/passwd", "/tmp"}) {
        const Finished done = run({"--executable", wrong});
        EXPECT_EQ(done.exit_code, 2) << wrong;
        EXPECT_THAT(done.standard_error, HasSubstr("that is no program")) << wrong;
    }
    EXPECT_EQ(result({"--executable", CLI_WARM_PLAYER})["made"], 1);
}

TEST_F(WarmTest, NumbersInTheEnvironmentThatAreNoneDoNoHarm) {
    for (const char *wrong : {"0", "-1", "x", "99999999999999"}) {
        environment_["CAIRN_WARM_BATCH_MS"] = wrong;
        environment_["CAIRN_WARM_TIMEOUT_MS"] = wrong;
        record({std::string("good ") + wrong});
        EXPECT_EQ(result()["made"], 1) << wrong;
    }
    environment_["CAIRN_WARM_BATCH_MS"] = "1";
    record(many("slow", 3));
    EXPECT_EQ(result()["made"], 3) << "each player makes one at least";
}

TEST_F(WarmTest, NobodyIsToldOfWhatIsMissingEachDay) {
    record(many("good", 3));
    environment_["WARM_TEST_READY"] = "refuse";
    const Finished done = run({"--if-needed"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.standard_output + done.standard_error, "");
    EXPECT_EQ(run().exit_code, 1);
}

TEST_F(WarmTest, OneApplicationsFailureDoesNotStopTheOthers) {
    record(many("good", 3));
    cairn_cache *cache = open_recipes(root_, CAIRN_OPEN_NO_LAYERS, "gl-a-game");
    (void)put_recipe(cache, {{"good of a"}});
    cairn_close(cache);
    std::filesystem::create_directory(root_ + "/.warm-a-game");  // where its lock would be
    const Finished done = cairn(command({"--all", "--json-progress"}), environment_);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("a-game: "));
    EXPECT_THAT(done.standard_output, HasSubstr("\"made\":3"));
    EXPECT_EQ(given().size(), 3u);
}

TEST_F(WarmTest, WhereTheDriversCacheCannotBeMadeItSaysSo) {
    record({"good"});
    std::filesystem::remove_all(root_ + "/" + environment_["WARM_TEST_CACHE"]);
    const Finished done = run();
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("is the disk full"));
    EXPECT_EQ(given_in_all(), 0);
}

TEST_F(WarmTest, OnAFullDiskItSaysSoAndTheNextOneGoesOn) {
    constexpr int kSkip = 77, kPrograms = 300;
    const std::string ballast = root_ + "/ballast";
    const std::string end = cairn_test::run_in_child(200, [&] {
        std::filesystem::create_directories(root_);
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
            return kSkip;
        }
        unsigned refusals = 0;
        for (std::size_t room = 0;; room += 98304) {
            if (::mount("root", root_.c_str(), "tmpfs", 0, "mode=0700,size=16m") != 0) return kSkip;
            record(many("good", kPrograms));
            make_cache();
            const std::size_t left = std::filesystem::space(root_).available;
            if (left > room) std::ofstream(ballast) << std::string(left - room, 'x');
            const Finished done = run();
            EXPECT_FALSE(has_players()) << room;
            if (done.exit_code != 0) {
                ++refusals;
                EXPECT_EQ(done.exit_code, 1) << room;
                EXPECT_THAT(done.standard_error, HasSubstr("no space left")) << room;
            }
            std::filesystem::remove(ballast);
            const Json next = result();
            EXPECT_EQ(next["made"].get<int>() + next["known"].get<int>(), kPrograms) << room;
            EXPECT_EQ(next["damaged"], 0) << room;
            ::umount2(root_.c_str(), MNT_DETACH);
            if (done.exit_code == 0 || ::testing::Test::HasFailure()) break;
        }
        EXPECT_GE(refusals, 1u);
        return ::testing::Test::HasFailure() ? 1 : 0;
    });
    if (end == "exit code " + std::to_string(kSkip)) GTEST_SKIP() << "not permitted here";
    EXPECT_EQ(end, "");
}

}  // namespace
}  // namespace cairn::cli_test
