// SPDX-License-Identifier: MIT
// The first start on a new machine with a pack: no link reaches the driver, and it makes no machine
// code.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "runner.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;

// It draws, with programs that it has linked.
constexpr const char *kScenario = "uniforms_and_blocks";
constexpr const char *kEnd = "linger";

// Files in which the driver keeps what it has made, anywhere below a folder.
std::size_t driver_files(const std::string &folder) {
    std::size_t count = 0;
    std::error_code error;
    for (const auto &entry : fs::recursive_directory_iterator(folder, error)) {
        count += entry.is_regular_file() && entry.path().filename().string().size() == 38 ? 1u : 0u;
    }
    return count;
}

int cairn(const std::string &arguments) {
    return std::system((std::string(CAIRN_PROGRAM) + " " + arguments + " >/dev/null 2>&1").c_str());
}

class FirstStartTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        recording_.has_usual_driver_cache = true;
        stage_.has_usual_driver_cache = true;
    }
    // The first of the starts in which the driver keeps its machine code for a pack. Mesa writes it by a
    // thread for which other work goes first, and what that has not written at the exit is lost. So
    // the client lingers, and is started until nothing more comes.
    Played record() {
        const Environment recording = {{"CAIRN_RECORD", "1"}};
        Played first = recording_.cached(kScenario, recording, kEnd);
        EXPECT_EQ(first.status, "") << first.complaints;
        std::size_t before = 0;
        for (int i = 0; i < 30; ++i) {
            const std::size_t now = driver_files(own_folder(recording_));
            if (now == before && now != 0) break;
            before = now;
            (void)recording_.cached(kScenario, recording, kEnd);
        }
        EXPECT_GT(before, 0u) << "the driver keeps its code elsewhere";
        return first;
    }
    // Makes a pack of what the recording stage has started, and installs it on the other one.
    void pack_and_install(const std::string &options = "") const {
        const std::string pack = recording_.directory() / "a.pack";
        ASSERT_EQ(cairn("pack create --all --dir " + recording_.cache_root() + " " + options + " " +
                        pack),
                  0);
        ASSERT_EQ(cairn("pack install --unsigned --dir " + stage_.cache_root() + " " + pack), 0);
    }
    std::string own_folder(const Stage &stage) const { return stage.cache_root() + "/.driver"; }

    Stage recording_{GetParam()}, stage_{GetParam()};
};

TEST_P(FirstStartTest, NothingIsCompiledAndNoMachineCodeIsMade) {
    const Played cold = record();
    ASSERT_GT(cold.report.driver_links, 0u);
    const std::size_t made = driver_files(own_folder(recording_));
    pack_and_install();
    const Played first = stage_.cached(kScenario, {}, kEnd);
    EXPECT_EQ(first.status, "") << first.complaints;
    EXPECT_EQ(first.transcript, cold.transcript);
    EXPECT_EQ(first.report.hits, first.report.link_calls);
    EXPECT_EQ(first.report.driver_links, 0u);
    EXPECT_EQ(first.report.rejected, 0u);
    EXPECT_EQ(driver_files(own_folder(stage_)), made) << "the driver made more than was packed";
}

TEST_P(FirstStartTest, WithoutARecordingTheDriversCacheStaysWhereItIs) {
    const Played cold = recording_.cached(kScenario);
    ASSERT_EQ(cold.status, "") << cold.complaints;
    EXPECT_FALSE(fs::exists(own_folder(recording_)));
    pack_and_install();
    const Played first = stage_.cached(kScenario);
    EXPECT_EQ(first.report.driver_links, 0u);
    EXPECT_FALSE(fs::exists(own_folder(stage_)));
}

TEST_P(FirstStartTest, WhereTheUserHasSaidWhereTheDriverKeepsItsCacheThatHolds) {
    recording_.has_usual_driver_cache = false;  // it is set
    const Played run = recording_.cached(kScenario, {{"CAIRN_RECORD", "1"}, {"CAIRN_LOG", "1"}});
    EXPECT_EQ(run.status, "");
    EXPECT_EQ(driver_files(own_folder(recording_)), 0u);
    EXPECT_NE(run.complaints.find("MESA_SHADER_CACHE_DIR is set"), std::string::npos)
        << run.complaints;
}

