// SPDX-License-Identifier: MIT
// `cairn enable`, `disable` and `status`: the files of a session before and after, and the programs
// that start with them, with Cairn and when it is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class EnableTest : public testing::Test {
  protected:
    EnableTest() {
        fs::create_directory(home_);
        fs::create_directory(root_);
        fs::permissions(root_, fs::perms::owner_all);
        // Cairn, as it is installed: a folder with one manifest, and the libraries.
        fs::create_directories(installed_ + "/last");
        install(CLI_FRONT_END, "libEGL_cairn.so.0", "cairn_egl.json");
        install(CLI_FRONT_END_LAST, "libEGL_cairn_last.so.0", "last/cairn_egl_last.json");
        environment_ = {{"HOME", home_},
                        {"XDG_CONFIG_HOME", ""},
                        {"SUDO_UID", ""},
                        {"CAIRN_DIR", root_},
                        {"CAIRN_EGL_MANIFEST", installed_ + "/cairn_egl.json"},
                        {"EGL_PLATFORM", "surfaceless"},
                        {"LIBGL_ALWAYS_SOFTWARE", "1"}};
    }
    void install(const char *library, const std::string &name, const std::string &manifest) const {
        fs::copy_file(library, installed_ + "/" + name);
        std::ofstream(installed_ + "/" + manifest)
            << R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" << installed_ << "/"
            << name << "\"}}\n";
    }
    Finished run(const std::vector<std::string> &arguments, const Environment &more = {}) const {
        Environment environment = environment_;
        for (const auto &[name, value] : more) environment[name] = value;
        return cairn(arguments, environment);
    }
    nlohmann::json status(const Environment &more = {}, int exit_code = 0) const {
        const Finished finished = run({"status", "--json"}, more);
        EXPECT_EQ(finished.exit_code, exit_code) << finished.standard_error;
        return nlohmann::json::parse(finished.standard_output);
    }
    // What the systemd user manager reads from the file.
    Environment of_the_manager() const {
        Environment environment = environment_;
        std::ifstream file(conf_);
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with('#')) continue;
            environment[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
        }
        return environment;
    }
    // What the client sees of EGL, in a session that begins with the environment or the script.
    Finished client(const Environment &environment) const {
        Program program({CLI_VIEW_CLIENT}, environment);
        const int exit_code = program.wait();
        return {exit_code, program.standard_output(), program.standard_error()};
    }
    Finished client_of_script() const {
        // Debian's Xsession ends at the first command that fails.
        Program program({"sh", "-ec", ". \"$HOME/.xsessionrc\"; exec " CLI_VIEW_CLIENT},
                        environment_);
        const int exit_code = program.wait();
        return {exit_code, program.standard_output(), program.standard_error()};
    }
    // In a container that differs in this from the machine; exit code 1000 where there is none.
    Finished in_container(std::vector<std::string> changes,
                          const std::vector<std::string> &command) const {
        changes.insert(changes.begin(), {"bwrap", "--dev-bind", "/", "/"});
        std::vector<std::string> nothing = changes;
        nothing.emplace_back("true");
        Program probe(nothing, environment_);
        if (probe.wait() != 0) return {kNoContainer, "", probe.standard_error()};
        changes.insert(changes.end(), command.begin(), command.end());
        Program program(changes, environment_);
        const int exit_code = program.wait();
        return {exit_code, program.standard_output(), program.standard_error()};
    }
    size_t cache_count() const {
        size_t count = 0;
        for (const auto &entry : fs::directory_iterator(root_)) count += entry.is_directory();
        return count;
    }
    void write_config(const std::string &text) const {
        fs::create_directories(fs::path(config_).parent_path());
        std::ofstream(config_) << text;
        fs::permissions(config_, fs::perms::owner_read | fs::perms::owner_write);
    }
    // As if `game` had died twice within a minute: docs/formats/guard.md.
    void switch_off_by_crashes() const {
        std::string guard(4096, '\0');
        guard.replace(0, 8, "CNGUARD1");
        guard[8] = 2;
        const uint64_t since_ns = 1'790'000'000'000'000'000u;
        memcpy(guard.data() + 16, &since_ns, sizeof since_ns);
        std::ofstream(root_ + "/.guard-game", std::ios::binary) << guard;
    }

    static constexpr int kNoContainer = 1000;
    Folder folder_;
    const std::string home_ = folder_ / "home";
    const std::string root_ = folder_ / "root";
    const std::string installed_ = folder_ / "installed";
    const std::string conf_ = home_ + "/.config/environment.d/50-cairn.conf";
    const std::string shell_ = home_ + "/.xsessionrc";
    const std::string config_ = home_ + "/.config/cairn/config";
    Environment environment_;
};

