// SPDX-License-Identifier: MIT
#include "os/read_only_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/testing/scratch.h"

namespace cairn {
namespace {

TEST(ReadOnlyView, LetsNobodyWriteThroughWhatWasOpenedBelowIt) {
    testing::Scratch scratch;
    const auto directory = Directory::open(scratch.path());
    const auto file = directory->create_file("file");
    ASSERT_TRUE(file.ok() && file->extend(4096).ok());
    const auto view = open_read_only_view(scratch.path());
    if (!view.ok() && view.error() == Error::unsupported) {
        GTEST_SKIP() << "this system lets its users make no mounts";
    }
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->open_file("file", Access::read_write).error(), Error::read_only);
    EXPECT_EQ(view->create_file("other").error(), Error::read_only);
    const auto seen = view->open_file("file", Access::read_only);
    ASSERT_TRUE(seen.ok());
    const std::string link = "/proc/self/fd/" + std::to_string(seen->fd());
    EXPECT_EQ(::open(link.c_str(), O_RDWR), -1);
    EXPECT_EQ(errno, EROFS);
    EXPECT_EQ(::fchmod(seen->fd(), 0666), -1);
    EXPECT_EQ(::ftruncate(seen->fd(), 0), -1);
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, seen->fd(), 0), MAP_FAILED);
    void *mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, seen->fd(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_EQ(::mprotect(mapped, 4096, PROT_READ | PROT_WRITE), -1);
    // The view shows at once what others write, in old files and new ones.
    const Bytes piece[] = {as_bytes("written")};
    ASSERT_TRUE(file->write_at(0, piece).ok());
    EXPECT_EQ(std::string_view(static_cast<const char *>(mapped)), "written");
    ASSERT_TRUE(directory->create_file("other").ok());
    EXPECT_TRUE(view->open_file("other", Access::read_only).ok());
    ::munmap(mapped, 4096);
}

TEST(ReadOnlyView, NeedsADirectory) {
    testing::Scratch scratch;
    EXPECT_FALSE(open_read_only_view(scratch / "missing").ok());
}

}  // namespace
}  // namespace cairn
