// SPDX-License-Identifier: MIT
#include "common/permission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::StartsWith;

Configuration configured(const char *text) {
    return Configuration(text, "config", Log());
}

bool is_served(const Circumstances &own, const char *text = "") {
    const Permission permission = permission_for(own, configured(text));
    EXPECT_EQ(permission.reason.empty(), permission.is_served) << permission.reason;
    return permission.is_served;
}

constexpr const char *kOff = "[application game]\nenabled = 0\n";
constexpr const char *kOn = "[application game]\nenabled = 1\n";
constexpr const char *kAllOff = "enabled = 0\n";
constexpr const char *kOnlyGame = "enabled = 0\n[application game]\nenabled = 1\n";

TEST(PermissionTest, AnApplicationIsServedUnlessTheConfigurationDeniesIt) {
    EXPECT_TRUE(is_served({.application = "game"}));
    EXPECT_FALSE(is_served({.application = "game"}, kOff));
    EXPECT_TRUE(is_served({.application = "editor"}, kOff));
    EXPECT_FALSE(is_served({.application = "game"}, kAllOff));
    EXPECT_TRUE(is_served({.application = "game"}, kOnlyGame));
    EXPECT_FALSE(is_served({.application = "editor"}, kOnlyGame));
}

TEST(PermissionTest, TheSessionsOwnProgramsAreNotServedUnlessSomebodyWishesIt) {
    for (const DeniedByDefault &denied : denied_by_default()) {
        EXPECT_FALSE(is_served({.application = denied.application})) << denied.application;
        EXPECT_TRUE(is_served({.application = denied.application, .is_cairn_run = true}));
        const std::string wish =
            std::string("enabled = 1\n[application ") + denied.application + "]\nenabled = 1\n";
        EXPECT_TRUE(is_served({.application = denied.application}, wish.c_str()));
        EXPECT_FALSE(is_served({.application = denied.application}, "enabled = 1\n"))
            << "that all are enabled is said of ordinary applications";
    }
    EXPECT_TRUE(is_served({.application = "weston-terminal"})) << "whole names only";
}

TEST(PermissionTest, WhatIsRefusedOutrightIsRefusedUnderCairnRunToo) {
    const Circumstances run = {.application = "game", .is_cairn_run = true};
    Circumstances own = run;
    own.has_other_rights = true;
    EXPECT_FALSE(is_served(own, kOn));
    own = run;
    own.is_disabled = true;
    EXPECT_FALSE(is_served(own, kOn));
    own = run;
    own.is_off_after_crashes = true;
    EXPECT_FALSE(is_served(own, kOn));
    EXPECT_FALSE(is_served(run, kOff));
    EXPECT_FALSE(is_served(run, kAllOff));
    EXPECT_TRUE(is_served(run));
}

TEST(PermissionTest, TheReasonIsForPeople) {
    Circumstances own = {.application = "game", .is_off_after_crashes = true};
    EXPECT_THAT(permission_for(own, {}).reason, HasSubstr("`cairn enable game`"));
    own = {.application = "Xorg"};
    EXPECT_THAT(permission_for(own, {}).reason, HasSubstr("X server"));
}

// A program that asks for its own permission.
class OwnPermissionTest : public testing::Test {
  protected:
    OwnPermissionTest() {
        fs::permissions(directory_.path(), fs::perms::owner_all);
        fs::create_directories(directory_ / "cairn");
        fs::create_directory(directory_ / "root");
        fs::permissions(directory_ / "root", fs::perms::owner_all);
        install("probe");
    }
    std::string install(const std::string &name) const {
        const fs::path file = directory_ / name;
        fs::copy_file(PERMISSION_PROBE, file, fs::copy_options::overwrite_existing);
        return file;
    }
    void configure(const std::string &text) const {
        std::ofstream(directory_ / "cairn/config") << text;
    }
    // The line that it writes. Nothing of this process's environment reaches it.
    std::string said_by(const std::string &name, const std::string &variables = "",
                        const std::string &arguments = "") const {
        const std::string command = "env -i XDG_CONFIG_HOME=" + directory_.path() +
                                    " CAIRN_DIR=" + std::string(directory_ / "root") + " " +
                                    variables + " " + std::string(directory_ / name) + " " +
                                    arguments;
        FILE *pipe = popen(command.c_str(), "r");
        char line[1024] = {};
        if (pipe == nullptr || fgets(line, sizeof line, pipe) == nullptr) line[0] = '\0';
        if (pipe != nullptr) pclose(pipe);
        const std::string said = line;
        return said.substr(0, said.find('\n'));
    }

    cairn_test::TempDirectory directory_;
};

TEST_F(OwnPermissionTest, TheConfigurationAndTheEnvironmentAreRead) {
    EXPECT_EQ(said_by("probe"), "served");
    EXPECT_EQ(said_by("probe", "CAIRN_LOG=1"), "served (logs)");
    EXPECT_EQ(said_by("probe", "CAIRN_DISABLE=1"), "not served: CAIRN_DISABLE is set");
    EXPECT_EQ(said_by("probe", "CAIRN_DISABLE=0"), "served");
    configure("log = 1\n[application probe]\nenabled = 0\n");
    EXPECT_EQ(said_by("probe"),
              "not served: the configuration says `enabled = 0` for probe (logs)");
    EXPECT_EQ(said_by("probe", "CAIRN_LOG=0 CAIRN_REPORT=/proc/1/fd/3"),
              "not served: the configuration says `enabled = 0` for probe");
}

TEST_F(OwnPermissionTest, TheDefaultListGoesByTheNameOfTheExecutable) {
    install("Xwayland");
    EXPECT_THAT(said_by("Xwayland"), StartsWith("not served: it is the X server"));
    EXPECT_EQ(said_by("Xwayland", "CAIRN_REPORT=/proc/1/fd/3"), "served");
}

TEST_F(OwnPermissionTest, TwoCrashesSwitchItOffUnderThisNameOnly) {
    EXPECT_EQ(said_by("probe", "", "die 2>/dev/null"), "served");
    EXPECT_EQ(said_by("probe", "", "die 2>/dev/null"), "served");
    EXPECT_THAT(said_by("probe"), StartsWith("not served: it died twice within a minute"));
    install("other");
    EXPECT_EQ(said_by("other"), "served");
}

TEST_F(OwnPermissionTest, WhatKeepsOffTheDiskIsNotWatched) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(said_by("probe", "CAIRN_EGL_PERSIST=0", "die 2>/dev/null"), "served");
    }
    EXPECT_TRUE(fs::is_empty(directory_ / "root"));
}

TEST_F(OwnPermissionTest, AProgramWithAnotherUsersRightsIsNotServed) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make such a program";
    struct statvfs disk = {};
    statvfs(directory_.path().c_str(), &disk);
    if (prctl(PR_GET_NO_NEW_PRIVS) != 0 || (disk.f_flag & ST_NOSUID) != 0) {
        GTEST_SKIP() << "programs get no other rights here, as in a container";
    }
    const std::string file = install("probe");
    constexpr uid_t kNobody = 65534;
    ASSERT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(chmod(file.c_str(), 04755), 0);
    fs::permissions(directory_.path(), fs::perms::others_exec, fs::perm_options::add);
    EXPECT_EQ(said_by("probe", "CAIRN_REPORT=/proc/1/fd/3"),
              "not served: it runs with another user's rights");
}

}  // namespace
}  // namespace cairn
