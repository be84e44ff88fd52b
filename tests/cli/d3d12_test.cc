// SPDX-License-Identifier: MIT
// Caches of D3D12 sessions, as the command shows, clears and controls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "common/application.h"
#include "d3d12/stage.h"

namespace cairn::cli_test {
namespace {

using d3d12_test::disk_desc;
using d3d12_test::Session;
using d3d12_test::Stage;
using testing::HasSubstr;
using testing::Not;

const std::string kName = "d3d12-" + application_name() + "-00000001-1234-5678-0102-030405060708";

Environment environment_of(const Stage &stage) {
    return {{"CAIRN_DIR", stage.root()}, {"CAIRN_DEVELOPER_MODE", "1"}};
}

TEST(Command, ListsAndClearsCachesOfSessions) {
    Stage stage;
    {
        Session session;
        ASSERT_EQ(stage.create(disk_desc(), session), 0);
        ASSERT_EQ(store(session, "key", std::string("value")), 0);
    }
    const Finished listed = cairn({"ls"}, environment_of(stage));
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_THAT(listed.standard_output, HasSubstr(kName));
    EXPECT_EQ(cairn({"clear", kName}, environment_of(stage)).exit_code, 0);
    EXPECT_EQ(stage.entries_on_disk(), 0u);
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), 0);
    EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
}

// What a stage has stored, as a pack under the sessions of another one.
class PackedSessions {
  public:
    PackedSessions() {
        Stage made;
        {
            Session session;
            EXPECT_EQ(made.create(desc(), session), 0);
            EXPECT_EQ(store(session, "key", std::string("of the pack")), 0);
            EXPECT_EQ(store(session, "other", std::string("also")), 0);
        }
        const std::string pack = folder_ / "a.pack";
        run({"pack", "create", pack, "--all"}, made);
        run({"pack", "install", "--unsigned", pack}, stage);
    }
    static d3d12_test::Desc desc(uint64_t version = 3) {
        auto desc = disk_desc();
        desc.Version = version;
        return desc;
    }
    static void run(const std::vector<std::string> &arguments, const Stage &on) {
        const Finished done = cairn(arguments, environment_of(on));
        EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    }

    Stage stage;

  private:
    const Folder folder_;
};

TEST(PackedSessions, TheirEntriesAreContents) {
    PackedSessions packed;
    Session session;
    ASSERT_EQ(packed.stage.create(PackedSessions::desc(), session), 0);
    EXPECT_EQ(find(session, "key"), "of the pack");
    EXPECT_EQ(store(session, "key", std::string("newer")), d3d12_test::kAlreadyExists);
    EXPECT_EQ(store(session, "other", std::string("newer")), d3d12_test::kAlreadyExists);
    EXPECT_EQ(store(session, "third", std::string("new")), 0);
    EXPECT_EQ(find(session, "key"), "of the pack");
}

TEST(PackedSessions, AnotherVersionDoesNotSeeThem) {
    PackedSessions packed;
    Session session;
    ASSERT_EQ(packed.stage.create(PackedSessions::desc(4), session), 0);
    EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
    EXPECT_EQ(store(session, "key", std::string("newer")), 0);
}

TEST(PackedSessions, AClearHidesThem) {
    PackedSessions packed;
    Session session;
    ASSERT_EQ(packed.stage.create(PackedSessions::desc(), session), 0);
    EXPECT_EQ(find(session, "key"), "of the pack");
    const Finished cleared = cairn({"control", "--kind", "application-managed", "--clear"},
                                   environment_of(packed.stage));
    EXPECT_EQ(cleared.exit_code, 0) << cleared.standard_error;
    EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
    EXPECT_EQ(store(session, "key", std::string("newer")), 0);
    Session again;
    ASSERT_EQ(packed.stage.create(PackedSessions::desc(), again), 0);
    EXPECT_EQ(find(again, "key"), "newer");
    EXPECT_EQ(look(again, "other"), d3d12_test::kNotFound);
}

TEST(PackedSessions, DeletingOnDestroyHidesThem) {
    PackedSessions packed;
    {
        Session session;
        ASSERT_EQ(packed.stage.create(PackedSessions::desc(), session), 0);
        EXPECT_EQ(find(session, "key"), "of the pack");
        session->SetDeleteOnDestroy();
    }
    Session session;
    ASSERT_EQ(packed.stage.create(PackedSessions::desc(), session), 0);
    EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
}

