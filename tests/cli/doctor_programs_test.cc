// SPDX-License-Identifier: MIT
// `cairn doctor` on drivers that misbehave, and on applications of all kinds.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "doctor/driver_trial.h"
#include "doctor_support.h"
#include "support/eventually.h"

namespace cairn::cli_test {
namespace {

class DoctorDriverTest : public DoctorTest {
  protected:
    DoctorDriverTest() {
        // The drivers are the machine's own.
        machine_ = doctor::this_machine();
        machine_.executable = CAIRN_PROGRAM;
        machine_.patience_ms = 60'000;  // sanitizers and busy machines are slow
        asks_driver_ = true;
    }
    doctor::Findings look_at_driver() const {
        doctor::Findings findings;
        doctor::check_driver(doctor::Examined(machine_, "", true), findings);
        return findings;
    }
    // The driver that does harm, and then Mesa's.
    void use_bad_vendor(const std::string &harm) const {
        const std::string manifest = folder_ / "bad/10_bad.json";
        write(manifest,
              R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" DOCTOR_BAD_VENDOR
              "\"}}");
        set("__EGL_VENDOR_LIBRARY_FILENAMES",
            manifest + ":/usr/share/glvnd/egl_vendor.d/50_mesa.json");
        set("DOCTOR_VENDOR", harm);
    }
    ~DoctorDriverTest() override { unset("DOCTOR_VENDOR"); }

