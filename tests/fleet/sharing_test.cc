// SPDX-License-Identifier: MIT
// What machines share: each entry once, to those that it is for, from those that are trusted.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "fleet_fixture.h"
#include "support/eventually.h"

namespace cairn::fleet_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char *kDriver = "driver 1";

void copy_folder(const fs::path &from, const fs::path &to) {
    fs::create_directories(to.parent_path());
    // Modes count.
    ASSERT_EQ(std::system(("cp -a " + from.string() + " " + to.string()).c_str()), 0);
}

TEST_F(FleetTest, WhatOneMachineHasAnotherFindsAfterAPull) {
    first_.put_programs(kDriver, 0, 100);
    EXPECT_THAT(push(first_), HasSubstr("pushed 100 entries in 1 pack"));
    second_.start(kDriver);
    EXPECT_THAT(pull(second_), HasSubstr("pulled 100 entries in 1 pack"));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 101), 100);
}

TEST_F(FleetTest, CachesWithoutADriverAreShared) {
    Machine::put(first_.open_plain("engine"), "teapot", "I am a teapot.");
    push(first_, "engine");
    pull(second_, "engine");
    EXPECT_EQ(Machine::get(second_.open_plain("engine"), "teapot"), "I am a teapot.");
    EXPECT_EQ(Machine::get(second_.open_plain("another"), "teapot"), "(miss)");
}

TEST_F(FleetTest, OnlyWhatIsNewIsPushed) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    EXPECT_THAT(push(first_), HasSubstr("nothing new"));
    EXPECT_EQ(objects("packs").size(), 1u);
    first_.put_programs(kDriver, 10, 13);
    EXPECT_THAT(push(first_), HasSubstr("pushed 3 entries in 1 pack"));
    EXPECT_EQ(objects("packs").size(), 2u);
    EXPECT_EQ(objects("manifests").size(), 1u);
}

TEST_F(FleetTest, WhatWasPulledIsNotPushedAgain) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
    second_.put_programs(kDriver, 10, 12);
    second_.make_key("farm");
    EXPECT_THAT(second_.done({"push", "--remote", url_, "--sign", "farm", "game"}),
                HasSubstr("pushed 2 entries"));
}

TEST_F(FleetTest, OnlyWhatIsLackingIsPulled) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.put_programs(kDriver, 0, 10);
    EXPECT_THAT(pull(second_), HasSubstr("all of 10 entries there is here"));
    first_.put_programs(kDriver, 10, 14);
    push(first_);
    EXPECT_THAT(pull(second_), HasSubstr("pulled 4 entries in 1 pack"));
    EXPECT_THAT(pull(second_), HasSubstr("all of 14 entries there is here"));
    EXPECT_EQ(second_.programs_found(kDriver, 0, 14), 14);
}

TEST_F(FleetTest, WhatWasPulledBeforeStaysWhenMoreComes) {
    second_.start(kDriver);
    for (int i = 0; i < 3; ++i) {
        first_.put_programs(kDriver, i * 10, i * 10 + 10);
        push(first_);
        pull(second_);
        EXPECT_EQ(second_.programs_found(kDriver, 0, 30), i * 10 + 10);
    }
}

TEST_F(FleetTest, WhatIsOfAnotherDriverIsNotPulled) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.start("driver 2");
    EXPECT_THAT(pull(second_), HasSubstr("there is something for 1 driver, and nothing for this "
                                         "machine's"));
    EXPECT_FALSE(fs::exists(second_.root() + "/.packs"));
    EXPECT_EQ(second_.programs_found("driver 2", 0, 10), 0);
}

TEST_F(FleetTest, AnImageOfADiskGetsWhatIsThereForAllDrivers) {
    first_.put_programs(kDriver, 0, 10);
    first_.put_programs("driver 2", 0, 5);
    push(first_);
    Words words = pull_words();
    words.emplace_back("--all-drivers");
    second_.done(words);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
    EXPECT_EQ(second_.programs_found("driver 2", 0, 10), 5);
}

