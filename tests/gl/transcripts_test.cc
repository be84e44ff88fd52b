// SPDX-License-Identifier: MIT
// An application cannot tell whether Cairn is there: each scenario writes the same transcript
// without Cairn, with an empty cache, with a full one, and while recipes are recorded. The counters
// prove that the last two really came from the cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "runner.h"
#include "support/long_form.h"

namespace gl_test {
namespace {

// How much of a scenario can come from the cache.
enum class Warmth {
    all,   // no compile and no link reaches the driver
    some,  // there are links that fail, or that go straight to the driver
    none,  // it is about what is never cached
};

struct Scenario {
    const char *name;
    Warmth warmth;
};

std::ostream &operator<<(std::ostream &stream, const Scenario &scenario) {
    return stream << scenario.name;
}

constexpr Scenario kScenarios[] = {
    {"simple", Warmth::all},
    {"old_language", Warmth::all},
    {"uniforms_and_blocks", Warmth::all},
    {"logs_of_failures", Warmth::some},
    {"logs_of_successes", Warmth::all},
    {"pending_errors", Warmth::all},
    {"invalid_calls", Warmth::some},
    {"relink_new_source", Warmth::some},
    {"relink_in_use", Warmth::some},
    {"last_compiled_source", Warmth::all},
    {"deleted_shaders", Warmth::some},
    {"shared_shader", Warmth::all},
    {"attribute_bindings", Warmth::all},
    {"detours_to_settings", Warmth::all},
    {"names_used_again", Warmth::all},
    {"validation", Warmth::all},
    {"transform_feedback", Warmth::some},
    {"feedback_relink", Warmth::some},
    {"refused_varyings", Warmth::all},
    {"separable", Warmth::some},
    {"shader_programs", Warmth::some},
    {"compute", Warmth::all},
    {"geometry", Warmth::all},
    {"tessellation", Warmth::all},
    {"core_outputs", Warmth::all},
    {"core_initial_values", Warmth::all},
    {"several_of_one_type", Warmth::all},
    {"old_objects", Warmth::all},
    {"included_source", Warmth::none},
    {"spirv", Warmth::none},
    {"assembly", Warmth::all},
    {"two_contexts", Warmth::some},
    {"context_goes", Warmth::all},
    {"older_context", Warmth::all},
    {"unlike_contexts", Warmth::none},
    {"unlike_profiles", Warmth::none},
    {"unlike_later", Warmth::none},
    {"plain_contexts", Warmth::all},
    {"context_moves", Warmth::all},
    {"two_threads", Warmth::all},
    {"threads_share_shader", Warmth::all},
    {"contexts_come_and_go", Warmth::all},
    {"own_binaries", Warmth::some},
    {"binary_with_bindings", Warmth::some},
    {"parallel_compile", Warmth::all},
    {"states", Warmth::all},
    {"display_lists", Warmth::all},
    {"named_objects", Warmth::all},
    {"overrides", Warmth::all},
    {"deleted_attachment", Warmth::all},
};

// What EGL does not have.
constexpr Scenario kGlxScenarios[] = {
    {"first_calls", Warmth::all},
    {"extension_calls", Warmth::all},
    {"copied_context", Warmth::all},
    {"refused_context", Warmth::all},
    {"indirect_context", Warmth::all},
    {"connections_in_turn", Warmth::all},
    {"forgotten_contexts", Warmth::all},
    {"two_connections", Warmth::all},
    {"shared_between_connections", Warmth::all},
    {"connections_of_threads", Warmth::all},
};

void expect_warm(Warmth warmth, const cairn::RunReport &cold, const cairn::RunReport &warm) {
    EXPECT_EQ(warm.rejected, 0u);
    EXPECT_EQ(warm.store_failed, 0u);
    EXPECT_EQ(warm.compile_calls, cold.compile_calls);
    EXPECT_EQ(warm.link_calls, cold.link_calls);
    EXPECT_EQ(warm.stored, 0u) << "everything that can be stored was stored the first time";
    switch (warmth) {
        case Warmth::all:
            EXPECT_GT(cold.driver_links, 0u);
            EXPECT_EQ(warm.driver_compiles, 0u);
            EXPECT_EQ(warm.driver_links, 0u);
            EXPECT_EQ(warm.hits, warm.link_calls);
            EXPECT_EQ(warm.misses, 0u);
            EXPECT_GT(warm.bytes_read, 0u);
            break;
        case Warmth::some:
            EXPECT_GT(warm.hits, 0u);
            EXPECT_LT(warm.driver_links, warm.link_calls);
            EXPECT_EQ(warm.hits + warm.driver_links, warm.link_calls);
            break;
        case Warmth::none:
            EXPECT_GT(warm.bypassed, 0u);
            break;
    }
}

class TranscriptTest : public testing::TestWithParam<std::tuple<WindowSystem, Client, Scenario>> {};

TEST_P(TranscriptTest, IsTheSameWithoutColdAndWarm) {
    const auto [window_system, client, scenario] = GetParam();
    SKIP_WITHOUT(window_system);
    Stage stage(window_system, client);
    const Played plain = stage.plain(scenario.name);
    ASSERT_EQ(plain.status, "") << plain.complaints << plain.transcript;
    ASSERT_THAT(plain.transcript, testing::HasSubstr("\n"));
    const Played cold = stage.cached(scenario.name);
    const Played warm = stage.cached(scenario.name);
    const Played recorded = stage.cached(scenario.name, {{"CAIRN_RECORD", "1"}});
    for (const Played &run : {cold, warm, recorded}) {
        EXPECT_EQ(run.status, "");
        EXPECT_EQ(run.transcript, plain.transcript);
        EXPECT_EQ(run.complaints, plain.complaints);
        EXPECT_EQ(run.report.processes, 1u);
        EXPECT_GT(run.report.contexts, 0u);
        EXPECT_GT(run.report.link_ns, 0u);
    }
    expect_warm(scenario.warmth, cold.report, warm.report);
}

std::string name_of_test(const testing::TestParamInfo<TranscriptTest::ParamType> &played) {
    const auto [window_system, client, scenario] = played.param;
    return name_of(window_system) + "_" + name_of(client) + "_" + scenario.name;
}

// The way to find the functions matters to few scenarios: the short form plays every third one in both.
std::vector<TranscriptTest::ParamType> all_of(std::span<const Scenario> scenarios,
                                              std::initializer_list<WindowSystem> window_systems) {
    std::vector<TranscriptTest::ParamType> all;
    for (const WindowSystem window_system : window_systems) {
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            for (const Client client : kClients) {
                const bool is_second = client != *(kClients.begin() + i % kClients.size());
                if (!is_second || i % 3 == 0 || cairn_test::is_long_form())
                    all.emplace_back(window_system, client, scenarios[i]);
            }
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Both, TranscriptTest,
                         testing::ValuesIn(all_of(kScenarios, kWindowSystems)), name_of_test);

INSTANTIATE_TEST_SUITE_P(Glx, TranscriptTest,
                         testing::ValuesIn(all_of(kGlxScenarios, {WindowSystem::glx})),
                         name_of_test);

}  // namespace
}  // namespace gl_test
