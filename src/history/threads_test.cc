// Threads that use a history at once: for ThreadSanitizer, too.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <thread>
#include <vector>

#include "base/checksum.h"
#include "history/files.h"
#include "history/history.h"
#include "history/reader.h"
#include "os/deadline.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kThreads = 4;
constexpr std::uint64_t kEach = 2000;
constexpr const char *kOwn = "gl-app-0000000000000001";
constexpr const char *kSibling = "gl-app-0000000000000002";

class HistoryThreadsTest : public ::testing::Test {
  protected:
    HistoryThreadsTest() {
        be_patient(1000);
        fs::create_directory(root_);
        fs::permissions(root_, fs::perms::owner_all);
        for (const char *name : {kOwn, kSibling}) {
            fs::create_directory(root_ + "/" + name);
            std::ofstream(root_ + "/" + name + "/generation") << "application: app\n";
        }
    }
    ~HistoryThreadsTest() override { be_patient(1); }
    std::unique_ptr<History> open(const char *identifier = kOwn, std::uint64_t driver = 1) const {
        auto opened = History::open({root_, identifier, driver, 1u << 30});
        EXPECT_TRUE(opened.ok());
        return opened.ok() ? std::move(*opened) : nullptr;
    }
    Directory directory() const { return std::move(*Directory::open(root_ + "/" + kOwn)); }
    template <typename Body>
    static void in_threads(Body body) {
        std::vector<std::thread> threads;
        for (std::uint64_t t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { body(t); });
        for (std::thread &thread : threads) thread.join();
    }
    static ProgramParts program(std::uint64_t i) {
        const std::uint64_t sources = checksum(std::as_bytes(std::span(&i, 1)), 0);
        return {sources, i, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(sources)};
    }

    const testing::Scratch directory_;
    const std::string root_ = directory_ / "root";
};

TEST_F(HistoryThreadsTest, WhatTheyNoteIsThereAfterwards) {
    open(kSibling, 2)->note({7, 7, 7, 7}, true);
    const auto one = open();
    const auto two = open();
    in_threads([&](std::uint64_t t) {
        History &history = t % 2 == 0 ? *one : *two;
        for (std::uint64_t i = 0; i < kEach; ++i) {
            history.note_making(true);
            history.note(program(t * kEach + i), true);
            history.note_context(i, {static_cast<std::uint32_t>(i)});
            history.add(Number::starts, 1);
            history.note_link({});
            EXPECT_EQ(history.find({7, 7, 7, 8}).how, Seen::How::other_driver);
            (void)history.knows(program(i).sources, program(i).key);
            history.note_making(false);
        }
    });
    const auto read = read_history(directory());
    ASSERT_EQ(read.value().runs.size(), 2u);
    for (const RunRead &run : read.value().runs) {
        EXPECT_EQ(run.numbers[Number::starts], kThreads * kEach / 2);
        EXPECT_EQ(run.making_ns, 0u);
    }
    EXPECT_EQ(read.value().links.back().number, kThreads * kEach);
    std::size_t lost = 0;
    for (std::uint64_t i = 0; i < kThreads * kEach; ++i) {
        if (one->find(program(i)).how != Seen::How::same) ++lost;
    }
    EXPECT_LE(lost, 10u);  // two that write to the same free place at once
}

TEST_F(HistoryThreadsTest, TheyGoOnInANewFileWhenTheCacheIsCleared) {
    const auto history = open();
    in_threads([&](std::uint64_t t) {
        for (std::uint64_t i = 0; i < kEach; ++i) {
            history->note(program(t * kEach + i), true);
            (void)history->find(program(i));
            history->add(Number::starts, 1);
            history->note_link({});
            if (t == 0 && i % 200 == 0) forget_history(directory());
        }
    });
    history->note(program(1), true);
    EXPECT_EQ(history->find(program(1)).how, Seen::How::same);
    EXPECT_EQ(open()->find(program(1)).how, Seen::How::same);
}

}  // namespace
}  // namespace cairn
