// SPDX-License-Identifier: MIT
#include "presence.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace cairn::d3d12 {
namespace {

using Joined = Presence::Joined;
using Left = Presence::Left;

class PresenceTest : public testing::Test {
  protected:
    PresenceTest() {
        const char *parent = std::getenv("TMPDIR");
        std::string name = std::string(parent == nullptr ? "/tmp" : parent) + "/presence-XXXXXX";
        directory_ = mkdtemp(name.data());
    }
    ~PresenceTest() override {
        unlink(file().c_str());
        rmdir(directory_.c_str());
    }
    std::string file() const { return directory_ + "/sessions.lock"; }
    off_t size() const {
        struct stat info = {};
        return stat(file().c_str(), &info) == 0 ? info.st_size : -1;
    }

    std::string directory_;
};

// Locks of open files exclude one another within a process as between processes.
TEST_F(PresenceTest, TheLastOfManyClears) {
    Presence one;
    Presence other;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_EQ(other.join(directory_), Joined::yes);
    EXPECT_TRUE(one.mark_for_clearing());
    EXPECT_EQ(one.leave(), Left::yes);
    EXPECT_EQ(other.leave(), Left::must_clear);
    other.cleared();
    EXPECT_EQ(size(), 0);
}

TEST_F(PresenceTest, WithoutTheWishNobodyClears) {
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_EQ(one.leave(), Left::yes);
}

TEST_F(PresenceTest, TheWishOutlivesWhoeverHadIt) {
    {
        Presence one;
        EXPECT_EQ(one.join(directory_), Joined::yes);
        EXPECT_TRUE(one.mark_for_clearing());
        // No leave(): the process dies.
    }
    Presence next;
    EXPECT_EQ(next.join(directory_), Joined::must_clear);
    next.cleared();
    EXPECT_EQ(next.leave(), Left::yes);
}

TEST_F(PresenceTest, WhoJoinsOthersDoesNotClear) {
    Presence one;
    Presence other;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_TRUE(one.mark_for_clearing());
    EXPECT_EQ(other.join(directory_), Joined::yes);
}

TEST_F(PresenceTest, WhoJoinsWaitsForWhoClears) {
    {
        Presence dead;
        EXPECT_EQ(dead.join(directory_), Joined::yes);
        EXPECT_TRUE(dead.mark_for_clearing());
    }
    Presence clearing;
    EXPECT_EQ(clearing.join(directory_), Joined::must_clear);
    Joined joined = Joined::busy;
    std::thread waiting([&] {
        Presence other;
        joined = other.join(directory_);
    });
    clearing.cleared();
    waiting.join();
    EXPECT_EQ(joined, Joined::yes);
}

TEST_F(PresenceTest, WhoWaitsForeverIsTold) {
    {
        Presence dead;
        EXPECT_EQ(dead.join(directory_), Joined::yes);
        EXPECT_TRUE(dead.mark_for_clearing());
    }
    Presence stopped;
    EXPECT_EQ(stopped.join(directory_), Joined::must_clear);
    Presence other;
    EXPECT_EQ(other.join(directory_), Joined::busy);
}

TEST_F(PresenceTest, ADeletedFileIsMadeAnew) {
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    unlink(file().c_str());
    Presence other;
    EXPECT_EQ(other.join(directory_), Joined::yes);
    EXPECT_EQ(size(), 0);
}

TEST_F(PresenceTest, WhatIsNoFileIsNotUsed) {
    ASSERT_EQ(symlink("/nonexistent/file", file().c_str()), 0);
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_FALSE(one.mark_for_clearing());
    EXPECT_EQ(one.leave(), Left::yes);
    unlink(file().c_str());
    ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_FALSE(one.mark_for_clearing());
}

TEST_F(PresenceTest, OneAtATimeMeasures) {
    Presence one;
    Presence other;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_EQ(other.join(directory_), Joined::yes);
    {
        const Presence::MeasureLock held(one);
        EXPECT_TRUE(held.held());
        std::thread waiting([&] { EXPECT_FALSE(Presence::MeasureLock(other).held()); });
        waiting.join();
    }
    EXPECT_TRUE(Presence::MeasureLock(other).held());
}

}  // namespace
}  // namespace cairn::d3d12
