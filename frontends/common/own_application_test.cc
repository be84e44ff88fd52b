// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "common/application.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn {
namespace {

using cairn_test::TempDirectory;

struct Command {
    std::string file;
    std::vector<std::string> arguments;
    std::vector<std::string> variables;  // NAME=value
};

// The name that the process says it has.
std::string name_said_by(const Command &command) {
    std::array<int, 2> pipe_ends = {};
    if (pipe(pipe_ends.data()) != 0) return "no pipe";
    cairn_test::Child child([&] {
        dup2(pipe_ends[1], STDOUT_FILENO);
        std::vector<const char *> arguments;
        std::vector<const char *> variables;
        for (const std::string &each : command.arguments) arguments.push_back(each.c_str());
        for (const std::string &each : command.variables) variables.push_back(each.c_str());
        arguments.push_back(nullptr);
        variables.push_back(nullptr);
        execve(command.file.c_str(), const_cast<char **>(arguments.data()),
               const_cast<char **>(variables.data()));
        return 127;
    });
    close(pipe_ends[1]);
    std::string said;
    std::array<char, 256> part = {};
    for (ssize_t size = 0; (size = read(pipe_ends[0], part.data(), part.size())) > 0;) {
        said.append(part.data(), static_cast<size_t>(size));
    }
    close(pipe_ends[0]);
    const std::string end = cairn_test::describe_status(child.wait());
    return end.empty() && said.ends_with('\n') ? said.substr(0, said.size() - 1) : "failed: " + end;
}

// As the system lays them out, after `written` was written over the first.
std::vector<std::string> in_place(std::string memory, const std::string &written) {
    std::vector<char *> arguments = {memory.data()};
    for (size_t i = 0; i + 1 < memory.size(); ++i) {
        if (memory[i] == '\0') arguments.push_back(&memory[i + 1]);
    }
    const auto count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    std::copy(written.begin(), written.end(), memory.begin());
    return arguments_in_place(count, arguments.data());
}

TEST(ArgumentsInPlaceTest, AnArgumentCountsWhereNothingWasWrittenOverIt) {
    using namespace std::string_literals;
    using testing::ElementsAre;
    const std::string command = "/bin/python3\0-u\0game.py\0"s;
    EXPECT_THAT(in_place(command, ""), ElementsAre("/bin/python3", "-u", "game.py"));
    EXPECT_THAT(in_place(command, "title\0"s), ElementsAre("title"));
    EXPECT_THAT(in_place(command, "title\0\0\0\0\0\0\0"s), ElementsAre("title", "-u", "game.py"));
    EXPECT_THAT(in_place(command, "a long title\0"s), ElementsAre("a long title", "-u", "game.py"));
    EXPECT_THAT(in_place(command, "a longer title\0"s), ElementsAre("a longer title"));
    EXPECT_THAT(in_place(command, "a title over everything"),
                ElementsAre("a title over everything"));
    EXPECT_THAT(in_place("", ""), ElementsAre(""));
    EXPECT_THAT(arguments_in_place(0, nullptr), ElementsAre());
}

class OwnApplicationTest : public testing::Test {
  protected:
    // The probe under another name.
    std::string probe(const std::string &name) const {
        const std::string path = folder_ / name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::filesystem::copy_file(APPLICATION_PROBE, path);
        return path;
    }

