// SPDX-License-Identifier: MIT
// `cairn warm` with a player that does what a program's source says.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "pack/testing/packs.h"
#include "warm_support.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(WarmTest, WhatWasMadeIsNotMadeAgainUnlessThatIsAskedFor) {
    record(many("good", 10));
    EXPECT_EQ(result()["made"], 10);
    EXPECT_EQ(given().size(), 10u);
    const Json second = result();
    EXPECT_EQ(second["made"], 0);
    EXPECT_EQ(second["known"], 10);
    EXPECT_EQ(given_in_all(), 10);
    EXPECT_EQ(result({"--again"})["made"], 10);
    EXPECT_EQ(given_in_all(), 20);
}

TEST_F(WarmTest, AProgramThatEndsOrSilencesThePlayerIsLeftOutFromThenOn) {
    environment_["CAIRN_WARM_TIMEOUT_MS"] = "3000";
    for (const char *what : {"crash", "hang", "nonsense", "huge"}) {
        SCOPED_TRACE(what);
        record({std::string(what) + " it"});
        record(many(std::string("good beside ") + what, 6));
        const Json first = result({}, 1);
        EXPECT_EQ(first["made"], 6);
        EXPECT_EQ(first["failed"], 1);
        const Json second = result();
        EXPECT_EQ(second["known"], second["total"]);
    }
    // What its player had made before is made again: nobody knows what of it was written.
    for (const auto &[text, count] : given()) EXPECT_LE(count, 2) << text;
    EXPECT_TRUE(players_end_soon());
}

TEST_F(WarmTest, RefusedProgramsAreCountedAndNotTriedAgain) {
    record(many("refuse", 3));
    record(many("good", 3));
    const Json first = result();
    EXPECT_EQ(first["refused"], 3);
    EXPECT_EQ(first["made"], 3);
    EXPECT_EQ(result()["known"], 6);
    EXPECT_EQ(given_in_all(), 6);
}

TEST_F(WarmTest, AProgramThatIsDrawnInANewStateIsMadeAnew) {
    record(many("good", 3));
    EXPECT_EQ(result()["made"], 3);
    cairn_cache *cache = open_recipes(root_);
    put_state(cache, put_recipe(cache, {{"good 1"}}), 1);
    cairn_close(cache);
    const Json second = result();
    EXPECT_EQ(second["made"], 1);
    EXPECT_EQ(second["known"], 2);
    EXPECT_EQ(given()["good 1"], 2);
}

TEST_F(WarmTest, APlayerThatDoesNotBeginIsTriedThreeTimes) {
    record(many("good", 20));
    environment_["CAIRN_WARM_TIMEOUT_MS"] = "300";
    for (const char *how : {"silent", "crash"}) {
        environment_["WARM_TEST_READY"] = how;
        const auto start = std::chrono::steady_clock::now();
        const Finished done = run();
        EXPECT_EQ(done.exit_code, 1);
        EXPECT_THAT(done.standard_error, HasSubstr("the player ends without an answer"));
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    }
    environment_["CAIRN_WARM_TIMEOUT_MS"] = "5000";
    environment_["WARM_TEST_READY"] = "refuse";
    const Finished done = run();
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.standard_error, HasSubstr("there is no such context"));
    EXPECT_EQ(given_in_all(), 0);
    environment_.erase("WARM_TEST_READY");
    EXPECT_EQ(result()["made"], 20);
}

TEST_F(WarmTest, SeveralPlayersShareTheWork) {
    record(many("slow", 40));
    EXPECT_EQ(result({"--jobs", "4"})["made"], 40);
    EXPECT_EQ(given().size(), 40u);
    EXPECT_EQ(given_in_all(), 40);
    for (const char *wrong : {"0", "65", "x", "-1", "1x"}) {
        EXPECT_EQ(run({"--jobs", wrong}).exit_code, 2) << wrong;
    }
}

TEST_F(WarmTest, TheSecondWaitsForTheFirstAndFindsNothing) {
    record(many("slow", 60));
    Program first(cairn_command(command({"game"})), environment_);
    wait_until_given(1);
    const Json second = result();
    EXPECT_EQ(second["known"], 60);
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(given_in_all(), 60);
}

TEST_F(WarmTest, IfNeededItLeavesAtOnceWhereAnotherOneIsAtIt) {
    environment_["CAIRN_WARM_TIMEOUT_MS"] = "60000";
    record({"hang"});
    Program first(cairn_command(command({"game"})), environment_);
    wait_until_given(1);
    const Finished second = run({"--if-needed"});
    EXPECT_EQ(second.exit_code, 0);
    EXPECT_EQ(second.standard_output + second.standard_error, "");
    EXPECT_EQ(given_in_all(), 1);
    ::kill(first.pid(), SIGTERM);
    EXPECT_EQ(first.wait(), 128 + SIGTERM);
}

