// SPDX-License-Identifier: MIT
#include <cairn/cairn_warm.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "support/temp_directory.h"

namespace {

class WarmCallsTest : public testing::Test {
  protected:
    WarmCallsTest() {
        options_.size = sizeof options_;
        progress_.size = sizeof progress_;
    }
    ~WarmCallsTest() override { cairn_warm_end(warm_); }
    void run(const std::string &script) {
        program_ = directory_ / "cairn";
        std::ofstream(program_) << "#!/bin/sh\n" << script;
        chmod(program_.c_str(), 0700);
        options_.program = program_.c_str();
    }
    int wait() { return cairn_warm_wait(warm_, 10'000, &progress_); }

    cairn_test::TempDirectory directory_;
    std::string program_;
    cairn_warm_options options_ = {};
    cairn_warm_progress progress_ = {};
    cairn_warm *warm_ = nullptr;
};

TEST_F(WarmCallsTest, TellHowFarItIs) {
    run("echo '{\"done\":1,\"total\":3,\"made\":1}'\n"
        "echo '{\"done\":3,\"total\":3,\"made\":2,\"refused\":1,\"finished\":true}'\n");
    ASSERT_EQ(cairn_warm_start(&options_, &warm_), CAIRN_OK);
    EXPECT_EQ(wait(), CAIRN_LATE);
    EXPECT_EQ(progress_.done, 1u);
    EXPECT_EQ(progress_.total, 3u);
    EXPECT_EQ(wait(), CAIRN_OK);
    EXPECT_EQ(progress_.made, 2u);
    EXPECT_EQ(progress_.refused, 1u);
    EXPECT_EQ(cairn_warm_wait(warm_, 0, nullptr), CAIRN_OK);
}

TEST_F(WarmCallsTest, SayWhatIsToBeMade) {
    const std::string said = directory_ / "said";
    run("echo \"$*\" >" + said + "; echo '{\"finished\":true}'\n");
    const auto says = [&](const char *expected) {
        ASSERT_EQ(cairn_warm_start(&options_, &warm_), CAIRN_OK);
        EXPECT_EQ(wait(), CAIRN_OK);
        std::string line;
        std::getline(std::ifstream(said) >> std::ws, line);
        EXPECT_EQ(line, std::string("warm --json-progress ") + expected);
        cairn_warm_end(warm_);
        warm_ = nullptr;
    };
    says("--all");
    options_.application = "--game";
    says("-- --game");
    options_.application = nullptr;
    options_.pack = "/a/game.pack";
    options_.executable = "/a/game";
    options_.root = "/cache";
    options_.jobs = 3;
    options_.flags = CAIRN_WARM_IF_NEEDED | CAIRN_WARM_AGAIN;
    says("--dir /cache --executable /a/game --jobs 3 --if-needed --again -- /a/game.pack");
}

TEST_F(WarmCallsTest, AProgramThatSaysNothingHasFailed) {
    run("exit 1\n");
    ASSERT_EQ(cairn_warm_start(&options_, &warm_), CAIRN_OK);
    EXPECT_EQ(wait(), CAIRN_ERROR_IO);
    EXPECT_EQ(progress_.total, 0u);
}

TEST_F(WarmCallsTest, EndingItStopsTheProgram) {
    const std::string alive = directory_ / "alive";
    run("exec 9>" + alive + "; echo '{\"done\":1}'; exec sleep 1000\n");
    ASSERT_EQ(cairn_warm_start(&options_, &warm_), CAIRN_OK);
    EXPECT_EQ(wait(), CAIRN_LATE);
    EXPECT_EQ(cairn_warm_wait(warm_, 1, nullptr), CAIRN_LATE);
    cairn_warm_end(warm_);
    warm_ = nullptr;
    EXPECT_NE(system(("fuser -s " + alive + " 2>/dev/null").c_str()), 0);
}

TEST_F(WarmCallsTest, RefuseWhatMakesNoSense) {
    const auto start = [&] { return cairn_warm_start(&options_, &warm_); };
    EXPECT_EQ(cairn_warm_start(&options_, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_warm_start(nullptr, &warm_), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.program = "/nonexistent/cairn";
    EXPECT_EQ(start(), CAIRN_ERROR_UNSUPPORTED);
    options_.program = "cairn";
    EXPECT_EQ(start(), CAIRN_ERROR_INVALID_ARGUMENT);
    run("exit 0\n");
    options_.pack = "game.pack";
    EXPECT_EQ(start(), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.pack = "/game.pack";
    options_.application = "game";
    EXPECT_EQ(start(), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.pack = nullptr;
    options_.jobs = 65;
    EXPECT_EQ(start(), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.jobs = 0;
    options_.flags = 4;
    EXPECT_EQ(start(), CAIRN_ERROR_INVALID_ARGUMENT);
    options_.flags = 0;
    options_.size = 8;
    EXPECT_EQ(start(), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(warm_, nullptr);
    EXPECT_EQ(cairn_warm_wait(nullptr, 0, &progress_), CAIRN_ERROR_INVALID_ARGUMENT);
    cairn_warm_end(nullptr);
}

}  // namespace
