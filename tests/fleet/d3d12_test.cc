// SPDX-License-Identifier: MIT
// Sessions of D3D12 are shared as other caches are: FindValue finds what another machine has stored.
#include <gmock/gmock.h>

#include "backends.h"
#include "common/application.h"
#include "d3d12/stage.h"
#include "fleet_fixture.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::Backend;
using d3d12_test::disk_desc;
using d3d12_test::find;
using d3d12_test::look;
using d3d12_test::Session;
using d3d12_test::Stage;
using d3d12_test::store;
using ::testing::HasSubstr;

const std::string kName = "d3d12-" + application_name() + "-00000001-1234-5678-0102-030405060708";

// The machines' roots are those of the stages.
class SessionsTest : public FleetTest {
  protected:
    SessionsTest() {
        first_.set("CAIRN_DIR", first_stage_.root());
        second_.set("CAIRN_DIR", second_stage_.root());
    }
    static d3d12_test::Desc desc(std::uint64_t version = 3) {
        auto desc = disk_desc();
        desc.Version = version;
        return desc;
    }
    static void put(Stage &stage, const std::string &key, const std::string &value) {
        Session session;
        ASSERT_EQ(stage.create(desc(), session), 0);
        ASSERT_EQ(store(session, key, value), 0);
    }

    Stage first_stage_, second_stage_;
};

// Over each storage whose server is there.
class SessionsStorageTest : public SessionsTest, public ::testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        const std::string why = Backend::why_missing(GetParam());
        if (!why.empty()) GTEST_SKIP() << why;
        cairn_test::prepare_environment();
        static int count = 0;
        url_ = Backend::of(GetParam()).url("sessions" + std::to_string(++count));
    }
};

INSTANTIATE_TEST_SUITE_P(Each, SessionsStorageTest, ::testing::ValuesIn(cairn_test::kAllBackends),
                         [](const auto &each) { return each.param; });

TEST_P(SessionsStorageTest, FindValueFindsWhatAnotherMachineHasStored) {
    put(first_stage_, "key", "of the first machine");
    put(first_stage_, "other", std::string(100'000, 'x'));
    EXPECT_THAT(push(first_, kName), HasSubstr("pushed 2 entries in 1 pack"));
    EXPECT_EQ(expect_whole(url_).packs, 1u);
    EXPECT_THAT(pull(second_, kName), HasSubstr("pulled 2 entries in 1 pack"));
    Session session;
    ASSERT_EQ(second_stage_.create(desc(), session), 0);
    EXPECT_EQ(find(session, "key"), "of the first machine");
    EXPECT_EQ(find(session, "other"), std::string(100'000, 'x'));
    EXPECT_EQ(look(session, "third"), d3d12_test::kNotFound);
    EXPECT_EQ(store(session, "key", std::string("newer")), d3d12_test::kAlreadyExists);
}

TEST_P(SessionsStorageTest, WhatTheSecondMachineAddsComesBack) {
    put(first_stage_, "key", "of the first machine");
    push(first_, kName);
    pull(second_, kName);
    put(second_stage_, "third", "of the second machine");
    second_.make_key("farm");
    first_.trust(second_.key("farm"));
    EXPECT_THAT(second_.done({"push", "--remote", url_, "--sign", "farm", kName}),
                HasSubstr("pushed 1 entry in 1 pack"));
    EXPECT_THAT(pull(first_, kName), HasSubstr("pulled 1 entry in 1 pack"));
    Session session;
    ASSERT_EQ(first_stage_.create(desc(), session), 0);
    EXPECT_EQ(find(session, "third"), "of the second machine");
    EXPECT_EQ(find(session, "key"), "of the first machine");
}

TEST_F(SessionsTest, AnotherVersionDoesNotSeeThem) {
    put(first_stage_, "key", "of version 3");
    push(first_, kName);
    pull(second_, kName);
    Session session;
    ASSERT_EQ(second_stage_.create(desc(4), session), 0);
    EXPECT_EQ(look(session, "key"), d3d12_test::kNotFound);
}

// Sessions, program caches and caches of cairn.h, at one remote.
TEST_F(SessionsTest, AllThatAMachineHasGoesAtOnce) {
    first_.set("CAIRN_DIR", first_.root());
    second_.set("CAIRN_DIR", second_.root());
    first_.put_programs("driver 1", 0, 5);
    Machine::put(first_.open_plain("engine"), "teapot", "I am a teapot.");
    first_.done({"push", "--remote", url_, "--sign", "ci", "--all"});
    first_.set("CAIRN_DIR", first_stage_.root());
    put(first_stage_, "key", "of a session");
    first_.done({"push", "--remote", url_, "--sign", "ci", "--all"});
    second_.start("driver 1");
    second_.done({"pull", "--remote", url_, "--all"});
    EXPECT_EQ(second_.programs_found("driver 1", 0, 5), 5);
    EXPECT_EQ(Machine::get(second_.open_plain("engine"), "teapot"), "I am a teapot.");
    second_.set("CAIRN_DIR", second_stage_.root());
    second_.done({"pull", "--remote", url_, "--all"});
    Session session;
    ASSERT_EQ(second_stage_.create(desc(), session), 0);
    EXPECT_EQ(find(session, "key"), "of a session");
}

}  // namespace
}  // namespace cairn::fleet_test
