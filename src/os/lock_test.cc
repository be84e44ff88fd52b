// Locks on bytes of a file, on which the whole store relies to learn who is alive.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "os/byte_lock.h"
#include "os/file.h"
#include "os/testing/child.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

class LockTest : public ::testing::Test {
  protected:
    LockTest() : directory_(Directory::open(scratch_.path())) {}

    // A description of its own.
    File open() const {
        auto file = directory_.value().open_or_create_file("lock");
        EXPECT_TRUE(file.ok());
        return std::move(file.value());
    }
    static bool take(const File &file, std::uint64_t byte, LockKind kind) {
        const auto locked = file.try_lock(byte, kind);
        EXPECT_TRUE(locked.ok());
        return locked.ok() && locked.value();
    }

    testing::Scratch scratch_;
    Result<Directory> directory_;
};

TEST_F(LockTest, ExclusiveKeepsOthersOutUntilUnlocked) {
    const File one = open();
    const File two = open();
    EXPECT_TRUE(take(one, 0, LockKind::exclusive));
    EXPECT_FALSE(take(two, 0, LockKind::exclusive));
    EXPECT_FALSE(take(two, 0, LockKind::shared));
    one.unlock(0);
    EXPECT_TRUE(take(two, 0, LockKind::exclusive));
}

TEST_F(LockTest, AByteLockIsGivenBackWithItsObject) {
    const File one = open();
    const File two = open();
    {
        const auto held = ByteLock::acquire(one, 0, 0);
        ASSERT_TRUE(held.ok());
        EXPECT_EQ(ByteLock::acquire(two, 0, 100).error(), Error::busy);
        EXPECT_TRUE(ByteLock::acquire(two, 1, 0).ok());
    }
    const auto shared = ByteLock::acquire(two, 0, 0, LockKind::shared);
    ASSERT_TRUE(shared.ok());
    EXPECT_TRUE(take(one, 0, LockKind::shared));
    EXPECT_FALSE(take(one, 0, LockKind::exclusive));
}

TEST_F(LockTest, SharedHoldersAgreeAndKeepAnExclusiveOneOut) {
    const File one = open();
    const File two = open();
    EXPECT_TRUE(take(one, 0, LockKind::shared));
    EXPECT_TRUE(take(two, 0, LockKind::shared));
    EXPECT_FALSE(take(one, 0, LockKind::exclusive));
    two.unlock(0);
    EXPECT_TRUE(take(one, 0, LockKind::exclusive)) << "locking again changes the kind";
    EXPECT_FALSE(take(two, 0, LockKind::shared));
    EXPECT_TRUE(take(one, 0, LockKind::shared));
    EXPECT_TRUE(take(two, 0, LockKind::shared));
}

TEST_F(LockTest, AFailedUpgradeKeepsTheSharedLock) {
    const File one = open();
    const File two = open();
    EXPECT_TRUE(take(one, 0, LockKind::shared));
    EXPECT_TRUE(take(two, 0, LockKind::shared));
    EXPECT_FALSE(take(one, 0, LockKind::exclusive));
    const File three = open();
    two.unlock(0);
    EXPECT_FALSE(take(three, 0, LockKind::exclusive)) << "the first still holds its lock";
}

TEST_F(LockTest, BytesAreLockedApart) {
    const File one = open();
    const File two = open();
    EXPECT_TRUE(take(one, 0, LockKind::exclusive));
    EXPECT_TRUE(take(two, 1, LockKind::exclusive));
    EXPECT_FALSE(take(two, 0, LockKind::exclusive));
}

TEST_F(LockTest, ClosingTheFileUnlocks) {
    const File two = open();
    {
        const File one = open();
        EXPECT_TRUE(take(one, 0, LockKind::exclusive));
    }
    EXPECT_TRUE(take(two, 0, LockKind::exclusive));
}

// Unlike the older kind of lock, which is lost when any descriptor of the file is closed.
TEST_F(LockTest, ClosingAnotherDescriptionOfTheFileUnlocksNothing) {
    const File one = open();
    EXPECT_TRUE(take(one, 0, LockKind::exclusive));
    { const File two = open(); }
    const File three = open();
    EXPECT_FALSE(take(three, 0, LockKind::exclusive));
}

TEST_F(LockTest, AChildSharesItsParentsLock) {
    const File one = open();
    ASSERT_TRUE(take(one, 0, LockKind::exclusive));
    EXPECT_EQ(testing::in_child([&] {
                  const bool again = one.try_lock(0, LockKind::exclusive).value();
                  const bool other = open().try_lock(0, LockKind::exclusive).value();
                  return again && !other ? 0 : 1;
              }),
              0);
    const File two = open();
    EXPECT_FALSE(take(two, 0, LockKind::exclusive)) << "the child's end must not unlock it";
}

TEST_F(LockTest, AChildsUnlockingUnlocksItsParent) {
    const File one = open();
    ASSERT_TRUE(take(one, 0, LockKind::exclusive));
    EXPECT_EQ(testing::in_child([&] {
                  one.unlock(0);
                  return 0;
              }),
              0);
    const File two = open();
    EXPECT_TRUE(take(two, 0, LockKind::exclusive))
        << "one description, one lock: a child must use a description of its own";
}

TEST_F(LockTest, TheKernelUnlocksForAKilledProcess) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const File file = open();
        const char code = file.try_lock(0, LockKind::exclusive).value() ? 'y' : 'n';
        if (::write(ready[1], &code, 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }
    char code = 0;
    ASSERT_EQ(::read(ready[0], &code, 1), 1);
    EXPECT_EQ(code, 'y');
    const File file = open();
    EXPECT_FALSE(take(file, 0, LockKind::exclusive));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(take(file, 0, LockKind::exclusive));
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace
}  // namespace cairn