TEST_F(EnableTest, ASessionThatBeginsSoUsesCairnAndGoesOnWithoutIt) {
    const Finished plain = client(environment_);
    ASSERT_EQ(plain.exit_code, 0) << plain.standard_error;
    ASSERT_THAT(plain.standard_output, HasSubstr("linked 1"));
    ASSERT_EQ(cache_count(), 0u);

    const Finished enabled = run({"enable"});
    EXPECT_EQ(enabled.exit_code, 0) << enabled.standard_error;
    EXPECT_THAT(enabled.standard_output, HasSubstr("From the next log-in"));
    EXPECT_EQ(client(of_the_manager()).standard_output, plain.standard_output);
    EXPECT_EQ(cache_count(), 1u) << "the front end was there";
    fs::remove_all(root_);
    EXPECT_EQ(client_of_script().standard_output, plain.standard_output);
    EXPECT_EQ(cache_count(), 1u);

    std::ofstream(installed_ + "/libEGL_cairn.so.0") << "no library\n";
    EXPECT_EQ(client(of_the_manager()).standard_output, plain.standard_output) << "damaged";
    EXPECT_EQ(client_of_script().standard_output, plain.standard_output);
    fs::remove(installed_ + "/libEGL_cairn.so.0");
    EXPECT_EQ(client(of_the_manager()).standard_output, plain.standard_output) << "half gone";
    EXPECT_EQ(client_of_script().standard_output, plain.standard_output);
    fs::remove_all(installed_);
    EXPECT_EQ(client(of_the_manager()).standard_output, plain.standard_output) << "gone";
    EXPECT_EQ(client_of_script().standard_output, plain.standard_output);
}

// A program that compiles stores what it compiled: where nothing is stored, all came from the pack.
TEST_F(EnableTest, TheFirstStartInASessionIsWarmByAnInstalledPack) {
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    const auto stored = [&] {
        std::uint64_t entries = 0;
        const Finished listed = run({"ls", "--json"});
        const auto json = nlohmann::json::parse(listed.standard_output);
        for (const auto &cache : json["caches"]) entries += cache["entries"].get<std::uint64_t>();
        return entries;
    };
    const Finished cold = client(of_the_manager());
    ASSERT_GT(stored(), 0u) << cold.standard_error;
    const std::string pack = home_ + "/a.pack";
    ASSERT_EQ(run({"pack", "create", "--all", pack}).exit_code, 0);
    fs::remove_all(root_);
    fs::create_directory(root_);
    fs::permissions(root_, fs::perms::owner_all);
    ASSERT_EQ(run({"pack", "install", "--unsigned", pack}).exit_code, 0);
    const Finished first = client(of_the_manager());
    EXPECT_EQ(first.standard_output, cold.standard_output);
    EXPECT_TRUE(fs::exists(root_ + "/.guard-cli_view_client")) << "the front end was there";
    EXPECT_EQ(stored(), 0u);
}

