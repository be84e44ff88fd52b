// SPDX-License-Identifier: MIT
// `cairn doctor` on broken installations, systems and sessions.
#include <sys/stat.h>
#include <unistd.h>

#include "doctor_support.h"

namespace cairn::cli_test {
namespace {

using doctor::Level;
using testing::HasSubstr;

class DoctorPartsTest : public DoctorTest {
  protected:
    const std::string egl_ = installed_ + "/libEGL_cairn.so.0";
    const std::string glx_ = installed_ + "/cairn/libGLX_cairn.so.0";
    const std::string conf_ = home_ + "/.config/environment.d/50-cairn.conf";
    const std::string shell_ = home_ + "/.xsessionrc";

    Finished enable() const { return run({"enable"}); }
};

TEST_F(DoctorPartsTest, AHealthyMachineHasNothingWrong) {
    const doctor::Findings findings = look();
    EXPECT_EQ(findings.count(Level::wrong), 0u) << all_of(findings);
    EXPECT_EQ(findings.count(Level::warning), 0u) << all_of(findings);
}

TEST_F(DoctorPartsTest, FrontEndsThatAreMissingOrBroken) {
    write(folder_ / "empty", "");
    set("CAIRN_EGL_MANIFEST", folder_ / "nothing.json");
    EXPECT_FINDS(look(), "installation.no-front-end", "cannot be read");
    unset("CAIRN_EGL_MANIFEST");
    machine_.executable = programs_ + "/bin/cairn";
    write_elf(machine_.executable, program({}));
    EXPECT_FINDS(look(), "installation.no-front-end", "is not installed beside");
    EXPECT_FINDS(look(), "installation.parts-missing", "cairn-agent");
    set("CAIRN_EGL_MANIFEST", installed_ + "/cairn_egl.json");

    fs::remove(installed_ + "/last/cairn_egl_last.json");
    EXPECT_FINDS(look(), "installation.no-last", "cairn_egl_last.json");
    fs::remove(glx_);
    EXPECT_FINDS(look(), "installation.no-glx", "libGLX_cairn.so.0 is not installed");
    write(glx_, "no library");
    EXPECT_FINDS(look(), "installation.glx-broken", "cannot be loaded");
    fs::remove(egl_);
    EXPECT_FINDS(look(), "installation.no-front-end", egl_);
    auto broken = program({"libnot_there.so.7"});
    write_elf(egl_, broken);
    EXPECT_FINDS(look(), "installation.front-end-broken", "missing: libnot_there.so.7");
    broken.is_64_bit = !broken.is_64_bit;
    write_elf(egl_, broken);
    EXPECT_FINDS(look(), "installation.front-end-bits", egl_);
}

TEST_F(DoctorPartsTest, AManifestMayNameALibraryThatTheLoaderFinds) {
    write(installed_ + "/cairn_egl.json", R"({"ICD": {"library_path": "libEGL_cairn.so.0"}})");
    EXPECT_FINDS(look(), "installation.front-end-broken", "which the loader does not find");
    set("LD_LIBRARY_PATH", installed_);
    EXPECT_FALSE(look().has(doctor::Id::front_end_broken)) << all_of(look());
}

TEST_F(DoctorPartsTest, PartsOfAnotherVersion) {
    const std::string other = installed_ + "/libEGL_cairn.so.0.99.1";
    fs::copy_file(CLI_FRONT_END, other);
    fs::remove(egl_);
    fs::create_symlink(other, egl_);
    EXPECT_FINDS(look(), "installation.versions-differ", "0.99.1");
    write_elf(libraries_ + "/libcairn.so.1.99.1", program({}));
    fs::create_symlink("libcairn.so.1.99.1", libraries_ + "/libcairn.so.1");
    EXPECT_FINDS(look(), "installation.library-differs", "99.1");
}

TEST_F(DoctorPartsTest, ThirtyTwoBits) {
    if (!program({}).is_64_bit) GTEST_SKIP() << "of 64-bit machines";
    ElfText small = program({});
    small.is_64_bit = false;
    small.machine = 3;  // EM_386
    write_elf(system_ + "/usr/lib/i386-linux-gnu/libEGL_mesa.so.0", small);
    EXPECT_FINDS(look(), "installation.no-32-bit", "libEGL_mesa.so.0");
    write(installed_ + "/i386/cairn_egl.json", R"({"ICD": {"library_path": "/gone.so"}})");
    EXPECT_FINDS(look(), "installation.32-bit-broken", "/gone.so");
    write(installed_ + "/i386/cairn_egl.json", R"({"ICD": {"library_path": ")" + egl_ + "\"}}");
    EXPECT_FINDS(look(), "installation.32-bit-broken", "no library of 32 bits");
}

TEST_F(DoctorPartsTest, ASystemWithoutGlvnd) {
    library("libGL.so.1", {"libc.so.6"});
    EXPECT_FINDS(look(), "glvnd.not-glvnd", "libGL.so.1");
    for (const char *name : {"libEGL.so.1", "libGLX.so.0"}) fs::remove(libraries_ + "/" + name);
    EXPECT_FINDS(look(), "glvnd.no-egl", "libEGL.so.1");
    EXPECT_FINDS(look(), "glvnd.no-glx", "libGLX.so.0");
}

TEST_F(DoctorPartsTest, TheLoadersOwnListIsFollowed) {
    fs::create_directories(system_ + "/opt/gl");
    fs::rename(libraries_ + "/libEGL.so.1", system_ + "/opt/gl/libEGL.so.1");
    EXPECT_FINDS(look(), "glvnd.no-egl");
    machine_.ask = [](const cli::Words &command) {
        return command.front() == "/sbin/ldconfig"
                   ? "\tlibEGL.so.1 (libc6,x86-64) => /opt/gl/libEGL.so.1\n"
                   : "";
    };
    EXPECT_FALSE(look().has(doctor::Id::no_egl));
}

TEST_F(DoctorPartsTest, DriversThatAreMissingOrBroken) {
    fs::remove(libraries_ + "/libGLX_mesa.so.0");
    EXPECT_FINDS(look(), "glvnd.no-glx-vendor");
    library("libEGL_mesa.so.0", {"libLLVM-99.so.1"});
    EXPECT_FINDS(look(), "glvnd.vendor-unresolved", "libLLVM-99.so.1");
    fs::remove(libraries_ + "/libEGL_mesa.so.0");
    EXPECT_FINDS(look(), "glvnd.vendor-missing", "libEGL_mesa.so.0");
    EXPECT_FINDS(look(), "glvnd.no-vendor");
    // Another machine's driver is none.
    ElfText other = program({});
    other.machine = 243;  // EM_RISCV
    write_elf(libraries_ + "/other.so", other);
    write(manifests_ + "/50_mesa.json", R"({"ICD": {"library_path": "/usr/lib/other.so"}})");
    EXPECT_FINDS(look(), "glvnd.no-vendor");
    EXPECT_FALSE(look().has(doctor::Id::vendor_missing));
}

TEST_F(DoctorPartsTest, HostileManifestsAreFindings) {
    write(manifests_ + "/10_garbage.json", "{\"ICD\": {\"library_path\": 7");
    EXPECT_FINDS(look(), "glvnd.manifest-damaged", "10_garbage.json");
    ASSERT_EQ(::mkfifo((manifests_ + "/11_fifo.json").c_str(), 0600), 0);
    EXPECT_FINDS(look(), "glvnd.manifest-damaged", "11_fifo.json");
    write(manifests_ + "/12_huge.json", std::string(1 << 20, '['));
    EXPECT_FINDS(look(), "glvnd.manifest-damaged", "12_huge.json");
    fs::create_directory(manifests_ + "/13_folder.json");
    EXPECT_FINDS(look(), "glvnd.manifest-damaged", "13_folder.json");
    // The front end's own, too.
    fs::remove(installed_ + "/cairn_egl.json");
    ASSERT_EQ(::mkfifo((installed_ + "/cairn_egl.json").c_str(), 0600), 0);
    EXPECT_FINDS(look(), "installation.no-front-end", "is not a manifest");
    for (int i = 0; i < 100; ++i) {
        write(manifests_ + "/20_" + std::to_string(i) + ".json", "?");
    }
    EXPECT_FINDS(look(), "glvnd.manifest-damaged", "there are more of these");
}

TEST_F(DoctorPartsTest, VariablesThatLeadNowhere) {
    set("__EGL_VENDOR_LIBRARY_FILENAMES", "/gone/50_mesa.json:" + manifests_ + "/50_mesa.json");
    EXPECT_FINDS(look(), "glvnd.names-missing", "/gone/50_mesa.json");
    set("__EGL_VENDOR_LIBRARY_FILENAMES", "/old/share/cairn/cairn_egl.json");
    EXPECT_FINDS(look(), "glvnd.cairn-moved", "/old/share/cairn/cairn_egl.json");
    unset("__EGL_VENDOR_LIBRARY_FILENAMES");
    set("__EGL_VENDOR_LIBRARY_DIRS", "/old/share/cairn:" + manifests_);
    EXPECT_FINDS(look(), "glvnd.cairn-moved", "/old/share/cairn");
    set("__GLX_VENDOR_LIBRARY_NAME", "nowhere");
    EXPECT_FINDS(look(), "glvnd.glx-vendor-missing", "libGLX_nowhere.so.0");
    set("CAIRN_GLX_VENDOR", "../mesa");
    EXPECT_FINDS(look(), "glvnd.glx-vendor-missing", "CAIRN_GLX_VENDOR is `../mesa`");
}

TEST_F(DoctorPartsTest, LibrariesBeforeThoseOfTheSystem) {
    write_elf(programs_ + "/libGL.so.1", program({}));
    set("LD_LIBRARY_PATH", programs_);
    EXPECT_FINDS(look(), "glvnd.own-libraries", programs_ + "/libGL.so.1");
    EXPECT_FINDS(look(), "glvnd.not-glvnd", programs_ + "/libGL.so.1");
    unset("LD_LIBRARY_PATH");
    // The loader of the programs that doctor starts passes over both.
    write(programs_ + "/libMangoHud.so", "");
    set("LD_PRELOAD", programs_ + "/libMangoHud.so:/gone/overlay.so");
    const doctor::Findings findings = look();
    unset("LD_PRELOAD");
    EXPECT_FINDS(findings, "glvnd.preload", "libMangoHud.so");
    EXPECT_FINDS(findings, "glvnd.preload-missing", "/gone/overlay.so");
    system_file("/etc/ld.so.preload", "libvglfaker.so\n");
    EXPECT_FINDS(look(), "glvnd.preload", "/etc/ld.so.preload names libvglfaker.so");
}

TEST_F(DoctorPartsTest, SessionsOffAndOn) {
    EXPECT_FINDS(look(), "session.off");
    ASSERT_EQ(enable().exit_code, 0);
    const doctor::Findings enabled = look();
    EXPECT_FINDS(enabled, "session.log-in-again", "EGL");
    EXPECT_FINDS(enabled, "session.no-glx", "libGLX_cairn.so.0");
    EXPECT_FALSE(enabled.has(doctor::Id::session_stale)) << all_of(enabled);
    // In a session that has its own list.
    set("__EGL_VENDOR_LIBRARY_FILENAMES", manifests_ + "/50_mesa.json");
    EXPECT_FINDS(look(), "glvnd.left-out", "__EGL_VENDOR_LIBRARY_FILENAMES");
    unset("__EGL_VENDOR_LIBRARY_FILENAMES");
    // Another list than at the time of `cairn enable`.
    set("__EGL_VENDOR_LIBRARY_DIRS", installed_ + ":" + manifests_);
    EXPECT_FINDS(look(), "session.stale", conf_);
    EXPECT_FINDS(look(), "session.stale", shell_);
    EXPECT_FALSE(look().has(doctor::Id::log_in_again));
    unset("__EGL_VENDOR_LIBRARY_DIRS");
    fs::remove(conf_);
    set("XDG_SESSION_TYPE", "wayland");
    EXPECT_FINDS(look(), "session.not-read", shell_);
    set("XDG_SESSION_TYPE", "x11");
    EXPECT_FALSE(look().has(doctor::Id::not_read));
}

TEST_F(DoctorPartsTest, SessionFilesThatLeadNowhere) {
    ASSERT_EQ(enable().exit_code, 0);
    set("__EGL_VENDOR_LIBRARY_DIRS", installed_);
    fs::remove(egl_);
    write(egl_, "no library");
    EXPECT_FINDS(look(), "session.cannot-load", "EGL");
    set("__GLX_VENDOR_LIBRARY_NAME", "cairn");
    EXPECT_FINDS(look(), "session.cannot-load", "GLX");
    fs::remove_all(installed_);
    set("CAIRN_EGL_MANIFEST", folder_ / "nothing.json");
    EXPECT_FINDS(look(), "session.files-broken", "files for EGL that are gone");
    fs::remove(shell_);
    fs::create_directory(shell_);
    EXPECT_FINDS(look(), "session.files-broken", "not known");
    fs::remove(shell_);
    write(shell_, "# >>> cairn enable >>>\n");
    EXPECT_FINDS(look(), "session.files-broken", "part of Cairn's block");
}

TEST_F(DoctorPartsTest, UnitsOfSystemd) {
    ASSERT_EQ(enable().exit_code, 0);
    EXPECT_FALSE(look().has(doctor::Id::warm_off)) << "systemd does not run there";
    system_file("/run/systemd/system/x", "");
    EXPECT_FINDS(look(), "session.warm-off");
    set("XDG_RUNTIME_DIR", folder_ / "home");
    machine_.ask = [](const cli::Words &command) {
        return command.front() == "systemctl"
                   ? "cairn-warm.service loaded failed failed Make programs\nother.service x\n"
                   : "";
    };
    EXPECT_FINDS(look(), "session.unit-failed", "cairn-warm.service");
}

TEST_F(DoctorPartsTest, TheAgent) {
    set("XDG_RUNTIME_DIR", folder_ / "home");
    configure("[application game]\nshare = 1\n");
    EXPECT_FINDS(look(), "session.agent-off");
    write(folder_ / "home/cairn/agent.sock", "");
    EXPECT_FALSE(look().has(doctor::Id::agent_off));
    configure("share = 1\n");
    fs::remove_all(folder_ / "home/cairn");
    EXPECT_FINDS(look(), "session.agent-off");
}

TEST_F(DoctorPartsTest, FoldersOfTheSession) {
    set("XDG_CONFIG_HOME", "config");
    EXPECT_FINDS(look(), "session.relative-folder", "XDG_CONFIG_HOME is `config`");
    set("XDG_RUNTIME_DIR", folder_ / "gone");
    EXPECT_FINDS(look(), "session.runtime-folder", "no folder");
    claimed_findings().insert("session.sudo");
    if (::geteuid() != 0) return;  // only root can be by sudo
    set("SUDO_UID", "1000");
    EXPECT_FINDS(look(), "session.sudo");
}

}  // namespace
}  // namespace cairn::cli_test