// Cairn leaves an application's own files in its working directory alone.
TEST(Command, DoesNotTouchWorkingDirectories) {
    const Folder here;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(here.path());
    Stage stage;
    auto desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_USE_WORKING_DIR;
    {
        Session session;
        ASSERT_EQ(stage.create(desc, session), 0);
        ASSERT_EQ(store(session, "key", std::string("value")), 0);
    }
    EXPECT_THAT(cairn({"ls"}, environment_of(stage)).standard_output, Not(HasSubstr(kName)));
    (void)cairn({"clear", "--all"}, environment_of(stage));
    const Finished cleared =
        cairn({"control", "--kind", "application-managed", "--clear"}, environment_of(stage));
    EXPECT_EQ(cleared.exit_code, 0) << cleared.standard_error;
    Session session;
    ASSERT_EQ(stage.create(desc, session), 0);
    EXPECT_EQ(find(session, "key"), "value");
    std::filesystem::current_path(before);
}

TEST(Command, DisablesEnablesAndClearsSessionsOfOthers) {
    Stage stage;
    Session disk;
    Session memory;
    ASSERT_EQ(stage.create(disk_desc(), disk), 0);
    ASSERT_EQ(stage.create(d3d12_test::memory_desc(), memory), 0);
    for (const Session *session : {&disk, &memory}) {
        ASSERT_EQ(store(*session, "key", std::string("value")), 0);
    }
    const auto control = [&](const char *what) {
        const Finished done =
            cairn({"control", "--kind", "application-managed", what}, environment_of(stage));
        EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    };
    control("--disable");
    for (const Session *session : {&disk, &memory}) {
        EXPECT_EQ(look(*session, "key"), d3d12_test::kNotCurrentlyAvailable);
    }
    control("--enable");
    for (const Session *session : {&disk, &memory}) {
        EXPECT_EQ(look(*session, "key"), 0);
    }
    control("--clear");
    for (const Session *session : {&disk, &memory}) {
        EXPECT_EQ(look(*session, "key"), d3d12_test::kNotFound);
    }
}

nlohmann::json why(const Stage &stage) {
    const Finished said = cairn({"why", "--last", "--json"}, environment_of(stage));
    EXPECT_EQ(said.exit_code, 0) << said.standard_error;
    const auto json = nlohmann::json::parse(said.standard_output, nullptr, false);
    return json.is_discarded() ? nlohmann::json() : json["run"];
}

TEST(WhyOfSessions, WhatAPackHas) {
    PackedSessions packed;
    {
        Session session;
        ASSERT_EQ(packed.stage.create(PackedSessions::desc(), session), 0);
        EXPECT_EQ(find(session, "key"), "of the pack");
    }
    const auto run = why(packed.stage);
    EXPECT_EQ(run["application"], application_name());
    EXPECT_EQ(run["programs"], 1);
    EXPECT_EQ(run["outcomes"]["hit-pack"]["programs"], 1);
}

TEST(WhyOfSessions, AnotherDriverAndAnotherVersion) {
    Stage stage;
    auto desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    const auto use = [&] {
        Session session;
        ASSERT_EQ(stage.create(desc, session), 0);
        EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
        EXPECT_EQ(store(session, "key", std::string("value")), 0);
    };
    use();
    stage.set_adapter("test adapter", "2");
    use();
    auto miss = why(stage)["misses"][0];
    EXPECT_EQ(miss["outcome"], "other-driver");
    EXPECT_EQ(miss["why"], "driver from 1 to 2");
    EXPECT_THAT(miss["other_cache"], testing::StartsWith(kName));
    desc.Version = 7;
    use();
    miss = why(stage)["misses"][0];
    EXPECT_EQ(miss["outcome"], "other-context");
    EXPECT_EQ(miss["fields"], nlohmann::json({"the session's Version"}));
}

// What an adapter calls itself is one line of the cache's text, whatever is in it.
TEST(WhyOfSessions, NamesThatLookLikeOtherLines) {
    Stage stage;
    stage.set_adapter("one\napplication: victim\ndriver: 9", "1\r\n2");
    cairn_d3d12_options options = stage.options();
    options.application = "";  // all programs share the cache
    auto desc = disk_desc();
    desc.Flags = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
    {
        Session session;
        ASSERT_EQ(CAIRN_TEST_FUNCTION(create_session)(
                      nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession, session.receive()),
                  0);
        EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
    }
    const auto run = why(stage);
    EXPECT_EQ(run["application"], "d3d12-00000001-1234-5678-0102-030405060708");
    EXPECT_THAT(cairn({"ls"}, environment_of(stage)).standard_output, Not(HasSubstr("victim")));
}

TEST(Command, ShowsSessionsThatAreOpen) {
    Stage stage;
    Session session;
    ASSERT_EQ(stage.create(disk_desc(), session), 0);
    EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
    const Finished shown = cairn({"top", "--once"}, environment_of(stage));
    EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
    EXPECT_THAT(shown.standard_output, HasSubstr(application_name()));
    const Finished counted = cairn({"stats", "today"}, environment_of(stage));
    EXPECT_EQ(counted.exit_code, 0) << counted.standard_error;
}

}  // namespace
}  // namespace cairn::cli_test
