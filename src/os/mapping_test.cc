// SPDX-License-Identifier: MIT
#include "os/mapping.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "os/testing/scratch.h"

namespace cairn {
namespace {

constexpr std::size_t kSize = 8192;

class MappingTest : public ::testing::Test {
  protected:
    MappingTest() : directory_(Directory::open(scratch_.path())) {
        file_ = std::move(directory_.value().create_file("file").value());
        EXPECT_TRUE(file_.extend(kSize).ok());
    }

    testing::Scratch scratch_;
    Result<Directory> directory_;
    File file_;
};

TEST_F(MappingTest, StoresReachTheFileAndOtherMappings) {
    const auto one = Mapping::file(file_, Access::read_write, 0, kSize);
    const auto two = Mapping::file(file_, Access::read_only, 4096, 4096);
    ASSERT_TRUE(one.ok());
    ASSERT_TRUE(two.ok());
    std::memcpy(one->data() + 4096, "hello", 5);
    EXPECT_EQ(std::memcmp(two->data(), "hello", 5), 0);
    EXPECT_TRUE(one->sync().ok());
    std::byte bytes[5];
    ASSERT_TRUE(file_.read_at(4096, bytes).ok());
    EXPECT_EQ(std::memcmp(bytes, "hello", 5), 0);
}

TEST_F(MappingTest, WritesToTheFileAreSeen) {
    const auto mapping = Mapping::file(file_, Access::read_only, 0, kSize);
    ASSERT_TRUE(mapping.ok());
    const Bytes pieces[] = {as_bytes("written")};
    ASSERT_TRUE(file_.write_at(10, pieces).ok());
    EXPECT_EQ(std::memcmp(mapping->data() + 10, "written", 7), 0);
}

TEST_F(MappingTest, OutlivesItsFilesName) {
    const Bytes pieces[] = {as_bytes("still here")};
    ASSERT_TRUE(file_.write_at(0, pieces).ok());
    const auto mapping = Mapping::file(file_, Access::read_only, 0, kSize);
    ASSERT_TRUE(mapping.ok());
    ASSERT_TRUE(directory_.value().remove_file("file").ok());
    file_ = File();
    EXPECT_EQ(std::memcmp(mapping->data(), "still here", 10), 0);
}

TEST_F(MappingTest, MovingMovesTheMemory) {
    auto first = Mapping::file(file_, Access::read_write, 0, kSize);
    ASSERT_TRUE(first.ok());
    std::byte *data = first->data();
    const Mapping second(std::move(first.value()));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.size(), kSize);
    EXPECT_EQ(first->data(), nullptr);
    second.data()[0] = std::byte{1};
}

TEST_F(MappingTest, WritingNeedsAFileOpenForWriting) {
    const auto file = directory_.value().open_file("file", Access::read_only);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(Mapping::file(file.value(), Access::read_write, 0, kSize).error(), Error::denied);
    EXPECT_TRUE(Mapping::file(file.value(), Access::read_only, 0, kSize).ok());
}

TEST_F(MappingTest, APageThatWasJustTouchedIsCached) {
    const auto file = directory_.value().open_file("file", Access::read_write);
    const auto mapping = Mapping::file(file.value(), Access::read_write, 0, kSize);
    ASSERT_TRUE(mapping.ok());
    mapping->data()[kSize - 1] = std::byte{1};
    EXPECT_TRUE(Mapping::is_cached(mapping->data() + kSize - 1));
    EXPECT_FALSE(Mapping::is_cached(nullptr));
}

TEST(WipedOnFork, IsZeroedAtFirstAndAgainInAChild) {
    const auto mapping = Mapping::wiped_on_fork(4096);
    ASSERT_TRUE(mapping.ok());
    std::byte *data = mapping->data();
    for (std::size_t i = 0; i < 4096; ++i) ASSERT_EQ(data[i], std::byte{0});
    std::memset(data, 0x55, 4096);
    const pid_t child = ::fork();
    if (child == 0) {
        bool zero = true;
        for (std::size_t i = 0; i < 4096; ++i) zero = zero && data[i] == std::byte{0};
        data[0] = std::byte{7};
        ::_exit(zero ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(data[0], std::byte{0x55}) << "parent and child have memory of their own";
}

}  // namespace
}  // namespace cairn