TEST_F(WarmTest, StoppedByASignalItSaysSoLeavesNoPlayerAndTheNextOneGoesOn) {
    constexpr int kPrograms = 300;
    record(many("slow", kPrograms));
    int made = 0;
    for (const int number : {SIGINT, SIGTERM}) {
        Program program(cairn_command(command({"game", "--jobs", "2"})), environment_);
        wait_until_given(made + 5);
        EXPECT_TRUE(has_players());
        ::kill(program.pid(), number);
        EXPECT_EQ(program.wait(), 128 + number);
        EXPECT_FALSE(has_players());
        made = given_in_all();
    }
    const Json last = result();
    EXPECT_GE(last["known"], made - 4) << "two players were stopped twice, at one program each";
    EXPECT_EQ(last["done"], kPrograms);
    EXPECT_LE(given_in_all(), kPrograms + 4);
}

TEST_F(WarmTest, KilledAtAnyTimeItsPlayersDieAndTheNextOneGoesOn) {
    // A player that is killed has not written what it made: it counts when it has.
    environment_["CAIRN_WARM_BATCH_MS"] = "50";
    record(many("slow", 50));
    std::mt19937 random(1);
    int kills = 0;
    for (bool is_done = false; !is_done; ++kills) {
        ASSERT_LT(kills, 200);
        Program program(cairn_command(command({"game"})), environment_);
        // Ever later, so that something is made however slow the machine is.
        const auto latest_ms = static_cast<unsigned>(300 + 10 * kills);
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % latest_ms));
        ::kill(program.pid(), SIGKILL);
        (void)program.wait();
        EXPECT_TRUE(players_end_soon());
        is_done = given().size() == 50;
    }
    EXPECT_EQ(result()["done"], 50);
    EXPECT_LE(given_in_all(), 50 + 8 * kills);
}

TEST_F(WarmTest, LinesOfProgressGrowToTheEnd) {
    record(many("slow", 60));
    const Finished done = run({"--json-progress"});
    std::size_t before = 0, count = 0;
    bool is_finished = false;
    std::istringstream lines(done.standard_output);
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_FALSE(is_finished);
        const Json json = Json::parse(line);
        EXPECT_EQ(json["application"], "game");
        EXPECT_EQ(json["total"], 60);
        EXPECT_GE(json["done"], before);
        before = json["done"];
        is_finished = json["finished"];
    }
    EXPECT_TRUE(is_finished);
    EXPECT_EQ(before, 60u);
    EXPECT_GE(count, 3u);
}

TEST_F(WarmTest, WithoutRecipesAllIsNothingAndANameIsAMistake) {
    EXPECT_EQ(cairn(command({"--all"}), environment_).exit_code, 0);
    const Finished nothing = cairn(command({"--all", "--json-progress"}), environment_);
    EXPECT_EQ(Json::parse(nothing.standard_output)["finished"], true);
    record(many("good", 2));
    const Finished wrong = cairn(command({"gane"}), environment_);
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_THAT(wrong.standard_error, HasSubstr("cairn run --record"));
    EXPECT_THAT(wrong.standard_error, HasSubstr("game"));
    EXPECT_EQ(cairn(command({}), environment_).exit_code, 2);
    EXPECT_EQ(cairn(command({"--all"}), environment_).exit_code, 0);
    EXPECT_EQ(given_in_all(), 2);
}

TEST_F(WarmTest, RecipesOfPacksAreMadeInstalledOrNot) {
    const std::string recorded = folder_ / "recorded", pack = folder_ / "a.pack";
    record(many("good", 5), recorded);
    ASSERT_EQ(
        cairn({"pack", "create", pack, "--all", "--only-recipes", "--dir", recorded}, environment_)
            .exit_code,
        0);
    const Finished done = cairn(command({pack}), environment_);
    EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    EXPECT_EQ(given_in_all(), 5);
    ASSERT_EQ(
        cairn({"pack", "install", "--unsigned", pack, "--dir", root_}, environment_).exit_code, 0);
    EXPECT_EQ(result()["known"], 5);
    EXPECT_EQ(result({"--again"})["made"], 5);
}

TEST_F(WarmTest, APackThatIsNotUsedIsSaid) {
    using std::filesystem::permissions, std::filesystem::perms;
    const std::string recorded = folder_ / "recorded", folder = folder_ / "packs";
    record({"good"}, recorded);
    std::filesystem::create_directory(folder);
    const std::string pack = folder + "/a.pack";
    ASSERT_EQ(
        cairn({"pack", "create", pack, "--all", "--only-recipes", "--dir", recorded}, environment_)
            .exit_code,
        0);
    const auto expect_refused = [&](const Words &options, const char *why) {
        const Finished done = cairn(command(options), environment_);
        EXPECT_EQ(done.exit_code, 1);
        EXPECT_THAT(done.standard_error, HasSubstr(why));
        EXPECT_EQ(given_in_all(), 0);
        return done.standard_output;
    };
    constexpr const char *kWhy = "belongs to another user, or others may write it";
    permissions(folder, perms(0777));
    EXPECT_EQ(expect_refused({pack}, kWhy), "");
    const std::string line = expect_refused({pack, "--json-progress"}, kWhy);
    EXPECT_THAT(Json::parse(line)["problems"].dump(), HasSubstr(kWhy));
    permissions(folder, perms(0700));
    permissions(pack, perms(0666));
    EXPECT_EQ(expect_refused({pack}, kWhy), "");
    permissions(pack, perms(0600));
    // The same where it is installed.
    ASSERT_EQ(
        cairn({"pack", "install", "--unsigned", pack, "--dir", root_}, environment_).exit_code, 0);
    const std::string installed = std::string(root_) + "/.packs/gl-game";
    permissions(installed, perms(0777));
    expect_refused({"game"}, kWhy);
    expect_refused({"--all"}, kWhy);
    EXPECT_EQ(cairn(command({"--all", "--if-needed"}), environment_).exit_code, 0);
    permissions(installed, perms(0700));
    EXPECT_EQ(cairn(command({"game"}), environment_).exit_code, 0);
    EXPECT_EQ(given_in_all(), 1);
}

