// SPDX-License-Identifier: MIT
// One `cairn run`, or none, and applications of 32 and of 64 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/program.h"
#include "gl/runner.h"

namespace gl_test {
namespace {

using cairn::cli_test::Folder;
using cairn::cli_test::Program;
using cairn::cli_test::read_file;

constexpr const char *kScenario = "uniforms_and_blocks";

// What scripts/i386 has built and installed; empty where it has not.
std::string place(const char *variable) {
    const char *value = std::getenv(variable);
    return value == nullptr ? "" : value;
}

class BothKindsRun : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        if (place("CAIRN_TEST_BUILD_64").empty()) {
            GTEST_SKIP() << "scripts/i386 sets CAIRN_TEST_BUILD_64";
        }
        SKIP_WITHOUT(GetParam());
        const std::string client = GetParam() == WindowSystem::egl
                                       ? "/tests/gl/egl/gl_client_linked"
                                       : "/tests/gl/glx/gl_client_linked";
        clients_[0] = GetParam() == WindowSystem::egl ? EGL_CLIENT_LINKED : GLX_CLIENT_LINKED;
        clients_[1] = place("CAIRN_TEST_BUILD_64") + client;
        environment_ = {{"CAIRN_DIR", folder_ / "root"},
                        {"LIBGL_ALWAYS_SOFTWARE", "1"},
                        {"MESA_SHADER_CACHE_DIR", folder_ / "mesa"},
                        {"XDG_CONFIG_HOME", folder_ / "configuration"},
                        {"DISPLAY", x_display()}};
    }

    // Both at once, each with its output in a file.
    std::vector<std::string> both() const {
        return {"/bin/sh",
                "-c",
                "\"$1\" \"$3\" return >\"$4.0\" & \"$2\" \"$3\" return >\"$4.1\"; wait",
                "sh",
                clients_[0],
                clients_[1],
                kScenario,
                folder_ / "out"};
    }
    std::string shown(unsigned kind) const {
        return read_file(folder_ / ("out." + std::to_string(kind)));
    }

    // The report of a run below that prefix.
    nlohmann::json run(const std::string &prefix, const std::vector<std::string> &command) const {
        const std::string json = folder_ / "report.json";
        std::vector<std::string> words = {prefix + "/bin/cairn", "run", "--json", json, "--"};
        words.insert(words.end(), command.begin(), command.end());
        Program program(words, environment_);
        EXPECT_EQ(program.wait(), 0) << program.standard_error();
        said_ = program.standard_error();
        return nlohmann::json::parse(read_file(json))["report"];
    }

    Folder folder_;
    std::string clients_[2];  // of 32 and of 64 bits
    std::map<std::string, std::string> environment_;
    mutable std::string said_;
};

TEST_P(BothKindsRun, AreReachedByOneRun) {
    Program plain(both(), environment_);
    ASSERT_EQ(plain.wait(), 0) << plain.standard_error();
    const std::string expected[2] = {shown(0), shown(1)};
    ASSERT_NE(expected[0], "");
    ASSERT_NE(expected[1], "");
    for (const bool warm : {false, true}) {
        const auto report = run(place("CAIRN_TEST_PREFIX"), both());
        EXPECT_EQ(shown(0), expected[0]) << "warm: " << warm;
        EXPECT_EQ(shown(1), expected[1]) << "warm: " << warm;
        EXPECT_EQ(report["processes"], 2);
        EXPECT_EQ(report["store_failed"], 0);
        EXPECT_GT(report["link_calls"], 0);
        if (warm) {
            EXPECT_EQ(report["hits"], report["link_calls"]);
            EXPECT_EQ(report["driver_links"], 0);
            EXPECT_EQ(report["stored"], 0);
        } else {
            EXPECT_GT(report["stored"], 0);
        }
    }
}

// One cache holds the programs of both, but no binary of one driver goes to the other.
TEST_P(BothKindsRun, DoNotUseEachOthersBinaries) {
    std::optional<nlohmann::json> links;
    for (const std::string &client : clients_) {
        const auto cold = run(place("CAIRN_TEST_PREFIX"), {client, kScenario, "return"});
        EXPECT_GT(cold["driver_links"], 0) << client;
        EXPECT_EQ(cold["rejected"], 0) << client;
        EXPECT_EQ(cold["driver_links"], links.value_or(cold["driver_links"])) << client;
        links = cold["driver_links"];
        const auto warm = run(place("CAIRN_TEST_PREFIX"), {client, kScenario, "return"});
        EXPECT_EQ(warm["driver_links"], 0) << client;
    }
}

TEST_P(BothKindsRun, WithoutThe32BitLibraries32BitProgramsRunAsWithoutCairn) {
    Program plain({clients_[0], kScenario, "return"}, environment_);
    ASSERT_EQ(plain.wait(), 0);
    // Long enough for `cairn run` to look at it.
    Program cached({place("CAIRN_TEST_PREFIX_64") + "/bin/cairn", "run", "--", clients_[0],
                    kScenario, "linger"},
                   environment_);
    EXPECT_EQ(cached.wait(), 0);
    EXPECT_EQ(cached.standard_output(), plain.standard_output());
    EXPECT_THAT(cached.standard_error(), testing::HasSubstr("a 32-bit program"));
    const auto report = run(place("CAIRN_TEST_PREFIX_64"), both());
    EXPECT_EQ(report["processes"], 1) << "the one of 64 bits";
}

INSTANTIATE_TEST_SUITE_P(WindowSystems, BothKindsRun, testing::ValuesIn(kWindowSystems),
                         [](const auto &played) { return name_of(played.param); });

}  // namespace
}  // namespace gl_test