TEST_F(FleetTest, ManyMachinesPublishWithoutOverwritingOneAnother) {
    std::vector<std::unique_ptr<Machine>> machines;
    for (int i = 0; i < 5; ++i) {
        machines.push_back(std::make_unique<Machine>());
        const std::string name = "ci" + std::to_string(i);
        machines.back()->make_key(name);
        second_.trust(machines.back()->key(name));
        machines.back()->put_programs(kDriver, i * 10, i * 10 + 12);
        machines.back()->done({"push", "--remote", url_, "--sign", name, "game"});
    }
    EXPECT_EQ(objects("manifests").size(), 5u);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 52), 52);
}

TEST_F(FleetTest, PushesThatAreAMachinesFirstAreOfOneMachine) {
    for (int round = 0; round < 5; ++round) {
        fs::remove_all(storage_);
        fs::create_directories(storage_);
        fs::remove_all(first_.root());
        first_.put_programs(kDriver, 0, 3);
        std::vector<std::unique_ptr<cli_test::Program>> programs;
        for (int i = 0; i < 4; ++i) {
            programs.push_back(std::make_unique<cli_test::Program>(
                cli_test::cairn_command(push_words()), first_.environment()));
        }
        for (const auto &program : programs) EXPECT_EQ(program->wait(), 0);
        push(first_);
        EXPECT_EQ(objects("manifests").size(), 1u) << round;
    }
}

TEST_F(FleetTest, AMachineThatWasClonedLosesNothing) {
    first_.put_programs(kDriver, 0, 3);
    push(first_);
    const Machine clone;
    copy_folder(first_.root(), clone.root());
    copy_folder(first_.configuration(), clone.configuration());
    clone.put_programs(kDriver, 3, 6);
    push(clone);
    first_.put_programs(kDriver, 6, 9);
    push(first_);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 9), 9);
}

TEST_F(FleetTest, ManyPushesAreMergedIntoFewPacks) {
    second_.start(kDriver);
    for (int i = 0; i < 20; ++i) {
        first_.put_programs(kDriver, i * 3, i * 3 + 3);
        push(first_);
    }
    const Json mine = status(second_)["applications"][0]["for_this_machine"][0];
    EXPECT_LE(mine["packs"], 5);
    EXPECT_EQ(mine["entries"], 60);
    EXPECT_EQ(mine["machines"], 1);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 60), 60);
}

// Both compiled the same before either had pushed.
TEST_F(FleetTest, WhatTwoHavePublishedIsTakenBackByOne) {
    const Machine other;
    copy_folder(first_.configuration(), other.configuration());
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    // Its push begins before the first one's is there.
    const std::string aside = folder_ / "aside";
    fs::rename(storage_, aside);
    fs::create_directories(storage_);
    other.put_programs(kDriver, 0, 10);
    push(other);
    fs::copy(aside, storage_, fs::copy_options::recursive);
    EXPECT_EQ(objects("manifests").size(), 2u);
    push(first_);
    push(other);
    EXPECT_EQ(objects("manifests").size(), 1u);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

TEST_F(FleetTest, AStartHasTheUseOfWhatIsPulledMeanwhile) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    fs::create_directories(second_.configuration());
    ::setenv("XDG_CONFIG_HOME", fs::path(second_.configuration()).parent_path().c_str(), 1);
    const auto get = [](cairn_cache *cache, int i) {
        cairn_blob *blob = nullptr;
        const std::string key = Machine::key_of(i);
        const int result = cairn_get(cache, key.data(), key.size(), &blob);
        cairn_blob_free(blob);
        return result;
    };
    cairn_cache *not_shared = second_.open_programs(kDriver);
    std::ofstream(second_.configuration() + "/config") << "[application game]\nshare = 1\n";
    cairn_cache *shared = second_.open_programs(kDriver);
    EXPECT_EQ(get(shared, 0), CAIRN_MISS);
    const std::string removed = Machine::key_of(7);
    EXPECT_EQ(cairn_remove(shared, removed.data(), removed.size()), CAIRN_MISS);
    pull(second_);
    EXPECT_TRUE(cairn_test::eventually([&] { return get(shared, 1) == CAIRN_OK; }));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(get(shared, i), i == 7 ? CAIRN_MISS : CAIRN_OK) << i;
    EXPECT_EQ(get(shared, 10), CAIRN_MISS);
    // Of what is removed nothing comes back.
    const std::string key = Machine::key_of(3);
    EXPECT_EQ(cairn_remove(shared, key.data(), key.size()), CAIRN_OK);
    EXPECT_EQ(get(shared, 3), CAIRN_MISS);
    EXPECT_EQ(get(not_shared, 0), CAIRN_MISS);
    cairn_close(shared);
    cairn_close(not_shared);
    ::unsetenv("XDG_CONFIG_HOME");
}

