// SPDX-License-Identifier: MIT
// `cairn enable`, `disable` and `status`, and the units that run `cairn warm` after an update of the
// driver: an installed `cairn`, in containers with systemd and without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kSystemd = {"--tmpfs", "/run", "--dir", "/run/systemd/system"};
const std::vector<std::string> kNoSystemd = {"--tmpfs", "/run"};

class EnableWarmTest : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(home_);
        fs::create_directories(runtime_ + "/systemd");
        fs::create_directories(installed_ + "/bin");
        fs::create_directories(installed_ + "/share");
        fs::create_directories(units_);
        fs::copy_file(CAIRN_PROGRAM, installed_ + "/bin/cairn");
        fs::copy_file(CLI_FRONT_END, installed_ + "/share/libEGL_cairn.so.0");
        std::ofstream(installed_ + "/share/cairn_egl.json")
            << R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" << installed_
            << "/share/libEGL_cairn.so.0\"}}\n";
        for (const char *unit : {"cairn-warm.path", "cairn-warm.timer"}) {
            fs::copy_file(std::string(CLI_PACKAGING "/systemd/") + unit, units_ + "/" + unit);
        }
        std::ofstream(units_ + "/cairn-warm.service")
            << "[Service]\nType=oneshot\nExecStart=" << installed_ << "/bin/cairn version\n";
        environment_ = {{"HOME", home_},
                        {"XDG_CONFIG_HOME", ""},
                        {"SUDO_UID", ""},
                        {"XDG_RUNTIME_DIR", runtime_},
                        {"CAIRN_DIR", folder_ / "root"},
                        {"CAIRN_EGL_MANIFEST", installed_ + "/share/cairn_egl.json"}};
        if (run({"true"}, kSystemd).exit_code != 0) GTEST_SKIP() << "no container";
    }
    Finished run(const std::vector<std::string> &command,
                 const std::vector<std::string> &system) const {
        std::vector<std::string> all = {"bwrap", "--dev-bind", "/", "/"};
        all.insert(all.end(), system.begin(), system.end());
        all.insert(all.end(), command.begin(), command.end());
        Program program(all, environment_);
        const int exit_code = program.wait();
        return {exit_code, program.standard_output(), program.standard_error()};
    }
    Finished cairn(const std::string &command,
                   const std::vector<std::string> &system = kSystemd) const {
        return run({installed_ + "/bin/cairn", command}, system);
    }
    nlohmann::json warm(const std::vector<std::string> &system = kSystemd) const {
        const Finished finished = run({installed_ + "/bin/cairn", "status", "--json"}, system);
        return nlohmann::json::parse(finished.standard_output).at("warm");
    }
    // What is in the user's folder of units, with where it leads.
    std::map<std::string, std::string> links() const {
        std::map<std::string, std::string> links;
        if (!fs::exists(links_)) return links;
        for (const auto &entry : fs::recursive_directory_iterator(links_)) {
            if (entry.is_directory() && !entry.is_symlink()) continue;
            const std::string name =
                fs::relative(entry.path().parent_path(), links_) / entry.path().filename();
            links[name] = entry.is_symlink() ? fs::read_symlink(entry.path()).string() : "a file";
        }
        return links;
    }
    std::map<std::string, std::string> all_links() const {
        const std::string at = units_ + "/cairn-warm.";
        return {{"./cairn-warm.service", at + "service"},
                {"./cairn-warm.path", at + "path"},
                {"./cairn-warm.timer", at + "timer"},
                {"paths.target.wants/cairn-warm.path", at + "path"},
                {"timers.target.wants/cairn-warm.timer", at + "timer"}};
    }

    Folder folder_;
    const std::string home_ = folder_ / "home";
    const std::string runtime_ = folder_ / "runtime";
    const std::string installed_ = folder_ / "installed";
    const std::string units_ = installed_ + "/lib/systemd/user";
    const std::string links_ = home_ + "/.config/systemd/user";
    Environment environment_;
};

TEST_F(EnableWarmTest, EnableEnablesTheUnitsAndDisableTakesThemBack) {
    EXPECT_EQ(warm()["on"], false);
    EXPECT_EQ(warm()["why_off"], "not enabled");
    const Finished enabled = cairn("enable");
    EXPECT_EQ(enabled.exit_code, 0) << enabled.standard_error;
    EXPECT_THAT(enabled.standard_output, HasSubstr("cairn-warm.timer are enabled"));
    EXPECT_EQ(links(), all_links());
    EXPECT_EQ(warm()["on"], true);
    EXPECT_EQ(warm()["why_off"], nullptr);
    EXPECT_THAT(cairn("status").standard_output, HasSubstr("`cairn warm` runs by itself."));
    EXPECT_THAT(cairn("enable").standard_output, HasSubstr(links_ + ": is so already"));

    const Finished disabled = cairn("disable");
    EXPECT_EQ(disabled.exit_code, 0) << disabled.standard_error;
    EXPECT_THAT(disabled.standard_output, HasSubstr("cairn-warm.timer are disabled"));
    EXPECT_TRUE(links().empty());
    EXPECT_EQ(warm()["why_off"], "not enabled");
    EXPECT_THAT(cairn("disable").standard_output, HasSubstr("was not enabled"));
}