    static doctor::DriverAnswer answer(const std::string &text, int signal = 0, bool late = false) {
        doctor::Ended ended;
        ended.output = text;
        ended.signal = signal;
        ended.is_late = late;
        return doctor::answer_of(std::move(ended));
    }
    static constexpr const char *kGood =
        "platform=X11\nvendor=Somebody\nrenderer=Fast\nversion=4.6\nformats=1\nlinked=1\ndone=1\n";
};

TEST_F(DoctorDriverTest, TheDriverOfThisMachineKeepsAProgram) {
    const doctor::Findings findings = look_at_driver();
    EXPECT_FINDS(findings, "driver.offers", "EGL: llvmpipe");
    EXPECT_FINDS(findings, "driver.kept", "EGL");
    EXPECT_FINDS(findings, "driver.software", "llvmpipe");
    EXPECT_EQ(findings.count(doctor::Level::wrong), 0u) << all_of(findings);
    EXPECT_TRUE(fs::is_empty(root_)) << "in a folder of its own";
}

TEST_F(DoctorDriverTest, ADriverThatCrashesOrHangsIsAFinding) {
    use_bad_vendor("abort");
    EXPECT_FINDS(look_at_driver(), "driver.ends", "signal 6");
    use_bad_vendor("hang");
    machine_.patience_ms = 500;
    EXPECT_FINDS(look_at_driver(), "driver.hangs", "does not come back");
}

TEST_F(DoctorDriverTest, AKilledDoctorLeavesNothing) {
    const std::string temporary = folder_ / "temporary";
    fs::create_directory(temporary);
    use_bad_vendor("hang");
    for (const int signal : {SIGTERM, SIGKILL, SIGKILL, SIGKILL, SIGKILL, SIGKILL}) {
        Program killed({CAIRN_PROGRAM, "doctor"}, {{"TMPDIR", temporary}});
        ASSERT_TRUE(cairn_test::eventually([&] { return !fs::is_empty(temporary); }));
        ASSERT_EQ(::kill(killed.pid(), signal), 0);
        EXPECT_EQ(killed.wait(), 1000 + signal);
        EXPECT_TRUE(cairn_test::eventually([&] { return fs::is_empty(temporary); })) << signal;
    }
}

TEST_F(DoctorDriverTest, ACrashBehindTheFrontEndOnly) {
    use_bad_vendor("abort-behind");
    EXPECT_FINDS(look_at_driver(), "driver.front-end-ends", "signal 6");
}

TEST_F(DoctorDriverTest, NoDriverAtAll) {
    set("__EGL_VENDOR_LIBRARY_FILENAMES", folder_ / "nothing.json");
    EXPECT_FINDS(look_at_driver(), "driver.no-context");
}

TEST_F(DoctorDriverTest, ADriverWithoutProgramBinaries) {
    set("MESA_SHADER_CACHE_DISABLE", "true");
    const doctor::Findings findings = look_at_driver();
    EXPECT_FINDS(findings, "driver.no-binaries", "MESA_SHADER_CACHE_DISABLE is set");
    EXPECT_FINDS(findings, "driver.own-cache", "MESA_SHADER_CACHE_DISABLE");
    unset("MESA_SHADER_CACHE_DISABLE");
    doctor::DriverTrial trial;
    trial.alone = answer("renderer=Old GPU\nformats=0\ndone=1\n");
    doctor::Findings old;
    doctor::judge_egl(trial, old);
    EXPECT_FINDS(old, "driver.no-binaries", "Old GPU gives no");
}

TEST_F(DoctorDriverTest, AFrontEndThatIsNotInFrontOrKeepsNothing) {
    doctor::DriverTrial trial;
    trial.alone = trial.first = trial.second = answer(kGood);
    trial.was_tried = true;
    doctor::Findings passed_over;
    doctor::judge_egl(trial, passed_over);
    EXPECT_FINDS(passed_over, "driver.not-in-front", "EGL");
    // The library is there, but nothing is found again.
    std::string text = kGood;
    trial.first = trial.second = answer(text + "front=/x/libEGL_cairn.so.0\n");
    doctor::Findings lost;
    doctor::judge_egl(trial, lost);
    EXPECT_FINDS(lost, "driver.not-kept", "EGL");
    set("MESA_SHADER_READ_PATH", "/sources");
    doctor::Findings replaced;
    doctor::judge_egl(trial, replaced);
    EXPECT_THAT(all_of(replaced), testing::HasSubstr("-> unset MESA_SHADER_READ_PATH"));
    trial.second = answer("stage=linking a program\n", 11);
    doctor::Findings crashed;
    doctor::judge_egl(trial, crashed);
    EXPECT_FINDS(crashed, "driver.front-end-ends", "linking a program");
    trial.first = trial.second = answer(text + "front=/x/libGLX_cairn.so.0\n");
    trial.hits = 1;
    doctor::Findings served;
    doctor::judge_glx(trial, served);
    EXPECT_FINDS(served, "driver.kept", "GLX");
}

// The front end is there, and GLVND is led past it, as where an application sets the variables itself.
TEST_F(DoctorDriverTest, AFrontEndThatGlvndPassesOver) {
    write(installed_ + "/cairn_egl.json",
          R"({"ICD": {"library_path": ")" + (folder_ / "no.so") + "\"}}");
    write(folder_ / "no.so", "");
    EXPECT_FINDS(look_at_driver(), "driver.not-in-front");
}

TEST_F(DoctorDriverTest, XServers) {
    set("DISPLAY", ":4711");
    EXPECT_FINDS(look_at_driver(), "driver.no-x-server", ":4711");
    doctor::DriverTrial trial;
    trial.alone = answer("problem=no context can be had\ndone=1\n");
    doctor::Findings findings;
    doctor::judge_glx(trial, findings);
    EXPECT_FINDS(findings, "driver.no-glx-context", "no context can be had");
}

TEST_F(DoctorDriverTest, WithoutTemporaryFilesItIsNotAsked) {
    doctor::DriverTrial trial;
    trial.alone = answer(kGood);
    trial.was_asked = true;
    trial.problem = "no counters can be had";
    doctor::Findings findings;
    doctor::judge_egl(trial, findings);
    EXPECT_FINDS(findings, "driver.not-asked", "no counters");
    // Where nothing can be written at all.
    Program probe({"bwrap", "--ro-bind", "/", "/", "true"}, {});
    if (probe.wait() != 0) GTEST_SKIP() << "no container can be had";
    Program program({"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--remount-ro", "/dev",
                     CAIRN_PROGRAM, "doctor"},
                    {{"CAIRN_DIR", root_}});
    EXPECT_EQ(program.wait(), 1);
    EXPECT_THAT(program.standard_output(), testing::HasSubstr("driver.not-asked"));
    EXPECT_THAT(program.standard_output(), testing::HasSubstr("directories.not-writable"));
    EXPECT_THAT(program.standard_output(), testing::Not(testing::HasSubstr("driver.ends")));
}

TEST_F(DoctorDriverTest, WhereNoProcessCanBeStartedNobodyBlamesTheDriver) {
    EXPECT_EQ(doctor::run_with_patience({"/nothing"}, {}, 1000).start_error, ENOENT);
    doctor::DriverTrial trial;
    trial.was_asked = true;
    trial.alone.ended.start_error = EAGAIN;
    doctor::Findings findings;
    doctor::judge_egl(trial, findings);
    EXPECT_FINDS(findings, "driver.not-asked", "no process can be started");
    EXPECT_EQ(findings.count(doctor::Level::wrong), 0u) << all_of(findings);
}

TEST_F(DoctorDriverTest, AServerThatDoesNotAnswerIsNoFaultOfTheDriver) {
    doctor::DriverTrial trial;
    trial.was_asked = true;
    trial.alone = answer("stage=opening a display, of X11\n");
    trial.alone.ended.is_late = true;
    doctor::Findings findings;
    doctor::judge_egl(trial, findings);
    EXPECT_FINDS(findings, "driver.hangs", "of X11");
    EXPECT_THAT(all_of(findings), testing::HasSubstr("whether the server answers"));
    trial.alone = answer("stage=opening the X display\n");
    trial.alone.ended.is_late = true;
    doctor::Findings glx;
    doctor::judge_glx(trial, glx);
    EXPECT_THAT(all_of(glx), testing::HasSubstr("whether the server answers"));
    trial.alone = answer("stage=linking a program\n");
    trial.alone.ended.is_late = true;
    doctor::Findings links;
    doctor::judge_egl(trial, links);
    EXPECT_THAT(all_of(links), testing::Not(testing::HasSubstr("server")));
}

TEST_F(DoctorDriverTest, DriversOwnCaches) {
    set("__GL_SHADER_DISK_CACHE", "0");
    set("MESA_SHADER_CACHE_DIR", "/mesa");
    doctor::Findings findings;
    doctor::check_own_caches(findings);
    EXPECT_FINDS(findings, "driver.own-cache", "NVIDIA");
    EXPECT_FINDS(findings, "driver.own-cache", "/mesa");
}

class DoctorApplicationTest : public DoctorTest {
  protected:
    std::string make(const std::string &name, const ElfText &elf) const {
        const std::string path = programs_ + "/" + name;
        write_elf(path, elf);
        return path;
    }
    std::string script(const std::string &name, const std::string &text) const {
        const std::string path = programs_ + "/" + name;
        write(path, text);
        fs::permissions(path, fs::perms::owner_all);
        return path;
    }
};

TEST_F(DoctorApplicationTest, WhatItIsLinkedWithDecidesWhichFrontEndServesIt) {
    EXPECT_FINDS(look(make("egl", program({"libEGL.so.1"}))), "application.served",
                 "EGL front end");
    EXPECT_FINDS(look(make("gl", program({"libGL.so.1"}))), "application.served", "GLX front end");
    EXPECT_FINDS(look(make("both", program({"libEGL.so.1", "libGL.so.1"}))), "application.served",
                 "EGL and GLX");
    library("libengine.so.1", {"libEGL.so.1"});
    EXPECT_FINDS(look(make("by_engine", program({"libengine.so.1"}))), "application.served", "EGL");
    library("libSDL2-2.0.so.0");
    EXPECT_FINDS(look(make("sdl", program({"libSDL2-2.0.so.0"}))), "application.may-load", "SDL 2");
    ElfText loads = program({"libc.so.6"});
    loads.more = "dlopen libGL.so.1";
    EXPECT_FINDS(look(make("loads", loads)), "application.may-load", "loads them when it runs");
    library("libvulkan.so.1");
    EXPECT_FINDS(look(make("vulkan", program({"libvulkan.so.1"}))), "application.vulkan");
    EXPECT_FINDS(look(make("tool", program({"libc.so.6"}))), "application.no-gl");
    // By its name, too.
    set("PATH", folder_ / "gone" + ":" + programs_);
    EXPECT_FINDS(look("egl"), "application.served", "EGL front end");
}

TEST_F(DoctorApplicationTest, WhatBringsItsOwnLibraries) {
    ElfText bundled = program({"libEGL.so.1"});
    bundled.run_path = "$ORIGIN/own";
    write_elf(programs_ + "/own/libEGL.so.1", program({}));
    EXPECT_FINDS(look(make("bundled", bundled)), "application.own-gl", "own/libEGL.so.1");
    write(programs_ + "/electron/icudtl.dat", "");
    write_elf(programs_ + "/electron/libEGL.so", program({}));
    const doctor::Findings browser = look(make("electron/app", program({"libc.so.6"})));
    EXPECT_FINDS(browser, "application.browser");
    EXPECT_FALSE(browser.has(doctor::Id::app_own_gl)) << "it is ANGLE's";
}

TEST_F(DoctorApplicationTest, WhatCannotBeServed) {
    EXPECT_FINDS(look("no_such_program"), "application.missing");
    EXPECT_FINDS(look("./weird\x1b[31m/\n"), "application.missing");
    write(programs_ + "/text", "hello");
    EXPECT_FINDS(look(programs_ + "/text"), "application.not-executable", "may not be executed");
    EXPECT_FINDS(look(script("data", "hello")), "application.not-executable", "no program");
    ElfText still = program({});
    still.is_dynamic = still.has_interpreter = false;
    EXPECT_FINDS(look(make("static", still)), "application.static");
    ElfText other = program({"libEGL.so.1"});
    other.machine = 243;  // EM_RISCV
    EXPECT_FINDS(look(make("riscv", other)), "application.other-machine");
    if (program({}).is_64_bit) {
        other.is_64_bit = false;
        other.machine = 3;  // EM_386
        EXPECT_FINDS(look(make("old_game", other)), "application.32-bit");
    }
    EXPECT_FINDS(look(make("lacking", program({"libgone.so.1"}))), "application.library-missing",
                 "libgone.so.1");
    const std::string other_user = make("setuid", program({"libEGL.so.1"}));
    claimed_findings().insert("application.other-rights");
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(other_user.c_str(), 65534, 65534), 0);
        ASSERT_EQ(::chmod(other_user.c_str(), 04755), 0);
        EXPECT_FINDS(look(other_user), "application.other-rights");
    }
}

