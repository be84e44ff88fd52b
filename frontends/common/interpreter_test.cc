// SPDX-License-Identifier: MIT
#include "common/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

// The script that the command runs; "itself" where its file is no interpreter's.
std::string run_by(const std::vector<std::string> &command) {
    const Interpreter *interpreter = find_interpreter(command.front());
    return interpreter == nullptr ? "itself" : interpreted(*interpreter, command).program;
}

TEST(InterpreterTest, AnInterpreterIsKnownInEachVersion) {
    for (const char *name : {"python",
                             "python3",
                             "python3.11",
                             "python3.11-dbg",
                             "pypy3",
                             "perl5.36.0",
                             "luajit-2.1.0-beta3",
                             "ld-linux-x86-64.so.2",
                             "ld-linux-aarch64.so.1",
                             "ld-2.31.so",
                             "ld-linux.so.2",
                             "wine",
                             "wine64",
                             "wine64-preloader",
                             "wine-preloader",
                             "box64",
                             "Godot_v4.2-stable_linux.x86_64",
                             "love-11.4",
                             "electron27",
                             "mono-sgen"}) {
        EXPECT_NE(find_interpreter(name), nullptr) << name;
    }
    for (const char *name :
         {"", "2048", "ruby-quest", "node3d", "java2d-demo", "winecfg", "wineserver", "love-letter",
          "luatex", "chromium", "pythonw", "lightbox64", "box", "box2d"}) {
        EXPECT_EQ(find_interpreter(name), nullptr) << name;
    }
}

TEST(InterpreterTest, OptionsArePassedOver) {
    EXPECT_EQ(run_by({"python3", "-u", "-W", "ignore", "-Xdev", "a.py", "b.py"}), "a.py");
    EXPECT_EQ(run_by({"python3", "-BX", "dev", "--check-hash-based-pycs", "never", "a.py"}),
              "a.py");
    EXPECT_EQ(run_by({"python3", "--", "-odd.py"}), "-odd.py");
    EXPECT_EQ(run_by({"perl", "-w", "-I", "lib", "-Ilib", "-MFile::Temp", "-i.bake", "a.pl"}),
              "a.pl");
    EXPECT_EQ(run_by({"ruby", "-rset", "-r", "json", "-W0", "a.rb"}), "a.rb");
    EXPECT_EQ(run_by({"lua5.4", "-e", "x = 1", "-l", "m", "a.lua"}), "a.lua");
    EXPECT_EQ(run_by({"node", "--max-old-space-size=4", "-r", "m", "--require", "m", "a.js"}),
              "a.js");
    EXPECT_EQ(run_by({"gjs", "-m", "-I", "lib", "a.js"}), "a.js");
    EXPECT_EQ(run_by({"mono", "--debug", "--config", "c", "a.exe"}), "a.exe");
    EXPECT_EQ(run_by({"dotnet", "--depsfile", "d", "a.dll"}), "a.dll");
    EXPECT_EQ(run_by({"electron", "--no-sandbox", "-r", "m", "folder"}), "folder");
}

TEST(InterpreterTest, AProgramMayBeTheValueOfAnOption) {
    EXPECT_EQ(run_by({"python3", "-m", "package.tool", "x"}), "package.tool");
    EXPECT_EQ(run_by({"python3", "-Imtool"}), "tool");
    EXPECT_EQ(run_by({"java", "-Xmx1G", "-cp", "a:b", "-Dx=y", "-jar", "a.jar", "b"}), "a.jar");
    EXPECT_EQ(run_by({"java", "@options", "-p", "mods", "-m", "m/org.example.Main"}),
              "m/org.example.Main");
    EXPECT_EQ(run_by({"java", "--module=m/org.example.Main"}), "m/org.example.Main");
    EXPECT_EQ(run_by({"java", "-classpath", "a", "org.example.Main"}), "org.example.Main");
    EXPECT_EQ(run_by({"godot", "--rendering-driver", "opengl3", "--main-pack", "a.pck"}), "a.pck");
    EXPECT_EQ(run_by({"godot4", "--path", "game", "scene.tscn"}), "game");
}

TEST(InterpreterTest, AProgramMayHaveNoFile) {
    for (const std::vector<std::string> &command :
         std::vector<std::vector<std::string>>{{"python3"},
                                               {"python3", "-c", "a", "b"},
                                               {"python3", "-uc", "a"},
                                               {"python3", "-"},
                                               {"python3", "-m"},
                                               {"python3", "-W"},
                                               {"python3", "--"},
                                               {"perl", "-we", "a", "b"},
                                               {"node", "-pe", "a"},
                                               {"node", "--eval=a", "b"},
                                               {"godot", "scene.tscn"},
                                               {"godot", "--", "a"},
                                               {"wine64", "wine64"}}) {
        EXPECT_EQ(run_by(command), "") << testing::PrintToString(command);
    }
    const Interpreter *interpreter = find_interpreter("wine");
    ASSERT_NE(interpreter, nullptr);
    EXPECT_EQ(interpreted(*interpreter, {}).program, "");
}

TEST(InterpreterTest, TheRestAreTheProgramsArguments) {
    const std::vector<std::string> command = {"box64", "python3", "-u", "a.py"};
    const Interpreted found = interpreted(*find_interpreter("box64"), command);
    EXPECT_THAT(found.arguments, testing::ElementsAre("python3", "-u", "a.py"));
}

}  // namespace
}  // namespace cairn
