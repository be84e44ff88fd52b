// SPDX-License-Identifier: MIT
// Several real vendors in one process, as where NVIDIA's driver is beside Mesa: each X server has
// its own, and calls reach the vendor that they would reach without Cairn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "changed_server.h"
#include "gl/runner.h"
#include "support/x_server.h"

namespace gl_test {
namespace {

constexpr const char *kScenario = "two_vendors";

class VendorsTest : public testing::TestWithParam<Client> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(WindowSystem::glx);
        if (std::system("bwrap --dev-bind / / true >/dev/null 2>&1") != 0) {
            GTEST_SKIP() << "bubblewrap cannot make a container here";
        }
        const std::string device = stage_.directory() / "nvidiactl";
        cairn_test::write_file(device, {});
        stage_.prefix = {"bwrap", "--dev-bind",    "/", "/", "--dev", "/dev", "--bind",
                         device,  "/dev/nvidiactl"};
        server_.emplace(server_naming(stage_.directory().path(), "twin"));
        stage_.extra = {{"CLIENT_OTHER_DISPLAY", server_->display()},
                        {"LD_LIBRARY_PATH", TWIN_FOLDER}};
    }

    void expect_as_plain(const Played &plain, const std::string &scenario = kScenario) {
        for (const bool is_warm : {false, true}) {
            const Played run = stage_.cached(scenario);
            EXPECT_EQ(run.status, "");
            EXPECT_EQ(run.transcript, plain.transcript);
            EXPECT_EQ(run.complaints, plain.complaints);
            EXPECT_GT(run.report.link_calls, 0u);
            if (is_warm) {
                EXPECT_EQ(run.report.hits, run.report.link_calls);
            }
        }
    }

    Stage stage_{WindowSystem::glx, GetParam()};
    std::optional<cairn_test::XServer> server_;
};

TEST_P(VendorsTest, CallsReachTheVendorOfTheirServer) {
    const Played plain = stage_.plain(kScenario);
    ASSERT_EQ(plain.status, "") << plain.transcript << plain.complaints;
    EXPECT_THAT(plain.transcript, testing::HasSubstr("GL Twin, client of the twin, renderer "
                                                     "renderer of the twin, interval 101"));
    EXPECT_THAT(plain.transcript, testing::HasSubstr("GL Mesa"));
    expect_as_plain(plain);
}

// The twin is the first to be chosen, although Mesa is the probable one.
TEST_P(VendorsTest, TheOrderOfVendorsDoesNotMatter) {
    const cairn_test::XServer mesa;
    stage_.extra["DISPLAY"] = server_->display();
    stage_.extra["CLIENT_OTHER_DISPLAY"] = mesa.display();
    const Played plain = stage_.plain(kScenario);
    ASSERT_EQ(plain.status, "") << plain.transcript << plain.complaints;
    expect_as_plain(plain);
}

// What the user names is the vendor of all servers, as in GLVND.
TEST_P(VendorsTest, ANamedVendorHasAllServers) {
    const Played plain = stage_.plain("two_servers");
    ASSERT_EQ(plain.status, "") << plain.complaints;
    ASSERT_NE(plain.transcript, "");
    const Played run = stage_.cached(kScenario, {{"CAIRN_GLX_VENDOR", "mesa"}});
    EXPECT_EQ(run.status, "");
    EXPECT_THAT(run.transcript, testing::Not(testing::HasSubstr("Twin")));
    EXPECT_THAT(run.transcript, testing::StartsWith(plain.transcript));
}

// Loading it may wake a processor that sleeps.
TEST_P(VendorsTest, NvidiasDriverIsNotLoadedForAServerOfMesas) {
    std::filesystem::create_symlink(TWIN, stage_.directory() / "libGLX_nvidia.so.0");
    const Environment more = {
        {"TWIN_TELLS", "1"},
        {"LD_LIBRARY_PATH", CAIRN_GLX_TEST_FOLDERS ":" + stage_.directory().path()}};
    const Played plain = stage_.plain("plain_contexts");
    ASSERT_EQ(plain.status, "") << plain.complaints;
    const Played run = stage_.cached("plain_contexts", more);
    EXPECT_EQ(run.transcript, plain.transcript);
    EXPECT_EQ(run.complaints, "");
}

// GLVND looks at the display of some calls only.
TEST_P(VendorsTest, DisplaysThatAreNullOrClosedDoNotMatter) {
    const Played plain = stage_.plain("odd_displays");
    ASSERT_EQ(plain.status, "") << plain.transcript << plain.complaints;
    expect_as_plain(plain, "odd_displays");
    // With one vendor.
    stage_.prefix = {};
    stage_.extra.erase("CLIENT_OTHER_DISPLAY");
    expect_as_plain(stage_.plain("odd_displays"), "odd_displays");
}

TEST_P(VendorsTest, QuestionsGoToTheVendorOfTheirScreenOrContext) {
    const Played plain = stage_.plain("questions_to_two_vendors");
    ASSERT_EQ(plain.status, "") << plain.complaints;
    EXPECT_THAT(plain.transcript, testing::HasSubstr("twin's ID 1, driver twin"));
    EXPECT_EQ(stage_.cached("questions_to_two_vendors").transcript, plain.transcript);
}

TEST_P(VendorsTest, SwitchedOffANamedVendorThatIsNotThereIsNoVendor) {
    const Played plain = stage_.plain("two_servers");
    const Played run =
        stage_.cached("two_servers", {{"CAIRN_DISABLE", "1"}, {"CAIRN_GLX_VENDOR", "nowhere"}});
    EXPECT_EQ(run.transcript, plain.transcript);
    EXPECT_EQ(run.status, "");
}

// Every kind of program; functions of GL lie in slots then.
TEST_P(VendorsTest, ProgramsAreCachedAsWithOneVendor) {
    for (const char *scenario : {"shader_programs", "core_outputs", "two_threads"}) {
        const Played plain = stage_.plain(scenario);
        EXPECT_EQ(stage_.cached(scenario).transcript, plain.transcript);
        const Played warm = stage_.cached(scenario);
        EXPECT_EQ(warm.transcript, plain.transcript);
        EXPECT_GT(warm.report.hits, 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Glx, VendorsTest, testing::ValuesIn(kClients),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