TEST_F(DoctorApplicationTest, WhatStartsSomethingElse) {
    EXPECT_FINDS(look(script("plain", "#!/bin/sh\nexec game\n")), "application.script", "/bin/sh");
    EXPECT_FINDS(look(script("flat", "#!/bin/sh\nexec flatpak run org.game\n")),
                 "application.flatpak");
    EXPECT_FINDS(look(script("snapped", "#!/bin/sh\nexec /snap/bin/game\n")), "application.snap");
    // As they are linked into PATH.
    const std::string snap = make("snap", program({"libc.so.6"}));
    fs::create_symlink(snap, programs_ + "/snapped_game");
    EXPECT_FINDS(look(programs_ + "/snapped_game"), "application.snap", "snapped_game");
    EXPECT_FINDS(look(script("flatpak/exports/bin/org.game", "#!/bin/sh\n")), "application.flatpak",
                 "org.game");
    ElfText image = program({"libc.so.6"});
    const std::string path = make("game.AppImage", image);
    std::string bytes = read_file(path);
    bytes.replace(8, 3, "AI\x02");
    write(path, bytes);
    EXPECT_FINDS(look(path), "application.appimage");
}

TEST_F(DoctorApplicationTest, WhatIsKnownOfItByName) {
    const std::string game = make("game", program({"libEGL.so.1"}));
    EXPECT_FINDS(look(game), "application.never-seen", "game");
    configure("[application game]\nenabled = 0\nlimit = 2G\n");
    EXPECT_FINDS(look(game), "application.off", "enabled = 0");
    EXPECT_FINDS(look(game), "application.limit", "2.0 GiB");
    EXPECT_FINDS(look(make("sway", program({"libEGL.so.1"}))), "application.off", "compositor");
    configure("");
    // A real one, which then has runs.
    ASSERT_EQ(run({"run", "-q", "--", CLI_VIEW_CLIENT}).exit_code, 0);
    machine_ = doctor::this_machine();
    machine_.executable = CAIRN_PROGRAM;
    EXPECT_FINDS(look(CLI_VIEW_CLIENT), "application.runs", "cli_view_client");
    EXPECT_FINDS(look("cli_view_client"), "application.runs", "cli_view_client");
    EXPECT_FINDS(look("cli_view_clent"), "application.missing", "did you mean `cli_view_client`?");
}

