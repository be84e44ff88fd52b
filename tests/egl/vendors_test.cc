// SPDX-License-Identifier: MIT
// Several real vendors behind the one that GLVND sees: every call reaches the vendor that it would
// reach without Cairn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gl/runner.h"

namespace gl_test {
namespace {

constexpr const char *kScenario = "vendors";
constexpr const char *kLast = CAIRN_EGL_TEST_LAST_MANIFEST;

class VendorsTest : public testing::TestWithParam<Client> {
  protected:
    void SetUp() override {
        fake_ = stage_.directory() / "10_fake.json";
        mesa_ = stage_.directory() / "50_mesa.json";
        write_manifest(fake_, FAKE_VENDOR);
        write_manifest(mesa_, "libEGL_mesa.so.0");
    }

    void expect_same(const std::string &first, const std::string &second) {
        const std::string both = first + ":" + second;
        stage_.extra = {{"__EGL_VENDOR_LIBRARY_FILENAMES", both}};
        const Played plain = stage_.plain(kScenario);
        stage_.extra = {};
        ASSERT_EQ(plain.status, "") << plain.transcript << plain.complaints;
        EXPECT_THAT(plain.transcript, testing::HasSubstr("vendor Fake"));
        EXPECT_THAT(plain.transcript, testing::HasSubstr("renderer fake"));
        EXPECT_THAT(plain.transcript, testing::HasSubstr("extension 42"));
        expect_same_with(plain, {{"CAIRN_EGL_VENDORS", both}});
        // As `cairn run` has it: GLVND has loaded the vendors for itself, too.
        const std::string all = std::string(CAIRN_EGL_TEST_MANIFEST) + ":" + both + ":" + kLast;
        expect_same_with(plain, {{"__EGL_VENDOR_LIBRARY_FILENAMES", all}});
    }

    void expect_same_with(const Played &plain, const Environment &environment) {
        const Played cold = stage_.cached(kScenario, environment);
        const Played warm = stage_.cached(kScenario, environment);
        for (const Played &run : {cold, warm}) {
            EXPECT_EQ(run.status, "");
            EXPECT_EQ(run.transcript, plain.transcript);
            EXPECT_EQ(run.complaints, plain.complaints);
        }
        EXPECT_EQ(warm.report.hits, warm.report.link_calls);
        EXPECT_GT(warm.report.hits, 0u);
    }

    Stage stage_{WindowSystem::egl, GetParam()};
    std::string fake_;
    std::string mesa_;
};

TEST_P(VendorsTest, CallsReachTheVendorOfTheirDisplayAndContext) {
    expect_same(fake_, mesa_);
}

TEST_P(VendorsTest, TheOrderOfVendorsDoesNotMatter) {
    expect_same(mesa_, fake_);
}

TEST_P(VendorsTest, SwitchedOffTheyAreRoutedAllTheSame) {
    const std::string both = fake_ + ":" + mesa_;
    stage_.extra = {{"__EGL_VENDOR_LIBRARY_FILENAMES", both}};
    const Played plain = stage_.plain(kScenario);
    stage_.extra = {};
    const Played off =
        stage_.cached(kScenario, {{"CAIRN_EGL_VENDORS", both}, {"CAIRN_DISABLE", "1"}});
    EXPECT_EQ(off.status, "");
    EXPECT_EQ(off.transcript, plain.transcript);
    EXPECT_EQ(off.report.link_calls, 0u);
    const std::string all = std::string(CAIRN_EGL_TEST_MANIFEST) + ":" + both + ":" + kLast;
    const Played beside =
        stage_.cached(kScenario, {{"__EGL_VENDOR_LIBRARY_FILENAMES", all}, {"CAIRN_DISABLE", "1"}});
    EXPECT_EQ(beside.transcript, plain.transcript);
    EXPECT_EQ(beside.report.processes, 0u);
}

// Every program of every kind, through the routes of several vendors.
TEST_P(VendorsTest, ProgramsAreCachedAsWithOneVendor) {
    const Environment both = {{"CAIRN_EGL_VENDORS", fake_ + ":" + mesa_}};
    for (const char *scenario : {"shader_programs", "core_outputs", "two_threads"}) {
        const Played plain = stage_.plain(scenario);
        EXPECT_EQ(stage_.cached(scenario, both).transcript, plain.transcript);
        const Played warm = stage_.cached(scenario, both);
        EXPECT_EQ(warm.transcript, plain.transcript);
        EXPECT_GT(warm.report.hits, 0u);
    }
}

TEST_P(VendorsTest, AVendorThatIsNotThereIsLeftOut) {
    const std::string missing = stage_.directory() / "20_missing.json";
    write_manifest(missing, "libEGL_that_nobody_has.so.0");
    const std::string own = CAIRN_EGL_TEST_MANIFEST;
    const Played plain = stage_.plain("simple");
    const Played run =
        stage_.cached("simple", {{"CAIRN_EGL_VENDORS", missing + ":" + own + ":" + mesa_}});
    EXPECT_EQ(run.status, "");
    EXPECT_EQ(run.transcript, plain.transcript);
    EXPECT_EQ(run.complaints, "");
    EXPECT_EQ(run.report.misses, 1u);
}

// GLVND's other vendor beside us, rather than behind us: its displays are none of ours.
TEST_P(VendorsTest, ADisplayThatIsNotOursHasNoProgramCache) {
    const std::string own = CAIRN_EGL_TEST_MANIFEST;
    const Played run = stage_.cached(
        "beside",
        {{"__EGL_VENDOR_LIBRARY_FILENAMES", own + ":" + fake_}, {"CAIRN_EGL_VENDORS", mesa_}});
    EXPECT_EQ(run.status, "") << run.complaints;
    EXPECT_THAT(run.transcript, testing::HasSubstr("vendor Fake, error 3002, value 0"));
    EXPECT_THAT(run.transcript, testing::HasSubstr("vendor Mesa Project, error 3000, value 20"));
}

TEST_P(VendorsTest, EveryVendorBehindUsHasAProgramCache) {
    const Played run = stage_.cached("beside", {{"CAIRN_EGL_VENDORS", fake_ + ":" + mesa_}});
    EXPECT_EQ(run.status, "") << run.complaints;
    EXPECT_EQ(run.transcript,
              "vendor Fake, error 3000, value 20\nnamed 1\n"
              "vendor Mesa Project, error 3000, value 20\nnamed 1\n");
}

INSTANTIATE_TEST_SUITE_P(Egl, VendorsTest, testing::ValuesIn(kClients),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
