// SPDX-License-Identifier: MIT
#include "common/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ApplicationTest, ACacheIsNamedAfterTheProgram) {
    EXPECT_EQ(cache_application("glmark2", "/usr/bin/glmark2"), "egl-glmark2");
    EXPECT_EQ(cache_application("/opt/game/bin/game.x86_64", ""), "egl-game.x86_64");
    EXPECT_EQ(cache_application("C:\\Games\\Some Game\\game.exe", "/usr/bin/wine64"),
              "egl-game.exe");
    EXPECT_EQ(cache_application("Z:/Games\\dir/game.exe", ""), "egl-game.exe");
}

TEST(ApplicationTest, WhatMayNotBeInANameIsReplaced) {
    EXPECT_EQ(cache_application("../a game\n\"x\" \xC3\xBC", ""), "egl-a_game__x____");
    EXPECT_EQ(cache_application("..", ""), "egl-..");
    EXPECT_EQ(cache_application(std::string(500, 'x'), "").size(), 64u);
}

TEST(ApplicationTest, WhoHasNoNameGoesByItsFile) {
    EXPECT_EQ(cache_application("", "/usr/bin/program"), "egl-program");
    EXPECT_EQ(cache_application("ends/with/", "/usr/bin/program"), "egl-program");
    EXPECT_EQ(cache_application("", ""), "egl");
}

TEST(ApplicationTest, AnApplicationIsKnownByWhatFollowsTheLastSeparator) {
    const std::string wine = "/usr/bin/wine64-preloader";
    EXPECT_THAT(application_names("Z:\\games\\game.exe", wine), testing::Contains("game.exe"));
    EXPECT_THAT(application_names("/bin/Z:\\game.exe", wine),
                testing::IsSupersetOf({"game.exe", "Z:\\game.exe", "wine64-preloader"}));
    EXPECT_THAT(application_names("/usr/bin/one", "/usr/bin/one"),
                testing::UnorderedElementsAre("one", "/usr/bin/one"));
    EXPECT_THAT(application_names("", ""), testing::IsEmpty());
}

TEST(ApplicationTest, ThisProcessIsKnownByItsFile) {
    EXPECT_EQ(own_application(), cache_application(process_file(), ""));
}

}  // namespace
}  // namespace cairn
