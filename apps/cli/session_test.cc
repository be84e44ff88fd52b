// SPDX-License-Identifier: MIT
#include "session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "manifest.h"
#include "output.h"

namespace cairn::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char *kManifest = "/usr/share/cairn/cairn_egl.json";
constexpr const char *kGlx = "/usr/lib/libGLX_cairn.so.0";

class SessionTest : public testing::Test {
  protected:
    SessionTest() { clean(); }
    ~SessionTest() override { clean(); }
    static void clean() {
        for (const char *name : {"__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS",
                                 kGlxVendorEnv, kGlxRealVendorEnv}) {
            unsetenv(name);
        }
    }
    static std::string value_of(const SessionVariables &variables, const std::string &name) {
        for (const SessionVariable &each : variables) {
            if (each.name == name) return each.value;
        }
        return "(none)";
    }
    static bool is_refused(const std::string &manifest, const std::string &glx) {
        try {
            (void)session_variables(manifest, glx);
            return false;
        } catch (const Failure &) {
            return true;
        }
    }
    static bool is_refused(const std::string &shell) {
        try {
            (void)with_block(shell, {});
            return false;
        } catch (const Failure &) {
            return true;
        }
    }
};

TEST_F(SessionTest, BothKindsOfProgramsAreServed) {
    const SessionVariables variables = session_variables(kManifest, kGlx);
    EXPECT_THAT(value_of(variables, "__EGL_VENDOR_LIBRARY_DIRS"),
                testing::StartsWith("/usr/share/cairn:"));
    EXPECT_THAT(value_of(variables, "__EGL_VENDOR_LIBRARY_DIRS"),
                HasSubstr(":/usr/share/glvnd/egl_vendor.d:"))
        << "without Cairn's folder there are the system's";
    EXPECT_EQ(value_of(variables, kGlxVendorEnv), "cairn");
    EXPECT_EQ(value_of(variables, kGlxRealVendorEnv), "(none)");
    EXPECT_EQ(value_of(session_variables(kManifest, ""), kGlxVendorEnv), "(none)");
}

TEST_F(SessionTest, TheVendorThatTheUserChoseStaysBehindOurs) {
    setenv(kGlxVendorEnv, "nvidia", 1);
    EXPECT_EQ(value_of(session_variables(kManifest, kGlx), kGlxRealVendorEnv), "nvidia");
    // In the session that this made.
    setenv(kGlxVendorEnv, "cairn", 1);
    setenv(kGlxRealVendorEnv, "nvidia", 1);
    EXPECT_EQ(value_of(session_variables(kManifest, kGlx), kGlxRealVendorEnv), "nvidia");
    EXPECT_EQ(value_of(session_variables(kManifest, kGlx), kGlxVendorEnv), "cairn");
    setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/opt/mine.json", 1);
    EXPECT_THAT(value_of(session_variables(kManifest, ""), "__EGL_VENDOR_LIBRARY_FILENAMES"),
                HasSubstr(":/opt/mine.json:"));
}

TEST_F(SessionTest, WhatAShellWouldTakeForMoreIsRefused) {
    EXPECT_TRUE(is_refused("/opt/it's/cairn_egl.json", ""));
    EXPECT_TRUE(is_refused("/opt/$HOME/cairn_egl.json", ""));
    EXPECT_TRUE(is_refused("/opt/a b/cairn_egl.json", ""));
    EXPECT_TRUE(is_refused("/opt/a\nb/cairn_egl.json", ""));
    EXPECT_TRUE(is_refused(kManifest, "/opt/`id`/libGLX_cairn.so.0"));
    setenv(kGlxVendorEnv, "nvidia'; rm -rf ~; '", 1);
    EXPECT_TRUE(is_refused(kManifest, kGlx));
    EXPECT_FALSE(is_refused(kManifest, "")) << "then nothing is said of GLX";
}

TEST_F(SessionTest, TheEnvironmentFileHasALineForEach) {
    const std::string text = environment_text({{"A", "1", "x"}, {"B", "2", "x"}});
    EXPECT_THAT(text, EndsWith("\nA=1\nB=2\n"));
    EXPECT_TRUE(is_environment_text(text));
    EXPECT_FALSE(is_environment_text("A=1\n"));
}