TEST_F(EnableTest, DisableLeavesEverythingAsItWas) {
    EXPECT_THAT(run({"disable"}).standard_output, HasSubstr("It was not enabled"));
    const std::string before = "export MINE=1\n# no end";
    folder_.write("home/.xsessionrc", before);
    fs::permissions(shell_, fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    const std::string after = read_file(shell_);
    EXPECT_EQ(after.compare(0, before.size(), before), 0);
    EXPECT_EQ(run({"disable"}).exit_code, 0);
    EXPECT_EQ(read_file(shell_), before);
    EXPECT_EQ(fs::status(shell_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_FALSE(fs::exists(conf_));

    fs::remove(shell_);
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    EXPECT_EQ(run({"disable"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(shell_)) << "there was none";

    folder_.write("home/.xsessionrc", "");
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    EXPECT_EQ(run({"disable"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(shell_)) << "there was one, without a line";
}

TEST_F(EnableTest, NothingIsWrittenWhereOneFileCannotBe) {
    fs::create_symlink(folder_ / "missing/xsessionrc", shell_);
    const Finished finished = run({"enable"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_error, HasSubstr("nothing was changed; make it a file"));
    EXPECT_FALSE(fs::exists(conf_));
    fs::remove(shell_);
    // With the block, disable would refuse it as too large.
    folder_.write("home/.xsessionrc", std::string(1 << 20, '#'));
    EXPECT_THAT(run({"enable"}).standard_error, HasSubstr("would have more than"));
    EXPECT_FALSE(fs::exists(conf_));
    EXPECT_EQ(fs::file_size(shell_), 1u << 20);
}

TEST_F(EnableTest, CommandsAtOnceLoseNoChange) {
    const auto all_at_once = [&](const std::vector<std::vector<std::string>> &commands) {
        std::vector<std::unique_ptr<Program>> programs;
        for (const auto &arguments : commands) {
            programs.push_back(std::make_unique<Program>(cairn_command(arguments), environment_));
        }
        for (const auto &program : programs)
            EXPECT_EQ(program->wait(), 0) << program->standard_error();
    };
    for (int round = 0; round < 5; ++round) {
        all_at_once({{"disable", "a"},
                     {"disable", "b"},
                     {"disable", "c"},
                     {"disable", "d"},
                     {"disable", "e"},
                     {"disable", "f"},
                     {"disable", "g"},
                     {"disable", "h"}});
        for (const std::string name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
            EXPECT_THAT(read_file(config_), HasSubstr("[application " + name + "]\nenabled = 0\n"));
        }
        fs::remove(config_);
        ASSERT_EQ(run({"enable"}).exit_code, 0);
        all_at_once({{"disable"}, {"disable"}, {"disable"}, {"disable"}});
        EXPECT_FALSE(fs::exists(conf_) || fs::exists(shell_));
    }
}

TEST_F(EnableTest, RootChangesNothingOfAnotherUser) {
    if (geteuid() != 0) GTEST_SKIP() << "for root only";
    const std::string other = folder_ / "other";
    fs::create_directory(other);
    ASSERT_EQ(chown(other.c_str(), 65534, 65534), 0);
    const Environment as_other = {{"HOME", other}};
    const Environment as_configured = {{"XDG_CONFIG_HOME", other + "/config"}};
    const Environment by_sudo = {{"SUDO_UID", "1000"}};
    for (const char *verb : {"enable", "disable"}) {
        EXPECT_THAT(run({verb, "game"}, as_other).standard_error, HasSubstr("another user's"));
        EXPECT_THAT(run({verb, "game"}, as_configured).standard_error, HasSubstr("another user's"));
        EXPECT_THAT(run({verb, "game"}, by_sudo).standard_error, HasSubstr("root's sessions"));
        EXPECT_THAT(run({verb}, by_sudo).standard_error, HasSubstr("root's sessions"));
    }
    EXPECT_TRUE(fs::is_empty(other));
    EXPECT_FALSE(fs::exists(conf_) || fs::exists(config_));
}

TEST_F(EnableTest, TheSecondTimeNothingIsWritten) {
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    struct stat first = {}, second = {};
    ASSERT_EQ(stat(shell_.c_str(), &first), 0);
    const std::string text = read_file(conf_);
    const Finished again = run({"enable"});
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_THAT(again.standard_output, HasSubstr("is so already"));
    ASSERT_EQ(stat(shell_.c_str(), &second), 0);
    EXPECT_EQ(first.st_ino, second.st_ino);
    // Also from within the session that it made.
    EXPECT_EQ(run({"enable"}, of_the_manager()).exit_code, 0);
    EXPECT_EQ(read_file(conf_), text);
}

TEST_F(EnableTest, ALinkStaysALink) {
    folder_.write("home/dotfiles/xsessionrc", "# mine\n");
    fs::create_symlink("dotfiles/xsessionrc", shell_);
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    EXPECT_TRUE(fs::is_symlink(shell_));
    EXPECT_THAT(read_file(home_ + "/dotfiles/xsessionrc"), HasSubstr("cairn enable"));
    ASSERT_EQ(run({"disable"}).exit_code, 0);
    EXPECT_TRUE(fs::is_symlink(shell_));
    EXPECT_EQ(read_file(home_ + "/dotfiles/xsessionrc"), "# mine\n");
}

TEST_F(EnableTest, WhatIsNotOursIsRefusedAndNothingChanges) {
    folder_.write("home/.config/environment.d/50-cairn.conf", "MINE=1\n");
    EXPECT_EQ(run({"enable"}).exit_code, 1);
    EXPECT_EQ(run({"disable"}).exit_code, 1);
    EXPECT_EQ(read_file(conf_), "MINE=1\n");
    EXPECT_FALSE(fs::exists(shell_));
    fs::remove(conf_);

    const std::string half = "a\n# >>> cairn enable >>>\nb\n";
    folder_.write("home/.xsessionrc", half);
    EXPECT_THAT(run({"enable"}).standard_error, HasSubstr("a part of Cairn's block"));
    EXPECT_EQ(read_file(shell_), half);
    EXPECT_FALSE(fs::exists(conf_));
    fs::remove(shell_);

    fs::create_directory(shell_);
    EXPECT_THAT(run({"enable"}).standard_error, HasSubstr("is not a file"));
    fs::remove(shell_);
    ASSERT_EQ(mkfifo(shell_.c_str(), 0600), 0);
    EXPECT_EQ(run({"enable"}).exit_code, 1) << "and nobody waits for a writer";
    fs::remove(shell_);
    folder_.write("home/.xsessionrc", std::string(2 << 20, '#'));
    EXPECT_EQ(run({"enable"}).exit_code, 1);
    EXPECT_FALSE(fs::exists(conf_));
}

TEST_F(EnableTest, AHomeThatCannotBeUsedIsNamed) {
    const std::string missing = folder_ / "missing";
    EXPECT_THAT(run({"enable"}, {{"HOME", missing}}).standard_error, HasSubstr(missing));
    EXPECT_FALSE(fs::exists(missing));
    const std::string file = folder_.write("file", "");
    EXPECT_EQ(run({"enable"}, {{"HOME", file}}).exit_code, 1);
    if (geteuid() == 0) {
        // Nobody can write there, not even root.
        EXPECT_EQ(run({"enable"}, {{"HOME", "/proc"}}).exit_code, 1);
        ASSERT_EQ(chown(home_.c_str(), 65534, 65534), 0);
        EXPECT_THAT(run({"enable"}).standard_error, HasSubstr("another user's"));
        ASSERT_EQ(chown(home_.c_str(), 0, 0), 0);
    } else {
        fs::permissions(home_, fs::perms::owner_read | fs::perms::owner_exec);
        EXPECT_EQ(run({"enable"}).exit_code, 1);
        fs::permissions(home_, fs::perms::owner_all);
    }
    folder_.write("home/.config", "a file");
    EXPECT_EQ(run({"enable"}).exit_code, 1);
    EXPECT_EQ(read_file(home_ + "/.config"), "a file");
}

TEST_F(EnableTest, ANameThatAShellWouldMisreadIsRefused) {
    const std::string odd = folder_ / "it's $HOME";
    fs::create_directory_symlink(installed_, odd);
    const Finished finished = run({"enable"}, {{"CAIRN_EGL_MANIFEST", odd + "/cairn_egl.json"}});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_error, HasSubstr("cannot hold"));
    EXPECT_FALSE(fs::exists(conf_));
    EXPECT_EQ(run({"enable"}, {{"CAIRN_EGL_MANIFEST", folder_ / "none.json"}}).exit_code, 1);
}

TEST_F(EnableTest, StatusSaysWhatIsOnAndWhereThatComesFrom) {
    nlohmann::json json = status();
    EXPECT_FALSE(json["egl"]["on"]);
    EXPECT_TRUE(json["egl"]["by"].is_null());
    EXPECT_TRUE(json["sources"].empty());
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    json = status();
    EXPECT_FALSE(json["egl"]["on"]) << "from the next log-in";
    ASSERT_EQ(json["sources"].size(), 2u);
    EXPECT_EQ(json["sources"][0]["file"], conf_);
    EXPECT_EQ(json["sources"][1]["file"], shell_);
    EXPECT_TRUE(json["sources"][1]["egl"]);

    const Environment session = of_the_manager();
    json = status(session);
    EXPECT_TRUE(json["egl"]["on"]);
    EXPECT_THAT(json["egl"]["by"].get<std::string>(), HasSubstr("__EGL_VENDOR_LIBRARY_DIRS"));
    EXPECT_EQ(json["egl"]["library"], installed_ + "/libEGL_cairn.so.0");
    EXPECT_THAT(run({"status"}, session).standard_output, HasSubstr("EGL  on"));
    EXPECT_EQ(status({{"CAIRN_DISABLE", "1"}})["disabled"], "CAIRN_DISABLE is set");

    std::ofstream(installed_ + "/libEGL_cairn.so.0") << "no library\n";
    json = status(session, 1);
    EXPECT_FALSE(json["egl"]["on"]);
    EXPECT_THAT(json["egl"]["problem"].get<std::string>(), Not(""));
    EXPECT_THAT(run({"status"}, session).standard_output, HasSubstr("cannot be loaded"));
}

TEST_F(EnableTest, StatusPromisesNothingThatTheNextLogInCannotHave) {
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    fs::remove(installed_ + "/libEGL_cairn.so.0");
    for (int i = 0; i < 2; ++i) {
        const nlohmann::json json = status({}, 1);
        ASSERT_EQ(json["sources"].size(), 2u);
        for (const auto &source : json["sources"]) {
            EXPECT_FALSE(source["egl"]);
            EXPECT_EQ(source["problem"], "it names files for EGL that are gone");
        }
        EXPECT_THAT(run({"status"}).standard_output, HasSubstr("At the next log-in: off."));
        fs::remove_all(installed_);
    }
    fs::remove(shell_);
    fs::remove(conf_);
    fs::create_directory(shell_);
    EXPECT_THAT(status({}, 1)["sources"][0]["problem"].get<std::string>(), HasSubstr("not known"));
    EXPECT_THAT(run({"status"}).standard_output, Not(HasSubstr("At the next log-in: off.")));
    EXPECT_EQ(status({{"HOME", folder_ / "missing"}}, 1)["sources"].size(), 1u);
}

TEST_F(EnableTest, WithAnApplicationItSaysThatTheSessionsDoNotUseCairn) {
    const auto said = [&] { return run({"enable", "game"}).standard_output; };
    EXPECT_THAT(said(), HasSubstr("sessions do not use Cairn"));
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    EXPECT_THAT(said(), Not(HasSubstr("sessions do not use Cairn")));
    environment_ = of_the_manager();
    fs::remove(shell_);
    fs::remove(conf_);
    EXPECT_THAT(said(), Not(HasSubstr("sessions do not use Cairn"))) << "this one does";
}

TEST_F(EnableTest, ADirectoryIsForTheCrashesOfApplicationsOnly) {
    EXPECT_EQ(run({"enable", "--dir", root_}).exit_code, 2);
    EXPECT_FALSE(fs::exists(conf_));
    EXPECT_EQ(run({"enable", "--dir", folder_ / "none", "game"}).exit_code, 0);
    fs::create_directory(root_ + "/.guard-game");
    const Finished finished = run({"enable", "game"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_error, HasSubstr(root_ + "/.guard-game"));
}

TEST_F(EnableTest, StatusSaysForWhichProgramsItIsOffAndWhy) {
    const auto reason_of = [&](const std::string &name) -> std::string {
        const nlohmann::json json = status();
        for (const auto &off : json["off"]) {
            if (off["application"] == name) return off["reason"];
        }
        return "";
    };
    EXPECT_THAT(reason_of("Xwayland"), HasSubstr("X server"));
    EXPECT_EQ(reason_of("game"), "");
    EXPECT_EQ(run({"disable", "game"}).exit_code, 0);
    EXPECT_THAT(reason_of("game"), HasSubstr("enabled = 0"));
    EXPECT_EQ(run({"enable", "game", "Xwayland"}).exit_code, 0);
    EXPECT_EQ(reason_of("game"), "");
    EXPECT_EQ(reason_of("Xwayland"), "");
    fs::remove(config_);
    switch_off_by_crashes();
    EXPECT_THAT(reason_of("game"), HasSubstr("died twice"));
    EXPECT_THAT(run({"status"}).standard_output, HasSubstr("since 2026-09-21"));
    EXPECT_EQ(run({"enable", "game"}).exit_code, 0);
    EXPECT_EQ(reason_of("game"), "");
    EXPECT_FALSE(fs::exists(config_)) << "nothing needed to be written";
    write_config("enabled = 0\n");
    EXPECT_TRUE(status()["only_allowed"]);
}

TEST_F(EnableTest, AnApplicationThatIsOffRunsUncachedAndTheReportSaysWhy) {
    EXPECT_EQ(run({"disable", "cli_view_client"}).exit_code, 0);
    const Finished off = run({"run", "--", CLI_VIEW_CLIENT});
    EXPECT_EQ(off.standard_output, client(environment_).standard_output);
    EXPECT_EQ(off.standard_error,
              "cairn: ran uncached: the configuration says `enabled = 0` for cli_view_client\n");
    EXPECT_EQ(run({"enable", "cli_view_client"}).exit_code, 0);
    EXPECT_THAT(run({"run", "--", CLI_VIEW_CLIENT}).standard_error, HasSubstr("entries stored"));
}

// With the manifests of `cmake --install BUILD --component enable_for_all`.
TEST_F(EnableTest, ForAllUsersItIsOnWithoutAVariable) {
    const std::string first = "/etc/glvnd/egl_vendor.d";
    const std::string second = "/usr/share/glvnd/egl_vendor.d";
    std::vector<std::string> container = {"--tmpfs", first, "--tmpfs", second};
    const auto bind = [&](const std::string &from, const std::string &to) {
        container.insert(container.end(), {"--ro-bind", from, to});
    };
    for (const auto &entry : fs::directory_iterator(second)) bind(entry.path(), entry.path());
    bind(installed_ + "/cairn_egl.json", first + "/05_cairn.json");
    bind(installed_ + "/last/cairn_egl_last.json", second + "/95_cairn_last.json");
    const Finished seen = in_container(container, {CLI_VIEW_CLIENT});
    if (seen.exit_code == kNoContainer) GTEST_SKIP() << "no container: " << seen.standard_error;
    EXPECT_EQ(seen.standard_output, client(environment_).standard_output);
    EXPECT_EQ(cache_count(), 1u);
    EXPECT_THAT(in_container(container, {CAIRN_PROGRAM, "status"}).standard_output,
                HasSubstr("EGL  on, by " + first + "/05_cairn.json, for all users"));
}

TEST_F(EnableTest, GlxIsOnWhereTheLoaderFindsTheLibrary) {
    const Finished without = run({"enable"});
    EXPECT_THAT(without.standard_error, HasSubstr("GLX is not switched on"));
    EXPECT_THAT(without.standard_error, Not(HasSubstr("it; run `sudo ldconfig`")));
    fs::copy_file(CLI_GLX_FRONT_END, installed_ + "/libGLX_cairn.so.0");
    EXPECT_THAT(run({"enable"}).standard_error, HasSubstr("it; run `sudo ldconfig`"))
        << "that may be all that is missing";
    EXPECT_THAT(read_file(conf_), Not(HasSubstr("GLX")));

    const std::string cache = folder_ / "ld.so.cache";
    std::vector<std::string> container = {"--tmpfs", "/usr/local/lib", "--ro-bind",
                                          CLI_GLX_FRONT_END, "/usr/local/lib/libGLX_cairn.so.0"};
    const Finished made = in_container(container, {"/sbin/ldconfig", "-C", cache});
    if (made.exit_code != 0 || read_file(cache).find("libGLX_cairn") == std::string::npos) {
        GTEST_SKIP() << "no container, or a loader that does not look in /usr/local/lib: "
                     << made.standard_error;
    }
    container.insert(container.end(), {"--ro-bind", cache, "/etc/ld.so.cache"});
    environment_["__GLX_VENDOR_LIBRARY_NAME"] = "mesa";
    const Finished enabled = in_container(container, {CAIRN_PROGRAM, "enable"});
    EXPECT_EQ(enabled.exit_code, 0);
    EXPECT_EQ(enabled.standard_error, "");
    EXPECT_THAT(enabled.standard_output, HasSubstr("EGL or GLX"));
    EXPECT_THAT(read_file(conf_), HasSubstr("__GLX_VENDOR_LIBRARY_NAME=cairn\n"
                                            "CAIRN_GLX_VENDOR=mesa\n"));
    EXPECT_THAT(read_file(shell_), HasSubstr("if [ -r '/usr/local/lib/libGLX_cairn.so.0' ]; then "
                                             "__GLX_VENDOR_LIBRARY_NAME='cairn'"));
    environment_ = of_the_manager();
    const auto json = nlohmann::json::parse(
        in_container(container, {CAIRN_PROGRAM, "status", "--json"}).standard_output);
    EXPECT_TRUE(json["glx"]["on"]) << json.dump();
    // And when Cairn is gone.
    EXPECT_FALSE(status({{"__GLX_VENDOR_LIBRARY_NAME", "cairn"}}, 1)["glx"]["on"]);
}

TEST_F(EnableTest, StatusNamesEachMistakeInTheConfiguration) {
    write_config("limit = 4G\nlimt = 1\n[aplication x]\n");
    const nlohmann::json json = status({}, 1);
    ASSERT_EQ(json["mistakes"].size(), 2u);
    EXPECT_THAT(json["mistakes"][0].get<std::string>(), HasSubstr("config:2: `limt = 1`"));
    EXPECT_THAT(json["mistakes"][1].get<std::string>(), HasSubstr("config:3: `[aplication x]`"));
    EXPECT_THAT(run({"status"}).standard_output, HasSubstr("config:2: `limt = 1`"));
}

TEST_F(EnableTest, TheConfigurationIsChangedInOneLineOnly) {
    write_config("# mine\r\nlimit = 4G\n[application game]\nlimit = 8G # large");
    EXPECT_EQ(run({"disable", "game"}).exit_code, 0);
    EXPECT_EQ(read_file(config_),
              "# mine\r\nlimit = 4G\n[application game]\nenabled = 0\nlimit = 8G # large");
    EXPECT_EQ(run({"enable", "game"}).exit_code, 0);
    EXPECT_EQ(read_file(config_),
              "# mine\r\nlimit = 4G\n[application game]\nenabled = 1\nlimit = 8G # large");
    fs::remove_all(home_ + "/.config");
    Program loose({"sh", "-c", "umask 0; exec " CAIRN_PROGRAM " disable game"}, environment_);
    EXPECT_EQ(loose.wait(), 0);
    EXPECT_EQ(read_file(config_), "[application game]\nenabled = 0\n");
    EXPECT_EQ(
        fs::status(config_).permissions() & (fs::perms::group_write | fs::perms::others_write),
        fs::perms::none)
        << "or it would not be followed";
    EXPECT_EQ(fs::status(home_ + "/.config").permissions() & fs::perms::others_write,
              fs::perms::none);
    fs::remove(config_);
    EXPECT_EQ(run({"enable", "sway"}, {{"CAIRN_DIR", "relative"}}).exit_code, 1);
    EXPECT_FALSE(fs::exists(config_)) << "it fails before it writes";
}

TEST_F(EnableTest, ACacheNamesItsApplication) {
    EXPECT_THAT(run({"disable", "cli_view_client"}).standard_output, HasSubstr("has a cache yet"));
    fs::remove(config_);
    EXPECT_EQ(run({"run", "--", CLI_VIEW_CLIENT}).exit_code, 0);
    std::string cache;
    for (const auto &entry : fs::directory_iterator(root_)) {
        if (entry.is_directory()) cache = entry.path().filename();
    }
    for (const std::string &name :
         {cache, std::string("gl-cli_view_client"), std::string("cli_view_client")}) {
        const Finished finished = run({"disable", name});
        EXPECT_THAT(finished.standard_output, Not(HasSubstr("has a cache yet"))) << name;
        EXPECT_EQ(read_file(config_), "[application cli_view_client]\nenabled = 0\n") << name;
        fs::remove(config_);
    }
}

TEST_F(EnableTest, AConfigurationThatCannotBeSwitchedIsLeftAlone) {
    for (const char *name : {"", "a b", "x]\nenabled = 1", "../x", ".hidden", "a#b"}) {
        EXPECT_EQ(run({"disable", name}).exit_code, 2) << name;
    }
    EXPECT_FALSE(fs::exists(config_));
    write_config("limit = 4G\n");
    fs::permissions(config_, fs::perms::group_write, fs::perm_options::add);
    EXPECT_THAT(run({"disable", "game"}).standard_error, HasSubstr("chmod go-w"));
    EXPECT_EQ(read_file(config_), "limit = 4G\n");
    write_config("limit = 4G\n" + std::string(65'520, '#') + "\n");
    EXPECT_THAT(run({"disable", "game"}).standard_error, HasSubstr("64 KiB"));
}

}  // namespace
}  // namespace cairn::cli_test
