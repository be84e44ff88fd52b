// SPDX-License-Identifier: MIT
// Recipes from one driver make another one warm before anybody waits: `cairn warm`, the real player, and
// Mesa's software driver, which is another driver with vectors of another width.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>

#include "runner.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;

const Environment kOtherDriver = {{"LP_NATIVE_VECTOR_WIDTH", "128"}};
constexpr const char *kEnd = "linger";  // Mesa writes by a thread for which other work goes first

// The names of the files in which the driver keeps what it has made, below a folder.
std::set<std::string> driver_files(const std::string &folder) {
    std::set<std::string> names;
    std::error_code error;
    for (const auto &entry : fs::recursive_directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_regular_file() && name.size() == 38) names.insert(name);
    }
    return names;
}

class WarmTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        home_ = stage_.directory() / "driver";
        fs::create_directories(home_);
    }
    Played record(const std::string &scenario) {
        Environment recording = kOtherDriver;
        recording["CAIRN_RECORD"] = "1";
        const Played run = stage_.cached(scenario, recording);
        EXPECT_EQ(run.status, "") << run.complaints;
        return run;
    }
    // `cairn warm` with the present driver, whose own cache is in home_. Returns the exit code.
    int warm(const std::string &arguments) const {
        const std::string display =
            GetParam() == WindowSystem::glx ? "DISPLAY=" + x_display() : "-u DISPLAY";
        const std::string command =
            "env " + display + " LIBGL_ALWAYS_SOFTWARE=1 XDG_CACHE_HOME=" + home_ +
            " XDG_CONFIG_HOME=" + home_ + "/none " + CAIRN_PROGRAM + " warm --dir " +
            stage_.cache_root() + " " + arguments + " >" + said() + " 2>&1";
        return WEXITSTATUS(std::system(command.c_str()));
    }
    std::string said() const { return stage_.directory() / "said"; }
    std::string said_text() const { return cairn_test::as_string(cairn_test::read_file(said())); }
    // The application's start behind that.
    Played start(const std::string &scenario, const std::string &end = "return") {
        stage_.has_usual_driver_cache = true;
        return stage_.cached(scenario, {{"XDG_CACHE_HOME", home_}}, end);
    }

    Stage stage_{GetParam()};
    std::string home_;
};

TEST_P(WarmTest, NoLinkReachesAnotherDriverAndThePictureIsTheSame) {
    for (const char *scenario : {"states", "uniforms_and_blocks", "attribute_bindings", "compute",
                                 "geometry", "tessellation", "core_outputs", "old_language",
                                 "shader_programs", "several_of_one_type"}) {
        record(scenario);
        ASSERT_EQ(warm("--all"), 0) << said_text();
        const Played plain = stage_.plain(scenario);
        const Played first = start(scenario);
        EXPECT_EQ(first.status, "") << first.complaints;
        EXPECT_EQ(first.transcript, plain.transcript) << scenario;
        EXPECT_EQ(first.report.rejected, 0u) << scenario;
        // Some fail, and some pass Cairn by: as many as at any other warm start.
        EXPECT_EQ(first.report.driver_links, start(scenario).report.driver_links) << scenario;
        EXPECT_EQ(first.report.stored, 0u) << scenario;
        EXPECT_GT(first.report.hits, 0u) << scenario;
    }
}

TEST_P(WarmTest, TheDriverMakesNoMachineCodeAtTheStart) {
    record("states");
    ASSERT_EQ(warm("--all"), 0) << said_text();
    const auto made = driver_files(home_);
    EXPECT_GE(made.size(), 8u);
    (void)start("states", kEnd);
    std::size_t more = 0;
    for (const std::string &file : driver_files(home_)) more += made.contains(file) ? 0u : 1u;
    EXPECT_EQ(more, 0u) << "of " << made.size();
}

TEST_P(WarmTest, WhatWasMadeIsNotMadeAgainButByAnotherDriver) {
    record("states");
    ASSERT_EQ(warm("--all"), 0);
    EXPECT_NE(said_text().find("1 program made"), std::string::npos) << said_text();
    ASSERT_EQ(warm("--all"), 0);
    EXPECT_NE(said_text().find("1 were there already"), std::string::npos) << said_text();
    ASSERT_EQ(warm("--all --if-needed"), 0);
    EXPECT_EQ(said_text(), "");
    ::setenv("LP_NATIVE_VECTOR_WIDTH", "128", 1);
    EXPECT_EQ(warm("--all"), 0);
    ::unsetenv("LP_NATIVE_VECTOR_WIDTH");
    EXPECT_NE(said_text().find("1 program made"), std::string::npos) << said_text();
    // What is cleared is made anew.
    ASSERT_EQ(std::system((std::string(CAIRN_PROGRAM) + " pack create --only-recipes --all --dir " +
                           stage_.cache_root() + " " + (stage_.directory() / "a.pack") +
                           " >/dev/null && " + CAIRN_PROGRAM + " clear --all --yes --dir " +
                           stage_.cache_root() + " >/dev/null")
                              .c_str()),
              0);
    ASSERT_EQ(warm("--all"), 0);
    EXPECT_NE(said_text().find("0 programs made"), std::string::npos) << said_text();
    ASSERT_EQ(warm(stage_.directory() / "a.pack"), 0) << said_text();
    EXPECT_NE(said_text().find("1 program made"), std::string::npos) << said_text();
}

// The player asks the front end for its cache by such a function.
TEST_P(WarmTest, ADriverNeedNotKnowCairnsFunctions) {
    record("states");
    const Environment driver = drivers(stage_)["nvidia"];
    for (const auto &[name, value] : driver) ::setenv(name.c_str(), value.c_str(), 1);
    EXPECT_EQ(warm("--all"), 0);
    for (const auto &[name, value] : driver) ::unsetenv(name.c_str());
    EXPECT_NE(said_text().find("1 program made"), std::string::npos) << said_text();
}

TEST_P(WarmTest, ADeniedApplicationIsNotWarmed) {
    record("states");
    const std::string configuration = home_ + "/none/cairn/config";
    fs::create_directories(fs::path(configuration).parent_path());
    cairn_test::write_file(configuration, cairn_test::as_bytes("enabled = 0\n"));
    fs::permissions(configuration, fs::perms(0600));
    EXPECT_EQ(warm("--all"), 1);
    EXPECT_NE(said_text().find("does not serve"), std::string::npos) << said_text();
    EXPECT_TRUE(driver_files(home_).empty());
}

INSTANTIATE_TEST_SUITE_P(Both, WarmTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &tested) { return name_of(tested.param); });

}  // namespace
}  // namespace gl_test