TEST_F(WarmTest, ASourceThatIsMissingCostsItsPrograms) {
    record(many("good", 3));
    cairn_cache *cache = open_recipes(root_);
    recipe::Program program;
    program.stages.push_back({0x8B31, recipe::hash_of(as_bytes("nowhere"))});
    const std::string encoded = recipe::encode(program);
    put(cache, recipe::key_of_program(recipe::hash_of(as_bytes(encoded))), encoded);
    // Bytes that do not fit their keys, whole and not.
    put(cache, recipe::key_of_program(recipe::hash_of(as_bytes("another"))), encoded);
    put(cache, recipe::key_of_program(recipe::hash_of(as_bytes("torn"))), encoded.substr(0, 9));
    cairn_close(cache);
    const Json done = result();
    EXPECT_EQ(done["made"], 3);
    EXPECT_EQ(done["damaged"], 3);
    EXPECT_EQ(done["total"], 6);
}

TEST_F(WarmTest, DamagedBytesCostTheProgramsThatTheyHit) {
    Words texts;
    for (const std::string &text : many("good", 60)) texts.push_back(text + std::string(2000, 'x'));
    record(texts);
    cairn_cache *cache = open_recipes(root_);
    const fs::path folder = fs::path(root_) / cairn_program_cache_identifier(cache);
    cairn_close(cache);
    int files = 0;
    for (const auto &entry : fs::directory_iterator(folder / "format-2")) {
        if (entry.path().extension() != ".val") continue;
        ++files;
        const std::string bytes = read_file(entry.path());
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        for (std::size_t at = 30'000; at + 64 < bytes.size() && at < 140'000; at += 20'000) {
            file.seekp(static_cast<std::streamoff>(at)) << std::string(64, '!');
        }
    }
    ASSERT_GT(files, 0);
    const Json done = result();
    EXPECT_GT(done["damaged"], 0);
    EXPECT_GE(done["made"], 45);
    EXPECT_EQ(done["made"].get<int>() + done["damaged"].get<int>(), done["total"]);
}

TEST_F(WarmTest, ForgedAndOtherPacksDoNoHarm) {
    cairn_cache *cache = open_recipes(root_);
    testing::PackedPart forged;
    forged.identifier = cairn_program_cache_identifier(cache);
    cairn_close(cache);
    forged.version = recipe::kVersion;
    forged.generation =
        std::string("Cairn generation\napplication: gl-game\nbuild: \n\n") + recipe::kIdentity;
    recipe::Program program;
    const std::string encoded = recipe::encode(program);
    forged.entries = {{recipe::key_of_program(recipe::hash_of(as_bytes("another"))), encoded},
                      {recipe::key_of_program(recipe::hash_of(as_bytes("a third"))), "p"},
                      {recipe::key_of_application(), std::string(500, '\xff')}};
    const std::string pack = folder_ / "forged.pack", other = folder_ / "other.pack";
    testing::write_pack(pack, {forged});
    record(many("good", 3));
    const Finished done = cairn(command({pack, "--json-progress"}), environment_);
    EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    EXPECT_THAT(done.standard_output, HasSubstr("\"made\":3"));
    EXPECT_THAT(done.standard_output, HasSubstr("\"damaged\":2"));
    testing::write_pack(other, {testing::PackedPart()});
    const Finished none = cairn(command({other}), environment_);
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.standard_error, HasSubstr("has no recipes"));
}

TEST_F(WarmTest, HostileNamesOfTheApplicationDoNoHarm) {
    cairn_cache *cache = open_recipes(root_);
    put(cache, recipe::key_of_application(),
        recipe::encode(recipe::Application{"/bin/sh;touch x\nLD_PRELOAD=/evil",
                                           "$(id)`id`\n" + std::string(3000, 'y')}));
    cairn_close(cache);
    record(many("good", 3));
    EXPECT_EQ(result()["made"], 3);
}

TEST_F(WarmTest, TenThousandRecipesTakeLittleTimeAndMemory) {
    record(many("good", 10'000));
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(result()["made"], 10'000);
    EXPECT_EQ(result()["known"], 10'000);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what is freed
    rusage usage = {};
    ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, 200 * 1024);
#endif
}

}  // namespace
}  // namespace cairn::cli_test