TEST_F(FleetTest, WhatIsPulledCountsWhateverTheUmaskIs) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.start(kDriver);
    const mode_t mask = ::umask(0);
    pull(second_);
    ::umask(mask);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

TEST_F(FleetTest, WhatIsPushedCanBeReadWhateverTheUmaskIs) {
    fs::create_directories(storage_);
    fs::permissions(storage_, fs::perms(0775));
    first_.put_programs(kDriver, 0, 3);
    const mode_t mask = ::umask(077);
    push(first_);
    ::umask(mask);
    for (const auto &each : fs::recursive_directory_iterator(storage_)) {
        const fs::perms mode = fs::status(each.path()).permissions();
        EXPECT_EQ(mode, fs::perms(each.is_directory() ? 0775 : 0664)) << each.path();
    }
}

TEST_F(FleetTest, APackThatIsLostIsPublishedAgain) {
    first_.put_programs(kDriver, 0, 3);
    push(first_);
    fs::remove(objects("packs").front());
    first_.put_programs(kDriver, 3, 6);
    push(first_);
    push(first_);
    second_.start(kDriver);
    pull(second_);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 6), 6);
}

TEST_F(FleetTest, WhereThereIsNoRoomNothingIsFetchedAgainAndAgain) {
    first_.put_programs(kDriver, 0, 200);
    push(first_);
    second_.start(kDriver);
    Words words = pull_words();
    words.insert(words.end(), {"--max-bytes", "12K"});
    (void)second_.cairn(words);
    const Finished again = second_.cairn(words);
    EXPECT_THAT(again.standard_output, Not(HasSubstr("pulled")));
    EXPECT_THAT(again.standard_error, HasSubstr("no room"));
}

TEST_F(FleetTest, ProjectsAreKeptApartByNamespaces) {
    first_.put_programs(kDriver, 0, 10);
    Words words = push_words();
    words.insert(words.end(), {"--namespace", "one"});
    first_.done(words);
    second_.start(kDriver);
    EXPECT_THAT(pull(second_), HasSubstr("nothing of this"));
    words = pull_words();
    words.insert(words.end(), {"--namespace", "one"});
    second_.done(words);
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
}

TEST_F(FleetTest, RemotesAreReadFromTheConfiguration) {
    const auto configure = [&](const Machine &machine, const std::string &use) {
        fs::create_directories(machine.configuration());
        std::ofstream(machine.configuration() + "/remotes")
            << "# ours\n[studio]\nurl = " << url_ << "\nuse = " << use << "\nsign = ci\n";
    };
    configure(first_, "read write");
    configure(second_, "read");
    first_.put_programs(kDriver, 0, 10);
    EXPECT_THAT(first_.done({"push", "game"}), HasSubstr("to studio"));
    second_.start(kDriver);
    second_.done({"pull", "--all"});
    EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10);
    const Finished refused = second_.cairn({"push", "game"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.standard_error, HasSubstr("use = write"));
}