TEST_F(SessionTest, TheBlockComesAndGoesAndLeavesTheRestAsItWas) {
    const SessionVariables variables = {{"A", "1", kManifest}};
    for (const std::string before :
         {"", "\n", "a", "a\n", "a\n\n", "a\r\nb", "export X=1\n# a comment without an end"}) {
        const std::string with = with_block(before, variables);
        EXPECT_EQ(with.compare(0, before.size(), before), 0) << before;
        EXPECT_EQ(with_block(with, variables), with) << "once";
        EXPECT_EQ(without_block(with), before);
        EXPECT_EQ(without_block(before), before);
        EXPECT_EQ(block_in(before), "");
        EXPECT_THAT(block_in(with), HasSubstr("A='1'; export A"));
        EXPECT_FALSE(with.starts_with(block_in(with))) << "as it would where there was no file";
        EXPECT_EQ(without_block(with + "later\n"),
                  before + (before.empty() || before.ends_with('\n') ? "" : "\n") + "later\n");
    }
}

TEST_F(SessionTest, WithoutAFileThereIsTheBlockAlone) {
    const std::string text = with_block(std::nullopt, {{"A", "1", kManifest}});
    EXPECT_EQ(block_in(text), text);
    EXPECT_EQ(with_block(text, {{"A", "1", kManifest}}), text);
    EXPECT_EQ(without_block(text), "");
}

TEST_F(SessionTest, ABlockIsReplacedWhereItStands) {
    const std::string old = with_block("first\n", {{"A", "1", kManifest}}) + "last\n";
    const std::string now = with_block(old, {{"B", "2", kManifest}});
    EXPECT_EQ(now, with_block("first\n", {{"B", "2", kManifest}}) + "last\n");
    EXPECT_THAT(now, Not(HasSubstr("A=")));
}

TEST_F(SessionTest, HalfABlockAndTwoBlocksAreRefused) {
    const std::string block = with_block("", {{"A", "1", kManifest}});
    EXPECT_FALSE(is_refused(block));
    EXPECT_TRUE(is_refused(block + block));
    EXPECT_TRUE(is_refused("# >>> cairn enable >>>\nA=1\n"));
    EXPECT_TRUE(is_refused("# <<< cairn enable <<<\n"));
    EXPECT_TRUE(is_refused("# <<< cairn enable <<<\n# >>> cairn enable >>>\n"));
    EXPECT_FALSE(is_refused("echo '# >>> cairn enable >>>'\n")) << "that is no line of ours";
}

TEST(LoadProblemTest, ALibraryIsLoadedToSeeWhetherThatWorks) {
    EXPECT_EQ(load_problem("libc.so.6"), "");
    EXPECT_NE(load_problem("/nowhere/libx.so"), "");
    EXPECT_NE(load_problem("/etc/passwd"), "");
}

TEST(LoadProblemTest, TheLoadersListingNamesTheFirstThatCanBeLoaded) {
    const std::string listing =
        "3 libs found in cache `/etc/ld.so.cache'\n"
        "\tlibGLX_cairn.so.0.1 (libc6,x86-64) => libc.so.6\n"
        "\tlibGLX_cairn.so.0 (libc6) => /nowhere/libGLX_cairn.so.0\n"
        "\tlibGLX_cairn.so.0 (libc6,x86-64) => libm.so.6\n";
    EXPECT_EQ(library_in(listing, kGlxLibrary), "libm.so.6");
    EXPECT_EQ(library_in(listing, "libother.so.0"), "");
    EXPECT_EQ(library_in("", kGlxLibrary), "");
}

TEST(LoadProblemTest, ALibraryWhereTheLoaderLooksNeedsNoListing) {
    EXPECT_THAT(library_in_loader_folders("libc.so.6"), EndsWith("/libc.so.6"));
    EXPECT_EQ(library_in_loader_folders("libother.so.0"), "");
}

}  // namespace
}  // namespace cairn::cli
