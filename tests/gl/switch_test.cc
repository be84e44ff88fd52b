// SPDX-License-Identifier: MIT
// The kind CACHE_FOR_DRIVER switched off, on and emptied: before an application starts, and while
// it runs.
#include <cairn/cairn_control.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "runner.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;

class SwitchTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        setenv("CAIRN_DEVELOPER_MODE", "1", 1);
        // Keeps the drivers' files of the user who runs the test out.
        setenv("XDG_CACHE_HOME", (stage_.directory() / "home").c_str(), 1);
        plain_ = stage_.plain("switched");
        ASSERT_EQ(plain_.status, "");
    }

    void apply(uint32_t flags, uint32_t kinds = CAIRN_KIND_CACHE_FOR_DRIVER) const {
        const std::string root = stage_.cache_root();
        cairn_control_options options = {};
        options.size = sizeof options;
        options.root = root.c_str();
        cairn_control *control = nullptr;
        ASSERT_EQ(cairn_control_open(&options, &control), CAIRN_OK);
        EXPECT_EQ(cairn_control_apply(control, kinds, flags, nullptr), CAIRN_OK);
        cairn_control_close(control);
    }
    // Runs `cairn control` as a user does.
    std::string command(const std::string &actions) const {
        return std::string("CAIRN_DEVELOPER_MODE=1 ") + CAIRN_PROGRAM + " control --dir " +
               stage_.cache_root() + " --kind cache-for-driver " + actions + " >/dev/null";
    }
    void expect_as_plain(const Played &run) const {
        EXPECT_EQ(run.status, "");
        EXPECT_EQ(run.transcript, plain_.transcript);
        EXPECT_EQ(run.complaints, "");
    }
    size_t caches() const {
        size_t count = 0;
        for (const auto &entry : fs::directory_iterator(stage_.cache_root())) {
            count += entry.is_directory() ? 1u : 0u;
        }
        return count;
    }

    Stage stage_{GetParam()};
    Played plain_;
};

TEST_P(SwitchTest, DisabledNothingIsLookedUpOrStored) {
    expect_as_plain(stage_.cached("switched"));
    apply(CAIRN_CONTROL_DISABLE);
    for (int round = 0; round < 2; ++round) {
        const Played off = stage_.cached("switched");
        expect_as_plain(off);
        EXPECT_EQ(off.report.hits, 0u);
        EXPECT_EQ(off.report.misses, 0u);
        EXPECT_EQ(off.report.stored, 0u);
        EXPECT_EQ(off.report.driver_links, off.report.link_calls);
        EXPECT_EQ(off.report.driver_compiles, off.report.compile_calls);
    }
    apply(CAIRN_CONTROL_ENABLE);
    const Played on = stage_.cached("switched");
    expect_as_plain(on);
    EXPECT_EQ(on.report.hits, on.report.link_calls) << "what was stored before is there still";
}

TEST_P(SwitchTest, OtherKindsDoNotMatter) {
    apply(CAIRN_CONTROL_DISABLE, CAIRN_KIND_ALL & ~uint32_t{CAIRN_KIND_CACHE_FOR_DRIVER});
    expect_as_plain(stage_.cached("switched"));
    const Played warm = stage_.cached("switched");
    expect_as_plain(warm);
    EXPECT_EQ(warm.report.hits, warm.report.link_calls);
}

TEST_P(SwitchTest, ClearedTheNextApplicationCompilesAgain) {
    expect_as_plain(stage_.cached("switched"));
    apply(CAIRN_CONTROL_CLEAR);
    const Played cold = stage_.cached("switched");
    expect_as_plain(cold);
    EXPECT_EQ(cold.report.misses, 1u);
    EXPECT_EQ(cold.report.hits, cold.report.link_calls - 1);
    EXPECT_EQ(caches(), 1u);
}

// Linked: at first, while it is off, after it was emptied and switched on again, and once more.
TEST_P(SwitchTest, AnApplicationThatRunsObeys) {
    const Played run = stage_.cached("switched", {{"CLIENT_AFTER_0", command("--disable")},
                                                  {"CLIENT_AFTER_1", command("--enable --clear")}});
    expect_as_plain(run);
    EXPECT_EQ(run.report.link_calls, 4u);
    EXPECT_EQ(run.report.bypassed, 1u);
    EXPECT_EQ(run.report.misses, 2u) << "also in memory nothing was left";
    EXPECT_EQ(run.report.hits, 1u);
}

std::string digits_after(const std::string &word, const std::string &text) {
    std::string digits;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        digits += text[at + word.size()];
    }
    return digits;
}

TEST_P(SwitchTest, WhatADisplayHoldsInMemoryGoesWhenCleared) {
    if (GetParam() != WindowSystem::egl) GTEST_SKIP() << "only EGL has a call that tells";
    const Played run = stage_.cached(
        "switched", {{"CLIENT_AFTER_1", command("--clear --disable")}, {"CLIENT_SHOW_HELD", "1"}});
    EXPECT_EQ(run.status, "");
    EXPECT_EQ(run.complaints, "");
    EXPECT_EQ(digits_after("held ", run.transcript), "1100");
    EXPECT_EQ(digits_after("enabled ", run.transcript), "1100");
}

// Without a file at its start it is noticed when one is made.
TEST_P(SwitchTest, AnApplicationThatKeepsProgramsInMemoryObeysToo) {
    const std::string wait = " && sleep 0.3";
    const Played run =
        stage_.cached("switched", {{"CAIRN_EGL_PERSIST", "0"},
                                   {"CLIENT_AFTER_0", command("--disable") + wait},
                                   {"CLIENT_AFTER_1", command("--enable --clear") + wait}});
    expect_as_plain(run);
    EXPECT_EQ(run.report.bypassed, 1u);
    EXPECT_EQ(run.report.misses, 2u);
    EXPECT_EQ(run.report.hits, 1u);
}

TEST_P(SwitchTest, ADamagedControlFileIsNotInTheWay) {
    expect_as_plain(stage_.cached("switched"));
    apply(CAIRN_CONTROL_DISABLE);
    cairn_test::write_file(stage_.cache_root() + "/.control",
                           cairn_test::as_bytes(std::string(64, '\x77')));
    const Played run = stage_.cached("switched");
    expect_as_plain(run);
    EXPECT_EQ(run.report.hits, run.report.link_calls);
}

INSTANTIATE_TEST_SUITE_P(Both, SwitchTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