TEST_F(FleetTest, AConfigurationThatOthersMayWriteDoesNotCount) {
    fs::create_directories(second_.configuration());
    const std::string file = second_.configuration() + "/remotes";
    std::ofstream(file) << "[studio]\nurl = " << url_ << "\n";
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    const Finished refused = second_.cairn({"pull", "game"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("others may write it"));
}

TEST_F(FleetTest, LinesOfTheConfigurationThatCannotBeAreNamed) {
    fs::create_directories(second_.configuration());
    for (const auto &[text, problem] : std::vector<std::pair<std::string, std::string>>{
             {"url = x\n", "line 1: write NAME = VALUE below [NAME]"},
             {"[a]\nurl = file:///x\n\nuse = readwrite\n", "line 4: write `read`"},
             {"[a]\nlimit = much\n", "line 2: write a size"},
             {"[a]\nurl = file:///x\n[a]\n", "line 3: there is another remote"},
             {"[a]\npath = x\n", "line 2: there is no such setting"},
             {"[a\n", "line 1: write [NAME]"},
             {"[a]\n", "[a] has no url"}}) {
        std::ofstream(second_.configuration() + "/remotes") << text;
        const Finished refused = second_.cairn({"pull", "game"});
        EXPECT_EQ(refused.exit_code, 1) << text;
        EXPECT_THAT(refused.standard_error, HasSubstr(problem)) << text;
    }
}

TEST_F(FleetTest, ARemoteThatIsOfNoUseStopsNoOther) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    second_.start(kDriver);
    fs::create_directories(second_.configuration());
    for (const std::string &broken :
         {"url = " + url_ + "\ntrust = nobody\n", std::string("url = ftp://x/y\n"),
          "url = file://" + folder_ / "absent\n"}) {
        std::ofstream(second_.configuration() + "/remotes")
            << "[broken]\n"
            << broken << "[studio]\nurl = " << url_ << "\n";
        const Finished pulled = second_.cairn({"pull", "game"});
        EXPECT_EQ(pulled.exit_code, 1) << broken;
        EXPECT_THAT(pulled.standard_error, HasSubstr("broken")) << broken;
        EXPECT_EQ(second_.programs_found(kDriver, 0, 10), 10) << broken;
        const Finished said = second_.cairn({"remote", "status", "--json"});
        EXPECT_EQ(said.exit_code, 1);
        const Json remotes = Json::parse(said.standard_output)["remotes"];
        ASSERT_EQ(remotes.size(), 2u) << broken;
        EXPECT_EQ(std::ranges::count_if(remotes,
                                        [](const Json &each) { return each["reachable"] == true; }),
                  1);
        EXPECT_EQ(second_.cairn({"remote", "gc"}).exit_code, 1) << broken;
        fs::remove_all(second_.root() + "/.packs");
    }
}

TEST_F(FleetTest, WhereNoRemoteIsOfUseEachIsNamed) {
    fs::create_directories(second_.configuration());
    std::ofstream(second_.configuration() + "/remotes")
        << "[one]\nurl = ftp://x/y\n[two]\nurl = fil:///x\n";
    const Finished pulled = second_.cairn({"pull", "game"});
    EXPECT_EQ(pulled.exit_code, 2);
    EXPECT_THAT(pulled.standard_error, HasSubstr("one: "));
    EXPECT_THAT(pulled.standard_error, HasSubstr("two: "));
    const Finished said = second_.cairn({"remote", "status", "--json"});
    EXPECT_EQ(said.exit_code, 1);
    const Json remotes = Json::parse(said.standard_output)["remotes"];
    ASSERT_EQ(remotes.size(), 2u);
    EXPECT_EQ(remotes[0]["remote"], "one");
    EXPECT_EQ(remotes[1]["url"], "fil:///x");
    EXPECT_EQ(remotes[1]["reachable"], false);
}