TEST_F(EnableWarmTest, SystemdSeesThatTheUnitsAreEnabled) {
    const std::vector<std::string> ask = {"systemctl",  "--user",          "--root=/",
                                          "is-enabled", "cairn-warm.path", "cairn-warm.timer"};
    if (run({"systemctl", "--version"}, kSystemd).exit_code != 0) GTEST_SKIP() << "no systemctl";
    EXPECT_THAT(run(ask, kSystemd).standard_output, Not(HasSubstr("enabled")));
    ASSERT_EQ(cairn("enable").exit_code, 0);
    EXPECT_EQ(run(ask, kSystemd).standard_output, "enabled\nenabled\n");
    ASSERT_EQ(cairn("disable").exit_code, 0);
    EXPECT_THAT(run(ask, kSystemd).standard_output, Not(HasSubstr("enabled")));
}

TEST_F(EnableWarmTest, WithoutSystemdNothingIsEnabledAndStatusSaysSo) {
    const Finished enabled = cairn("enable", kNoSystemd);
    EXPECT_EQ(enabled.exit_code, 0) << enabled.standard_error;
    EXPECT_THAT(enabled.standard_output, HasSubstr("systemd does not run here"));
    EXPECT_TRUE(links().empty());
    EXPECT_EQ(warm(kNoSystemd)["why_off"], "systemd does not run here");
    EXPECT_THAT(cairn("status", kNoSystemd).standard_output,
                HasSubstr("does not run by itself: systemd does not run here."));
    ASSERT_EQ(cairn("enable").exit_code, 0);
    ASSERT_EQ(cairn("disable", kNoSystemd).exit_code, 0);
    EXPECT_TRUE(links().empty()) << "what another system's `enable` made goes, too";
}

TEST_F(EnableWarmTest, WhatTheUserHasMadeOfAUnitStays) {
    fs::create_directories(links_);
    fs::create_symlink("/dev/null", links_ + "/cairn-warm.timer");
    const Finished enabled = cairn("enable");
    EXPECT_EQ(enabled.exit_code, 0);
    EXPECT_THAT(enabled.standard_output, HasSubstr("cairn-warm.timer is not Cairn's"));
    EXPECT_EQ(cairn("disable").exit_code, 0);
    EXPECT_EQ(links().size(), 1u);
    EXPECT_EQ(links()["./cairn-warm.timer"], "/dev/null");
    fs::remove(links_ + "/cairn-warm.timer");
    std::ofstream(links_ + "/cairn-warm.service") << "[Service]\n";
    EXPECT_THAT(cairn("enable").standard_output, HasSubstr("cairn-warm.service is not Cairn's"));
    EXPECT_EQ(cairn("disable").exit_code, 0);
    EXPECT_EQ(links()["./cairn-warm.service"], "a file");
}

TEST_F(EnableWarmTest, LinksToACairnThatWasMovedAreMadeAnew) {
    fs::create_directories(links_ + "/paths.target.wants");
    fs::create_symlink("/gone/cairn-warm.path", links_ + "/cairn-warm.path");
    fs::create_symlink("/gone/cairn-warm.path", links_ + "/paths.target.wants/cairn-warm.path");
    EXPECT_THAT(warm()["why_off"].get<std::string>(), HasSubstr("not enabled"));
    ASSERT_EQ(cairn("enable").exit_code, 0);
    EXPECT_EQ(links(), all_links());
    fs::remove(links_ + "/cairn-warm.path");
    fs::create_symlink("/gone/cairn-warm.path", links_ + "/cairn-warm.path");
    EXPECT_THAT(warm()["why_off"].get<std::string>(), HasSubstr("is gone"));
    fs::remove(units_ + "/cairn-warm.service");
    EXPECT_THAT(warm()["why_off"].get<std::string>(), HasSubstr("is not installed in " + units_));
    EXPECT_EQ(cairn("disable").exit_code, 0);
    EXPECT_TRUE(links().empty());
}

TEST_F(EnableWarmTest, OthersMayNotWriteWhatIsMade) {
    ASSERT_EQ(
        run({"sh", "-c", "umask 0; exec " + installed_ + "/bin/cairn enable"}, kSystemd).exit_code,
        0);
    for (const char *folder : {"", "/paths.target.wants", "/timers.target.wants"}) {
        EXPECT_EQ(fs::status(links_ + folder).permissions() &
                      (fs::perms::group_write | fs::perms::others_write),
                  fs::perms::none)
            << folder;
    }
}

TEST_F(EnableWarmTest, AManagerThatRunsIsToldAndItsFailureIsNone) {
    fs::create_directories(folder_ / "bin");
    const std::string systemctl = folder_ / "bin/systemctl";
    std::ofstream(systemctl) << "#!/bin/sh\necho \"$@\" >>" << (folder_ / "told") << "\nexit 1\n";
    fs::permissions(systemctl, fs::perms::owner_all);
    environment_["PATH"] = (folder_ / "bin") + ":/usr/bin:/bin";
    ASSERT_EQ(cairn("enable").exit_code, 0);
    ASSERT_EQ(cairn("disable").exit_code, 0);
    EXPECT_FALSE(fs::exists(folder_ / "told")) << "there is no manager";
    std::ofstream(runtime_ + "/systemd/private") << "as its socket\n";
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cairn("enable").exit_code, 0);
    EXPECT_EQ(read_file(folder_ / "told"), "--user daemon-reload\n") << "a change, and then none";
    EXPECT_EQ(cairn("disable").exit_code, 0);
    EXPECT_EQ(read_file(folder_ / "told"), "--user daemon-reload\n--user daemon-reload\n");
}

}  // namespace
}  // namespace cairn::cli_test
