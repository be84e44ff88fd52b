// SPDX-License-Identifier: MIT
// Where Cairn cannot be had, or does not know which driver is behind it, an application runs as it
// does without Cairn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "changed_server.h"
#include "gl/runner.h"
#include "support/x_server.h"

namespace gl_test {
namespace {

constexpr const char *kScenario = "plain_contexts";

class FallbacksTest : public testing::Test {
  protected:
    void SetUp() override { SKIP_WITHOUT(WindowSystem::glx); }

    // Everything under Cairn is as without it. The report is of the second run under it.
    cairn::RunReport expect_as_plain(const std::string &scenario, const Environment &more = {}) {
        const Played plain = stage_.plain(scenario);
        EXPECT_EQ(plain.status, "") << plain.complaints;
        EXPECT_THAT(plain.transcript, testing::HasSubstr("\n"));
        cairn::RunReport report = {};
        for (int round = 0; round < 2; ++round) {
            const Played run = stage_.cached(scenario, more);
            EXPECT_EQ(run.status, "");
            EXPECT_EQ(run.transcript, plain.transcript);
            EXPECT_EQ(run.complaints, plain.complaints);
            report = run.report;
        }
        return report;
    }

    static void expect_warm(const cairn::RunReport &report) {
        EXPECT_GT(report.hits, 0u);
        EXPECT_EQ(report.hits, report.link_calls);
    }

    Stage stage_{WindowSystem::glx};
};

TEST_F(FallbacksTest, AnswersBeforeAContextAreTheDrivers) {
    expect_as_plain("questions");
}

// Nor one that makes a path of its name.
TEST_F(FallbacksTest, InsteadOfADriverThatIsNotThereTheServersIsTaken) {
    for (const char *vendor : {"nobody", "../glx/nobody", ""}) {
        expect_warm(expect_as_plain(kScenario, {{"CAIRN_GLX_VENDOR", vendor}}));
    }
}

TEST_F(FallbacksTest, TheLibraryIsNeverItsOwnDriver) {
    expect_warm(expect_as_plain(kScenario, {{"CAIRN_GLX_VENDOR", "cairn"}}));
}

TEST_F(FallbacksTest, OurLibraryMayBeMissing) {
    EXPECT_EQ(expect_as_plain(kScenario, {{"LD_LIBRARY_PATH", ""}}).link_calls, 0u);
}

TEST_F(FallbacksTest, AnApplicationMayTakeTheVariablesAway) {
    stage_.prefix = {"env", "-u", "__GLX_VENDOR_LIBRARY_NAME", "-u", "LD_LIBRARY_PATH"};
    EXPECT_EQ(expect_as_plain(kScenario).link_calls, 0u);
}

TEST_F(FallbacksTest, AContainerMayHideOurLibrary) {
    if (std::system("bwrap --dev-bind / / true >/dev/null 2>&1") != 0) {
        GTEST_SKIP() << "bubblewrap cannot make a container here";
    }
    stage_.prefix = {"bwrap", "--dev-bind", "/", "/"};
    std::istringstream folders(CAIRN_GLX_TEST_FOLDERS);
    for (std::string folder; std::getline(folders, folder, ':');) {
        stage_.prefix.insert(stage_.prefix.end(), {"--tmpfs", folder});
    }
    EXPECT_EQ(expect_as_plain(kScenario).link_calls, 0u);
}

// A server that has GLX, but not the extension that names the driver.
TEST_F(FallbacksTest, AServerMayNameNoDriver) {
    const cairn_test::XServer server(
        changed_server(stage_.directory().path(), "GLX_EXT_libglvnd", "GLX_EXT_for_none"));
    stage_.extra = {{"DISPLAY", server.display()}};
    EXPECT_THAT(stage_.plain("questions").transcript,
                testing::AllOf(testing::HasSubstr("GLX_EXT_for_none"),
                               testing::Not(testing::HasSubstr("GLX_EXT_libglvnd"))));
    expect_warm(expect_as_plain(kScenario));
    expect_as_plain("questions");
}

// Such as one that draws by another driver, for an application in a container.
TEST_F(FallbacksTest, AServerMayNameADriverThatIsNotHere) {
    const cairn_test::XServer server(server_naming(stage_.directory().path(), "none"));
    stage_.extra = {{"DISPLAY", server.display()}};
    expect_warm(expect_as_plain(kScenario));
    expect_as_plain("questions");
}

TEST_F(FallbacksTest, AProcessMayHaveSeveralServers) {
    const cairn_test::XServer server;
    stage_.extra = {{"CLIENT_OTHER_DISPLAY", server.display()}};
    expect_warm(expect_as_plain("two_servers"));
}

// Of the two contexts of the scenario only the other one is ours.
TEST_F(FallbacksTest, AContextThatTheServerDrawsForIsLeftAlone) {
    EXPECT_EQ(expect_as_plain("indirect_context").contexts, 1u);
}

TEST_F(FallbacksTest, AServerMayHaveNoGlx) {
    const cairn_test::XServer server("Xvfb", {"-extension", "GLX"});
    stage_.extra = {{"DISPLAY", server.display()}};
    EXPECT_EQ(stage_.plain("questions").transcript, "GLX 0\n");
    expect_as_plain("questions");
}

}  // namespace
}  // namespace gl_test