TEST_F(DoctorApplicationTest, HostileFilesAreReadNoFurtherThanTheyGo) {
    const std::string whole = read_file(make("whole", program({"libEGL.so.1", "libGL.so.1"})));
    for (std::size_t size = 0; size <= whole.size(); size += 3) {
        (void)doctor::read_elf(script("cut", whole.substr(0, size)));
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(~static_cast<unsigned char>(changed[at]));
        const std::string path = script("changed", changed);
        const auto elf = doctor::read_elf(path);
        EXPECT_LE(elf ? elf->needed.size() : 0, 4u) << at;
    }
    // No end of libraries, each to be looked for in no end of folders.
    ElfText endless = program({});
    for (int i = 0; i < 2000; ++i) endless.needed.push_back("lib" + std::to_string(i) + ".so");
    for (int i = 0; i < 2000; ++i) endless.run_path.append("a:");
    const auto elf = doctor::read_elf(make("endless", endless));
    ASSERT_TRUE(elf);
    EXPECT_LE(elf->needed.size(), 512u);
    EXPECT_LE(elf->run_paths.size(), 64u);
    EXPECT_FINDS(look(programs_ + "/endless"), "application.library-missing", "lib0.so");
    // Names may lie across the parts in which a program's text is read.
    ElfText far = program({"libc.so.6"});
    far.more =
        std::string((1u << 20) - read_file(make("near", far)).size() - 5, ' ') + "libGL.so.1";
    EXPECT_FINDS(look(make("far", far)), "application.may-load", "loads them when it runs");
    ASSERT_EQ(::mkfifo((programs_ + "/fifo").c_str(), 0700), 0);
    EXPECT_FALSE(doctor::read_elf(programs_ + "/fifo"));
    EXPECT_FINDS(look(programs_ + "/fifo"), "application.missing");
    EXPECT_FINDS(look(programs_), "application.missing");
}

}  // namespace
}  // namespace cairn::cli_test