TEST_P(FirstStartTest, AnotherDriversPackIsPassedOver) {
    recording_.extra = {{"LP_NATIVE_VECTOR_WIDTH", "128"}};
    const Played cold = record();
    const std::size_t made = driver_files(own_folder(recording_));
    pack_and_install();
    const Played first = stage_.cached(kScenario);
    EXPECT_EQ(first.status, "") << first.complaints;
    EXPECT_EQ(first.report.rejected, 0u);
    EXPECT_EQ(first.report.driver_links, cold.report.driver_links);
    std::size_t placed = 0;
    for (const auto &entry : fs::recursive_directory_iterator(own_folder(stage_))) {
        placed += entry.path().filename().string().starts_with("placed-") ? 1u : 0u;
    }
    EXPECT_EQ(placed, 0u);
    EXPECT_GT(made, 0u);
}

// Debian's image of an application, with a pack in it: its root cannot be written.
class ContainerTest : public FirstStartTest {
  protected:
    void SetUp() override {
        FirstStartTest::SetUp();
        if (IsSkipped()) return;
        if (std::system("bwrap --ro-bind / / --tmpfs /var/lib true >/dev/null 2>&1") != 0) {
            GTEST_SKIP() << "bwrap (the package bubblewrap) cannot make a container here";
        }
        (void)record();
        const std::string pack = recording_.directory() / "a.pack";
        const std::string image = recording_.directory() / "image";
        ASSERT_EQ(cairn("pack create --all --dir " + recording_.cache_root() + " " + pack), 0);
        ::setenv("CAIRN_PACKS", image.c_str(), 1);
        ASSERT_EQ(cairn("pack install --system --unsigned " + pack), 0);
        ::unsetenv("CAIRN_PACKS");
        fs::create_directory(stage_.cache_root());
        fs::permissions(stage_.cache_root(), fs::perms::owner_all);
        const std::string home = stage_.directory().path();
        stage_.prefix = {"bwrap",      "--ro-bind", "/",
                         "/",          "--tmpfs",   "/var/lib",
                         "--ro-bind",  image,       "/var/lib/cairn/packs",
                         "--bind",     home,        home,
                         "--dev-bind", "/dev",      "/dev"};
    }
};

TEST_P(ContainerTest, AnImageThatHoldsAPackIsWarmAtItsFirstStart) {
    const Played first = stage_.cached(kScenario);
    EXPECT_EQ(first.status, "") << first.complaints;
    EXPECT_GT(first.report.link_calls, 0u);
    EXPECT_EQ(first.report.driver_links, 0u);
    EXPECT_EQ(first.report.driver_compiles, 0u);
    EXPECT_EQ(driver_files(own_folder(stage_)), driver_files(own_folder(recording_)));
}

TEST_P(ContainerTest, ItIsSoWhereNothingCanBeWritten) {
    const std::string root = stage_.cache_root();
    stage_.prefix.insert(stage_.prefix.end(), {"--ro-bind", root, root});
    const Played first = stage_.cached(kScenario);
    EXPECT_EQ(first.status, "") << first.complaints;
    EXPECT_GT(first.report.link_calls, 0u);
    EXPECT_EQ(first.report.driver_links, 0u);
    EXPECT_TRUE(fs::is_empty(root));
}

TEST_P(ContainerTest, ItIsSoWhereRootsFilesBelongToNobody) {
    stage_.prefix.insert(stage_.prefix.end(), {"--unshare-user", "--uid", "1000"});
    const Played first = stage_.cached(kScenario);
    EXPECT_EQ(first.status, "") << first.complaints;
    EXPECT_EQ(first.report.driver_links, 0u);
}

INSTANTIATE_TEST_SUITE_P(Each, ContainerTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &each) { return name_of(each.param); });
INSTANTIATE_TEST_SUITE_P(Each, FirstStartTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &each) { return name_of(each.param); });

}  // namespace
}  // namespace gl_test
