// SPDX-License-Identifier: MIT
#include "common/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

std::string name_of(const std::string &file, const std::vector<std::string> &arguments = {}) {
    ProcessStart start;
    start.file = file;
    start.arguments = arguments;
    start.folder = "/home/user/project";
    return application_of(start);
}

std::string electron(const std::vector<std::string> &arguments, bool has_app = false,
                     const std::string &file = "/usr/lib/electron27/electron") {
    ProcessStart start;
    start.file = file;
    start.arguments = arguments;
    start.folder = "/home/user/project";
    start.has_app = has_app;
    return application_of(start);
}

TEST(ApplicationTest, AProcessIsNamedAfterItsExecutableFile) {
    EXPECT_EQ(name_of("/usr/bin/glmark2"), "glmark2");
    EXPECT_EQ(name_of("/opt/game/bin/game.x86_64", {"./start"}), "game.x86_64");
    EXPECT_EQ(name_of("/usr/lib/chromium/chromium",
                      {"/usr/lib/chromium/chromium --type=gpu-process /tmp/egl-scoped_dirF51Vd5"}),
              "chromium");
    EXPECT_EQ(name_of("/usr/bin/program", {}), "program");
    EXPECT_EQ(name_of("/tmp/.mount_GameX1/usr/bin/game"), "game");
}

TEST(ApplicationTest, WhatMayNotBeInANameIsReplaced) {
    EXPECT_EQ(name_of("/bin/a game\n\"x\" \xC3\xBC"), "a_game__x____");
    EXPECT_EQ(name_of("/nix/store/hash/bin/.game-wrapped"), "game-wrapped");
    EXPECT_EQ(name_of("/memfd:game"), "memfd_game");
}

TEST(ApplicationTest, ThereIsAlwaysAName) {
    for (const char *file : {"", "/", "/bin/..", "/bin/...", "/bin/."}) {
        EXPECT_EQ(name_of(file), "program") << file;
    }
}

TEST(ApplicationTest, ALongNameIsCutAndStillTold) {
    const std::string common(100, 'x');
    const std::string one = name_of("/bin/" + common + "1");
    EXPECT_EQ(one.size(), kApplicationNameMax);
    EXPECT_THAT(one, testing::MatchesRegex("x{47}-[0-9a-f]{8}"));
    EXPECT_NE(one, name_of("/bin/" + common + "2"));
    EXPECT_EQ(one, name_of("/usr/bin/" + common + "1")) << "the folder is no part of it";
    const std::string longest(kApplicationNameMax, 'y');
    EXPECT_EQ(name_of("/bin/" + longest), longest);
}

TEST(ApplicationTest, AnAppImageGoesByItsOwnFile) {
    ProcessStart start;
    start.file = "/tmp/.mount_GameX1/usr/bin/python3.11";
    start.arguments = {"python3", "game.py"};
    start.app_image = "/home/user/Some Game-1.2.AppImage";
    EXPECT_EQ(application_of(start), "Some_Game-1.2.AppImage");
}

TEST(ApplicationTest, WhatTheSystemHadInterpretedGoesByItsFile) {
    ProcessStart start;
    start.file = "/usr/bin/gjs-console";
    start.called = "/usr/bin/org.gnome.Maps";
    start.arguments = {"a title"};
    EXPECT_EQ(application_of(start), "org.gnome.Maps");
}

TEST(ApplicationTest, AWindowsProgramGoesByItsFile) {
    const std::string loader = "/usr/lib/wine/wine64-preloader";
    EXPECT_EQ(name_of(loader, {"C:\\Some Games\\game.exe"}), "game.exe");
    EXPECT_EQ(name_of(loader, {"Z:/games\\dir/game.exe", "-window"}), "game.exe");
    EXPECT_EQ(name_of(loader, {"/usr/lib/wine/wine64", "game.exe"}), "game.exe");
    EXPECT_EQ(name_of("/opt/wine/bin/wine", {"wine", "/home/user/game.exe"}), "game.exe");
    EXPECT_EQ(name_of(loader, {"wine64-preloader", "/usr/bin/wine64", "game.exe"}), "game.exe");
    EXPECT_EQ(name_of(loader, {"wine64"}), "wine64-preloader");
}

TEST(ApplicationTest, AnInterpreterGoesByItsScript) {
    EXPECT_EQ(name_of("/usr/bin/python3.11", {"python3", "-u", "/opt/tool/game.py", "-m"}),
              "game.py");
    EXPECT_EQ(name_of("/usr/bin/python3.11", {"python3", "-c", "print()"}), "python3.11");
    EXPECT_EQ(name_of("/usr/bin/python3.11", {"a title that was set"}), "python3.11");
    EXPECT_EQ(name_of("/usr/bin/love", {"love", "../games/mygame/"}), "mygame");
    EXPECT_EQ(name_of("/usr/bin/love", {"love", "."}), "project");
    EXPECT_EQ(name_of("/usr/bin/love", {"love", ".."}), "love");
}

TEST(ApplicationTest, InterpretersMayRunInterpreters) {
    EXPECT_EQ(name_of("/usr/lib/ld-linux-x86-64.so.2", {"/usr/bin/python3.11", "game.py"}),
              "game.py");
    EXPECT_EQ(name_of("/usr/bin/box64", {"box64", "/opt/wine64", "C:\\game.exe"}), "game.exe");
    EXPECT_EQ(name_of("/usr/bin/box64", {"box64", "box64", "box64", "box64", "box64", "box64"}),
              "box64");
}

TEST(ApplicationTest, ElectronGoesByItsApplication) {
    EXPECT_EQ(electron({"electron", "/usr/lib/chat/app.asar"}), "chat");
    EXPECT_EQ(electron({"electron", "--no-sandbox", "/usr/lib/chat/resources/app"}), "chat");
    EXPECT_EQ(electron({"electron", "/usr/lib/chat/"}), "chat");
    EXPECT_EQ(electron({"electron", "."}), "project");
    EXPECT_EQ(electron({"electron", "app.asar"}), "electron");
    EXPECT_EQ(electron({"electron"}), "electron");
    EXPECT_EQ(electron({}, true, "/opt/Some Chat/electron"), "Some_Chat");
    EXPECT_EQ(electron({}, true, "/opt/chat/chat-desktop"), "chat-desktop");
}

TEST(ApplicationTest, ElectronsProcessesGoByTheFolderOfItsSettings) {
    EXPECT_EQ(electron({"/usr/lib/electron27/electron --type=gpu-process "
                        "--user-data-dir=/home/user/.config/Code - OSS --gpu-preferences=A"}),
              "Code_-_OSS");
    EXPECT_EQ(electron({"electron", "--user-data-dir=/home/user/.config/Chat"}), "Chat");
}

TEST(ApplicationTest, ElectronIsNotNamedAfterATemporaryFolder) {
    EXPECT_EQ(electron({}, true, "/tmp/.mount_ChatX1/electron"), "electron");
    EXPECT_EQ(electron({"electron", "/tmp/.mount_ChatX1/resources/app.asar"}), "electron");
    EXPECT_EQ(electron({"electron --user-data-dir=/tmp/scoped_dir1"}), "electron");
}

}  // namespace
}  // namespace cairn