    std::string script(const std::string &name, const std::string &interpreter) const {
        const std::string path = folder_ / name;
        std::ofstream(path) << "#!" << interpreter << " -u\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }

    TempDirectory folder_;
};

TEST_F(OwnApplicationTest, ThisProcessIsNamedAfterItsFile) {
    EXPECT_EQ(application_name(), "frontends_common_test");
    EXPECT_EQ(&application_name(), &application_name());
}

TEST_F(OwnApplicationTest, AnArgumentThatStandsForTheNameChangesNothing) {
    const std::string game = probe("game");
    EXPECT_EQ(name_said_by({game, {"another"}, {}}), "game");
    EXPECT_EQ(name_said_by({game, {"a/b c --d=/tmp/e"}, {}}), "game");
}

TEST_F(OwnApplicationTest, AProcessThatOverwritesItsArgumentsKeepsItsName) {
    const std::string game = probe("game");
    for (const char *number : {"1", "2"}) {
        EXPECT_EQ(
            name_said_by({game,
                          {game, "--type=gpu", "--user-data-dir=/tmp/profile"},
                          {std::string("PROBE_TITLE=") + game + " --x=/tmp/scoped_dir" + number}}),
            "game");
    }
}

TEST_F(OwnApplicationTest, AProcessThatPutsAnotherTextInPlaceOfAnArgumentKeepsItsName) {
    const std::string game = probe("game");
    EXPECT_EQ(name_said_by({game, {game}, {"PROBE_FIRST=a title"}}), "game");
    EXPECT_EQ(name_said_by({game, {game, "--one", "two"}, {"PROBE_FIRST=a title"}}), "game");
}

TEST_F(OwnApplicationTest, AProcessThatExecutesItselfAgainKeepsItsName) {
    std::filesystem::create_symlink(probe("game"), folder_ / "start");
    EXPECT_EQ(name_said_by({folder_ / "start", {"start"}, {}}), "game");
}

TEST_F(OwnApplicationTest, AProcessWhoseFileWasReplacedKeepsItsName) {
    const std::string game = probe("game");
    EXPECT_EQ(name_said_by({game, {"game"}, {"PROBE_DELETE=" + game}}), "game");
}

TEST_F(OwnApplicationTest, AScriptIsKnownHoweverItIsStarted) {
    const std::string python = probe("python3.11");
    const std::string game = script("game.py", python);
    EXPECT_EQ(name_said_by({game, {"whatever"}, {}}), "game.py");
    EXPECT_EQ(name_said_by({python, {"python3", "-u", game}, {}}), "game.py");
    EXPECT_EQ(name_said_by({python, {"python3", "-m", "game"}, {}}), "game");
    EXPECT_EQ(name_said_by({python, {"python3", "-c", "print(1)"}, {}}), "python3.11");
}

TEST_F(OwnApplicationTest, ATitleIsNotTakenForAScript) {
    const std::string python = probe("python3.11");
    const std::string game = script("game.py", python);
    const std::vector<std::string> title = {"PROBE_TITLE=game: worker 17"};
    EXPECT_EQ(name_said_by({game, {game, "argument"}, title}), "game.py");
    EXPECT_EQ(name_said_by({python, {"python3", "/some/where/game.py", "--long"}, title}),
              "python3.11");
    EXPECT_EQ(name_said_by({python, {"python3", "/some/where/game.py"}, {"PROBE_TITLE=w"}}),
              "python3.11");
}

TEST_F(OwnApplicationTest, WineIsNamedAfterTheWindowsProgram) {
    const std::string wine = probe("wine64-preloader");
    EXPECT_EQ(name_said_by({wine, {"wine64", "C:\\Games\\game.exe"}, {}}), "game.exe");
    // Wine moves its arguments up by one.
    EXPECT_EQ(name_said_by(
                  {wine, {"wine64", "C:\\Games\\game.exe"}, {"PROBE_TITLE=C:\\Games\\game.exe"}}),
              "game.exe");
}

TEST_F(OwnApplicationTest, WhatTheLoaderIsAskedToStartHasItsOwnName) {
    std::string loader;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *to) {
            const std::string name = info->dlpi_name;
            if (name.find("/ld") != std::string::npos) *static_cast<std::string *>(to) = name;
            return 0;
        },
        &loader);
    ASSERT_NE(loader, "");
    EXPECT_EQ(name_said_by({loader, {loader, "--library-path", "/none", probe("game")}, {}}),
              "game");
}

TEST_F(OwnApplicationTest, AnAppImageIsKnownByItsFileOnlyFromInside) {
    const std::string game = probe("mount/usr/bin/game");
    const std::string browser = probe("mountain/browser");
    std::filesystem::create_symlink(folder_ / "mount", folder_ / "link");
    const auto started = [&](const std::string &file, const std::string &mount) {
        return name_said_by(
            {file, {file}, {"APPIMAGE=/home/user/Game-1.AppImage", "APPDIR=" + mount}});
    };
    EXPECT_EQ(started(game, folder_ / "mount"), "Game-1.AppImage");
    EXPECT_EQ(started(game, folder_ / "link"), "Game-1.AppImage");
    EXPECT_EQ(started(browser, folder_ / "mount"), "browser");
    EXPECT_EQ(started(browser, "/"), "browser");
    EXPECT_EQ(started(browser, ""), "browser");
}

TEST_F(OwnApplicationTest, ElectronIsNamedAfterItsFolderOnlyWhereItHasAnApplication) {
    const std::string electron = probe("Chat/electron");
    std::filesystem::create_directories(folder_ / "Chat/resources/app");
    // Tests may run below a temporary folder, whose names say nothing, or below any other.
    const bool is_temporary = electron.starts_with("/tmp/") || electron.starts_with("/var/tmp/");
    EXPECT_EQ(name_said_by({electron, {electron}, {}}), is_temporary ? "electron" : "Chat");
    EXPECT_EQ(name_said_by({electron, {electron, "--user-data-dir=/home/user/.config/Chat"}, {}}),
              "Chat");
}

// As in a sandbox that has no /proc.
TEST_F(OwnApplicationTest, WithoutProcTheNameIsThatOfTheExecutedFile) {
    const std::string bubblewrap = "/usr/bin/bwrap";
    if (!std::filesystem::exists(bubblewrap)) GTEST_SKIP() << "bubblewrap is not installed";
    const std::string game = probe("game");
    std::filesystem::create_symlink(game, folder_ / "start");
    const auto inside = [&](const std::string &file) {
        return name_said_by(
            {bubblewrap,
             {"bwrap", "--bind", "/", "/", "--tmpfs", "/proc", "--", file, "argument"},
             {}});
    };
    if (inside(game).starts_with("failed")) GTEST_SKIP() << "bubblewrap may not run here";
    EXPECT_EQ(inside(game), "game");
    EXPECT_EQ(inside(folder_ / "start"), "game");
}

}  // namespace
}  // namespace cairn
