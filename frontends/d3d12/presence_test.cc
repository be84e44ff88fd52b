// SPDX-License-Identifier: MIT
#include "presence.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
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

TEST_F(PresenceTest, TheWishOutlivesItsProcess) {
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

// A process that still has the deleted file cannot know which others are there.
TEST_F(PresenceTest, WhoHasADeletedFileNeitherMarksNorClears) {
    Presence marked;
    Presence unmarked;
    EXPECT_EQ(marked.join(directory_), Joined::yes);
    EXPECT_EQ(unmarked.join(directory_), Joined::yes);
    EXPECT_TRUE(marked.mark_for_clearing());
    unlink(file().c_str());
    Presence other;
    EXPECT_EQ(other.join(directory_), Joined::yes);
    EXPECT_FALSE(unmarked.mark_for_clearing());
    EXPECT_EQ(marked.leave(), Left::yes);
    EXPECT_EQ(unmarked.leave(), Left::yes);
    EXPECT_EQ(other.leave(), Left::yes);
}

TEST_F(PresenceTest, WhatIsNoFileIsTakenAway) {
    ASSERT_EQ(symlink("/nonexistent/file", file().c_str()), 0);
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_TRUE(one.mark_for_clearing());
    EXPECT_EQ(one.leave(), Left::must_clear);
    one.cleared();
    unlink(file().c_str());
    ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
    EXPECT_EQ(one.join(directory_), Joined::yes);
    unlink(file().c_str());
    ASSERT_EQ(mkdir(file().c_str(), 0700), 0);
    EXPECT_EQ(one.join(directory_), Joined::yes);
}

TEST_F(PresenceTest, AFileWithAnotherNameIsLeftAlone) {
    const std::string precious = directory_ + "/precious";
    const int fd = open(precious.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(write(fd, "precious", 8), 8);
    ASSERT_EQ(link(precious.c_str(), file().c_str()), 0);
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::impossible);
    EXPECT_FALSE(one.mark_for_clearing());
    struct stat info = {};
    EXPECT_EQ(fstat(fd, &info), 0);
    EXPECT_EQ(info.st_size, 8);
    close(fd);
    unlink(precious.c_str());
}

TEST_F(PresenceTest, AnotherUsersFileIsLeftAlone) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root";
    }
    const int fd = open(file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(fchown(fd, 65534, 65534), 0);
    close(fd);
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::impossible);
}

TEST_F(PresenceTest, WithoutDescriptorsNobodyJoins) {
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    Presence one;
    const Joined joined = one.join(directory_);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(joined, Joined::impossible);
}

TEST_F(PresenceTest, WithoutFilesOfAnySizeAWishCannotBeNoted) {
    Presence one;
    ASSERT_EQ(one.join(directory_), Joined::yes);
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    const bool noted = one.mark_for_clearing();
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_FALSE(noted);
    EXPECT_TRUE(one.mark_for_clearing());
}

TEST_F(PresenceTest, OneAtATimeMeasures) {
    Presence one;
    Presence other;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    EXPECT_EQ(other.join(directory_), Joined::yes);
    {
        const auto held = one.lock_to_measure();
        EXPECT_TRUE(held.ok());
        std::thread waiting([&] { EXPECT_FALSE(other.lock_to_measure().ok()); });
        waiting.join();
    }
    EXPECT_TRUE(other.lock_to_measure().ok());
}

TEST_F(PresenceTest, AChildOfForkMeasuresForItself) {
    Presence one;
    EXPECT_EQ(one.join(directory_), Joined::yes);
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        (void)!read(go[0], &byte, 1);
        _exit(one.lock_to_measure().ok() ? 1 : 0);
    }
    {
        const auto held = one.lock_to_measure();
        EXPECT_TRUE(held.ok());
        EXPECT_EQ(write(go[1], "", 1), 1);
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    close(go[0]);
    close(go[1]);
}

// A process that may only read sees no entries of a cache that was to be deleted, however many look,
// unless some process still has a session.
TEST_F(PresenceTest, WhoCannotWriteSeesNothingOfWhatWasToGo) {
    ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
    auto alive = std::make_unique<Presence>();
    EXPECT_EQ(alive->join(directory_), Joined::yes);
    EXPECT_TRUE(alive->mark_for_clearing());
    ASSERT_EQ(chmod(file().c_str(), 0444), 0);
    const auto joined_by_nobody = [&] {
        const pid_t child = fork();
        if (child == 0) {
            if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
                _exit(99);
            }
            Presence one;
            Presence other;
            const Joined first = one.join(directory_);
            _exit(first == other.join(directory_) ? static_cast<int>(first) : 98);
        }
        int status = -1;
        waitpid(child, &status, 0);
        return static_cast<Joined>(WEXITSTATUS(status));
    };
    EXPECT_EQ(joined_by_nobody(), Joined::yes);
    alive.reset();  // as the kernel lets go of what a process has that dies
    EXPECT_EQ(joined_by_nobody(), Joined::hidden);
    ASSERT_EQ(chmod(file().c_str(), 0400), 0);
    EXPECT_EQ(joined_by_nobody(), Joined::hidden);
}

}  // namespace
}  // namespace cairn::d3d12
