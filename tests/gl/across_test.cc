// SPDX-License-Identifier: MIT
// Both window systems have one cache: what was linked through one is found through the other.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "runner.h"

namespace gl_test {
namespace {

class AcrossTest : public testing::TestWithParam<std::tuple<WindowSystem, const char *>> {};

TEST_P(AcrossTest, AProgramOfOneWindowSystemIsFoundThroughTheOther) {
    SKIP_WITHOUT(WindowSystem::glx);
    const auto [window_system, scenario] = GetParam();
    Stage first(window_system);
    Stage second(window_system == WindowSystem::egl ? WindowSystem::glx : WindowSystem::egl);
    const Played cold = first.cached(scenario);
    const Played warm = second.cached(scenario, {{"CAIRN_DIR", first.cache_root()}});
    EXPECT_EQ(cold.status, "") << cold.complaints;
    EXPECT_GT(cold.report.driver_links, 0u);
    EXPECT_EQ(warm.status, "") << warm.complaints;
    EXPECT_EQ(warm.transcript, cold.transcript);
    EXPECT_EQ(warm.report.link_calls, cold.report.link_calls);
    EXPECT_EQ(warm.report.hits, warm.report.link_calls);
    EXPECT_EQ(warm.report.driver_links, 0u);
    EXPECT_EQ(warm.report.driver_compiles, 0u);
    EXPECT_EQ(warm.report.stored, 0u);
}

// Each with contexts of another kind: OpenGL ES 2 and 3, the core profile, the compatibility
// profile, and without any attribute.
INSTANTIATE_TEST_SUITE_P(First, AcrossTest,
                         testing::Combine(testing::ValuesIn(kWindowSystems),
                                          testing::Values("old_language", "uniforms_and_blocks",
                                                          "core_outputs", "old_objects",
                                                          "plain_contexts")),
                         [](const auto &played) {
                             return name_of(std::get<0>(played.param)) + "_" +
                                    std::get<1>(played.param);
                         });

}  // namespace
}  // namespace gl_test