TEST_F(FleetTest, AFolderThatIsNotThereIsNotMade) {
    first_.put_programs(kDriver, 0, 10);
    fs::remove_all(storage_);
    const Finished pushed = first_.cairn(push_words());
    EXPECT_EQ(pushed.exit_code, 1);
    EXPECT_THAT(pushed.standard_error, HasSubstr("there is no such folder"));
    EXPECT_EQ(second_.cairn(pull_words()).exit_code, 1);
    EXPECT_FALSE(fs::exists(storage_));
}

TEST_F(FleetTest, AnApplicationThatIsNotRecordedIsNotPushed) {
    first_.put_programs(kDriver, 0, 10);
    std::ofstream(first_.configuration() + "/config") << "[application game]\nrecord = 0\n";
    const Finished refused = first_.cairn(push_words());
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("record = 0"));
    EXPECT_TRUE(objects("packs").empty());
}

TEST_F(FleetTest, StatusSaysWhatIsThereForThisMachine) {
    first_.put_programs(kDriver, 0, 10);
    first_.put_programs("driver 2", 0, 3);
    push(first_);
    second_.put_programs(kDriver, 0, 4);
    const Json remote = status(second_);
    EXPECT_EQ(remote["reachable"], true);
    const Json application = remote["applications"][0];
    EXPECT_EQ(application["application"], "game");
    EXPECT_EQ(application["drivers"], 2);
    ASSERT_EQ(application["for_this_machine"].size(), 1u);
    const Json mine = application["for_this_machine"][0];
    EXPECT_EQ(mine["entries"], 10);
    EXPECT_EQ(mine["entries_not_here"], 6);
    EXPECT_EQ(mine["machines"], 1);
    EXPECT_THAT(second_.done({"remote", "status", "--remote", url_}),
                HasSubstr("10 entries of 1 machine, in 1 pack"));
}

TEST_F(FleetTest, StatusSaysWhatRemotesHaveDoneSoFar) {
    first_.put_programs(kDriver, 0, 10);
    push(first_);
    push(first_);
    const Json pushed = status(first_)["so_far"];
    EXPECT_EQ(pushed["entries_pushed"], 10);
    EXPECT_EQ(pushed["packs_pushed"], 1);
    EXPECT_EQ(pushed["commands"], 2);
    EXPECT_GT(pushed["bytes_out"], 500);
    second_.start(kDriver);
    pull(second_);
    const Json pulled = status(second_)["so_far"];
    EXPECT_EQ(pulled["entries_pulled"], 10);
    EXPECT_EQ(pulled["commands_failed"], 0);
    EXPECT_THAT(second_.done({"remote", "status", "--remote", url_}),
                HasSubstr("so far: 10 entries pulled and 0 pushed"));
    // Nonsense counts as nothing.
    std::ofstream(second_.root() + "/.fleet/counts") << "[1, {}";
    EXPECT_EQ(status(second_)["so_far"]["commands"], 0);
}

TEST_F(FleetTest, WrongUsageIsSaid) {
    for (const Words &words :
         std::vector<Words>{{"push", "game"},
                            {"push", "--remote", url_, "game"},
                            {"pull", "--remote", url_},
                            {"pull", "--remote", "studio", "game"},
                            {"pull", "--remote", "ftp://x/y", "game"},
                            {"pull", "--remote", url_, "--max-bytes", "x", "game"},
                            {"pull", "--remote", url_, "--namespace", "../x", "game"},
                            {"remote"},
                            {"remote", "gc", "--remote", url_, "--max-age", "0"}}) {
        const Finished refused = first_.cairn(words);
        EXPECT_EQ(refused.exit_code, 2) << ::testing::PrintToString(words);
        EXPECT_THAT(refused.standard_error, HasSubstr("cairn: "))
            << ::testing::PrintToString(words);
    }
    const Finished unknown = first_.cairn(push_words("gaem"));
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.standard_error, HasSubstr("no caches of `gaem`"));
}

}  // namespace
}  // namespace cairn::fleet_test
