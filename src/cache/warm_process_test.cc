// SPDX-License-Identifier: MIT
#include "cache/warm_process.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "os/environment.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

constexpr const char *kLine =
    R"({"application":"a \"made\":7","done":12,"total":30,"made":5,"known":4,"refused":1,"failed":1,)"
    R"("skipped":1,"damaged":0,"problems":["\"finished\":true"],"finished":false})";

std::uint64_t soon() {
    return monotonic_ns() + 5'000'000'000;
}

class WarmProcessTest : public ::testing::Test {
  protected:
    // A program of this script.
    std::string program(const std::string &script) const {
        const std::string path = std::string(scratch_.path()) + "/program";
        std::ofstream(path) << "#!/bin/sh\n" << script;
        ::chmod(path.c_str(), 0700);
        return path;
    }
    testing::Scratch scratch_;
};

TEST_F(WarmProcessTest, ALineSaysHowFarItIs) {
    const WarmProgress progress = parse_progress(kLine);
    EXPECT_EQ(progress.done, 12u);
    EXPECT_EQ(progress.total, 30u);
    EXPECT_EQ(progress.made, 5u) << "and not what a name says";
    EXPECT_EQ(progress.known, 4u);
    EXPECT_EQ(progress.refused, 1u);
    EXPECT_EQ(progress.failed, 1u);
    EXPECT_EQ(progress.skipped, 1u);
    EXPECT_FALSE(progress.is_finished);
    EXPECT_EQ(parse_progress("nonsense").total, 0u);
    EXPECT_EQ(parse_progress("{\"total\":99999999999999999999999}").total, 0u);
}

TEST_F(WarmProcessTest, NewsComeLineByLineUntilTheEnd) {
    ::setenv("WARM_TEST", "seen", 1);
    auto warm = WarmProcess::start(
        program("[ \"$*\" = 'warm --json-progress game' ] && [ \"$WARM_TEST\" = seen ] || exit 1\n"
                "echo '{\"done\":1,\"total\":2,\"finished\":false}'\n"
                "echo '{\"done\":2,\"total\":2,\"finished\":true}'\n"),
        {"game"});
    ::unsetenv("WARM_TEST");
    ASSERT_TRUE(warm.ok());
    EXPECT_EQ(warm->wait(soon()).error(), Error::busy);
    EXPECT_EQ(warm->progress().done, 1u);
    EXPECT_TRUE(warm->wait(soon()).ok());
    EXPECT_EQ(warm->progress().done, 2u);
    EXPECT_TRUE(warm->wait(soon()).ok()) << "again";
}

TEST_F(WarmProcessTest, OneThatEndsWithoutAnAnswerHasFailed) {
    auto silent = WarmProcess::start(program("exit 1\n"), {});
    ASSERT_TRUE(silent.ok());
    EXPECT_EQ(silent->wait(soon()).error(), Error::io);
    auto half = WarmProcess::start(program("printf '{\"finished\":true}'\n"), {});
    ASSERT_TRUE(half.ok());
    EXPECT_EQ(half->wait(soon()).error(), Error::io);
    EXPECT_EQ(WarmProcess::start("/nonexistent/cairn", {}).error(), Error::not_found);
}

TEST_F(WarmProcessTest, NobodyWaitsLongerThanIsAskedFor) {
    auto warm = WarmProcess::start(program("echo '{\"done\":1}'; exec sleep 1000\n"), {});
    ASSERT_TRUE(warm.ok());
    EXPECT_EQ(warm->wait(soon()).error(), Error::busy);
    EXPECT_EQ(warm->progress().done, 1u);
    const std::uint64_t before = monotonic_ns();
    EXPECT_EQ(warm->wait(before + 50'000'000).error(), Error::busy);
    EXPECT_LT(monotonic_ns() - before, 5'000'000'000u);
}

}  // namespace
}  // namespace cairn
