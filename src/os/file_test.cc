// SPDX-License-Identifier: MIT
#include "os/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "os/testing/scratch.h"
#include "os/text_file.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class FileTest : public ::testing::Test {
  protected:
    FileTest() : directory_(Directory::open(scratch_.path())) {}

    const Directory &directory() const { return directory_.value(); }
    File create(const std::string &name) const {
        auto file = directory().create_file(name);
        EXPECT_TRUE(file.ok());
        return std::move(file.value());
    }
    static void write(const File &file, std::uint64_t offset, std::string_view text) {
        const Bytes pieces[] = {as_bytes(text)};
        ASSERT_TRUE(file.write_at(offset, pieces).ok());
    }
    static std::string read(const File &file, std::uint64_t offset, std::size_t size) {
        std::vector<std::byte> bytes(size);
        const auto count = file.read_at(offset, bytes);
        EXPECT_TRUE(count.ok());
        return {reinterpret_cast<const char *>(bytes.data()), count.value()};
    }

    testing::Scratch scratch_;
    Result<Directory> directory_;
};

TEST(Errno, EachHasTheErrorThatACallerCanActOn) {
    EXPECT_EQ(error_from_errno(ENOENT), Error::not_found);
    EXPECT_EQ(error_from_errno(EEXIST), Error::exists);
    EXPECT_EQ(error_from_errno(ENOMEM), Error::no_memory);
    EXPECT_EQ(error_from_errno(ENOSPC), Error::no_space);
    EXPECT_EQ(error_from_errno(EDQUOT), Error::no_space);
    EXPECT_EQ(error_from_errno(EFBIG), Error::no_space);
    EXPECT_EQ(error_from_errno(EACCES), Error::denied);
    EXPECT_EQ(error_from_errno(EPERM), Error::denied);
    EXPECT_EQ(error_from_errno(ELOOP), Error::denied);
    EXPECT_EQ(error_from_errno(EROFS), Error::read_only);
    EXPECT_EQ(error_from_errno(EOPNOTSUPP), Error::unsupported);
    EXPECT_EQ(error_from_errno(EIO), Error::io);
    EXPECT_EQ(error_from_errno(EMFILE), Error::io);
}

TEST(UniqueFdTest, ClosesWhatItOwnsExactlyOnce) {
    const int fd = ::dup(0);
    ASSERT_GE(fd, 0);
    {
        UniqueFd first(fd);
        UniqueFd second(std::move(first));
        EXPECT_FALSE(first.valid());
        UniqueFd third;
        third = std::move(second);
        EXPECT_EQ(third.get(), fd);
        EXPECT_EQ(::fcntl(fd, F_GETFD) >= 0, true);
    }
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST_F(FileTest, ReadsBackPiecesWrittenAtAnOffset) {
    const File file = create("file");
    const Bytes pieces[] = {as_bytes("one"), Bytes(), as_bytes("two"), as_bytes("three")};
    ASSERT_TRUE(file.write_at(100, pieces).ok());
    EXPECT_EQ(read(file, 100, 11), "onetwothree");
    EXPECT_EQ(read(file, 98, 5), std::string("\0\0one", 5));
}

TEST_F(FileTest, ReadsIntoTwoPlacesInOneGo) {
    const File file = create("file");
    write(file, 0, "headvalue");
    std::byte head[4];
    std::byte value[16];
    const auto count = file.read_at(0, MutableBytes(head), MutableBytes(value));
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(count.value(), 9u);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(value), 5), "value");
}

TEST_F(FileTest, ReadsFewerBytesOnlyAtTheEnd) {
    const File file = create("file");
    write(file, 0, "12345");
    EXPECT_EQ(read(file, 3, 10), "45");
    EXPECT_EQ(read(file, 5, 10), "");
    EXPECT_EQ(read(file, 1000, 10), "");
}

TEST_F(FileTest, ExtendingGivesZeroesWithBlocksBehindThem) {
    const File file = create("file");
    write(file, 0, "abc");
    ASSERT_TRUE(file.extend(100'000).ok());
    const auto info = file.info();
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->size_bytes, 100'000u);
    EXPECT_GE(info->disk_bytes, 100'000u / 4096 * 4096);
    EXPECT_EQ(read(file, 0, 3), "abc");
    EXPECT_EQ(read(file, 99'990, 100), std::string(10, '\0'));
}

TEST_F(FileTest, ExtendingToLessChangesNothing) {
    const File file = create("file");
    write(file, 0, "abcdef");
    ASSERT_TRUE(file.extend(3).ok());
    EXPECT_EQ(read(file, 0, 10), "abcdef");
}

TEST_F(FileTest, ReservingTakesBlocksAndLeavesTheSize) {
    const File file = create("file");
    write(file, 0, "abc");
    const Status status = file.reserve(0, 1 << 20);
    if (status.error() == Error::unsupported) GTEST_SKIP() << "not on this file system";
    ASSERT_TRUE(status.ok());
    const auto info = file.info();
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->size_bytes, 3u);
    EXPECT_GE(info->disk_bytes, 1u << 20);
    ASSERT_TRUE(file.truncate(3).ok());
    EXPECT_LT(file.info()->disk_bytes, 1u << 20) << "cutting gives reserved blocks back";
}

// The kernel would end this program by SIGXFSZ.
TEST_F(FileTest, DataIsFoundBehindAHole) {
    const File file = create("file");
    constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
    write(file, 100, "begin");
    write(file, kFar, "end");
    EXPECT_EQ(file.next_data(0).value(), 0u);
    EXPECT_EQ(file.next_data(102).value(), 102u);
    // In whole blocks; where a file system has no holes, all is data.
    const std::uint64_t behind = file.next_data(1 << 20).value();
    EXPECT_TRUE(behind == kFar || behind == 1 << 20) << behind;
    EXPECT_EQ(file.next_data(kFar + 1).value(), kFar + 1);
    EXPECT_EQ(file.next_data(kFar + 3).error(), Error::not_found);
    ASSERT_TRUE(file.truncate(kFar * 2).ok());
    const auto none = file.next_data(kFar + (1 << 20));
    EXPECT_TRUE(none.error() == Error::not_found || none.ok());
}

TEST_F(FileTest, BeyondTheFileSizeLimitEveryCallFailsBeforeTheKernelSeesIt) {
    const File file = create("file");
    ASSERT_TRUE(file.extend(8192).ok());
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (const rlim_t limit : {0u, 1u, 4096u, 8191u}) {
        const rlimit small = {limit, before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        const std::string text(limit + 1, 'x');
        const Bytes crossing[] = {as_bytes(text)};
        const Bytes one[] = {as_bytes("x")};
        EXPECT_EQ(file.write_at(0, crossing).error(), Error::no_space) << limit;
        EXPECT_EQ(file.write_at(limit, one).error(), Error::no_space) << limit;
        EXPECT_EQ(file.write_at(1 << 20, one).error(), Error::no_space) << limit;
        EXPECT_EQ(file.write_whole(as_bytes(text)).error(), Error::no_space) << limit;
        EXPECT_EQ(file.extend(limit + 1).error(), Error::no_space) << limit;
        EXPECT_EQ(file.reserve(limit, 1).error(), Error::no_space) << limit;
        EXPECT_EQ(file.truncate(limit + 1).error(), Error::no_space) << limit;
        EXPECT_EQ(directory().replace_file("other", as_bytes(text)).error(), Error::no_space);
        EXPECT_TRUE(file.write_at(limit, {}).ok());
        EXPECT_EQ(limit == 0 || file.write_at(limit - 1, one).ok(), true) << limit;
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
        EXPECT_EQ(read(file, limit, 1), std::string(1, '\0')) << "a part of it was written";
    }
}

TEST_F(FileTest, InfoTellsPermissionsAndWhoMayWrite) {
    const File file = create("file");
    ASSERT_EQ(::fchmod(file.fd(), 0640), 0);
    EXPECT_EQ(file.info()->permissions, 0640u);
    EXPECT_FALSE(file.info()->writable_by_others);
    EXPECT_EQ(file.info()->owner, ::geteuid());
    ASSERT_EQ(::fchmod(file.fd(), 0660), 0);
    EXPECT_TRUE(file.info()->writable_by_others);
    ASSERT_EQ(::fchmod(file.fd(), 0602), 0);
    EXPECT_TRUE(file.info()->writable_by_others);
}

TEST_F(FileTest, InfoTellsThatAFileWasDeleted) {
    const File file = create("file");
    EXPECT_EQ(file.info()->links, 1u);
    ASSERT_TRUE(directory().remove_file("file").ok());
    EXPECT_EQ(file.info()->links, 0u);
}

TEST_F(FileTest, DiscardingSparesWhatHasAnotherName) {
    const std::string text = "precious";
    auto file = directory().create_file("one");
    ASSERT_TRUE(file.ok() && file->write_whole(as_bytes(text)).ok());
    ASSERT_TRUE(directory().link("one", "two").ok());
    ASSERT_TRUE(directory().discard_file("one").ok());
    EXPECT_FALSE(directory().info("one").ok());
    EXPECT_EQ(directory().info("two")->size_bytes, text.size());
    ASSERT_TRUE(directory().discard_file("two").ok());
    EXPECT_EQ(file->info()->size_bytes, 0u) << "its blocks are given back at once";
}

TEST_F(FileTest, DiscardingWhatIsLeasedKeepsItsBlocksInSight) {
    ASSERT_TRUE(create("file").write_whole(as_bytes("text")).ok());
    const auto file = directory().open_file("file", Access::read_only);
    ASSERT_EQ(::fcntl(file->fd(), F_SETLEASE, F_RDLCK), 0);
    const auto ignored = ::signal(SIGIO, SIG_IGN);  // the kernel tells the holder to give it up
    EXPECT_TRUE(directory().discard_file("file").ok());
    EXPECT_FALSE(directory().info("file").ok());
    EXPECT_EQ(directory().discard_file("file.tmp").error(), Error::busy);
    EXPECT_EQ(file->info()->links, 1u);
    ASSERT_EQ(::fcntl(file->fd(), F_SETLEASE, F_UNLCK), 0);
    ::signal(SIGIO, ignored);
    EXPECT_TRUE(directory().discard_file("file.tmp").ok());
    EXPECT_EQ(file->info()->links, 0u);
    EXPECT_EQ(file->info()->disk_bytes, 0u);
}

TEST_F(FileTest, NewFilesBelongToTheirUserAlone) {
    const mode_t before = ::umask(0);
    const File file = create("file");
    ::umask(before);
    EXPECT_EQ(file.info()->permissions, 0600u);
}

TEST_F(FileTest, DescriptorsAreNotInheritedByOtherPrograms) {
    const File file = create("file");
    EXPECT_NE(::fcntl(file.fd(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(directory().fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FileTest, AFileOpenForReadingCannotBeWritten) {
    { const File file = create("file"); }
    const auto file = directory().open_file("file", Access::read_only);
    ASSERT_TRUE(file.ok());
    const Bytes pieces[] = {as_bytes("x")};
    EXPECT_FALSE(file->write_at(0, pieces).ok());
}

TEST_F(FileTest, CreatingRefusesANameThatIsThere) {
    { const File file = create("file"); }
    EXPECT_EQ(directory().create_file("file").error(), Error::exists);
    EXPECT_TRUE(directory().open_or_create_file("file").ok());
    EXPECT_TRUE(directory().open_or_create_file("other").ok());
    EXPECT_EQ(directory().open_file("missing", Access::read_only).error(), Error::not_found);
}

TEST_F(FileTest, SymbolicLinksAreNotFollowed) {
    { const File file = create("file"); }
    ASSERT_TRUE(directory().create_directory("sub").ok());
    ASSERT_EQ(::symlink("file", (scratch_ / "link").c_str()), 0);
    ASSERT_EQ(::symlink("sub", (scratch_ / "sublink").c_str()), 0);
    EXPECT_EQ(directory().open_file("link", Access::read_only).error(), Error::corrupt);
    EXPECT_EQ(directory().open_or_create_file("link").error(), Error::corrupt);
    EXPECT_EQ(directory().open_directory("sublink").error(), Error::denied);
    EXPECT_EQ(Directory::open(scratch_ / "sublink").error(), Error::denied);
    EXPECT_TRUE(directory().info("link").ok()) << "what is asked about is the link";
}

TEST_F(FileTest, ListsEveryNameButItselfAndItsParent) {
    { const File file = create("a"); }
    { const File file = create("b"); }
    ASSERT_TRUE(directory().create_directory("c").ok());
    for (int i = 0; i < 2; ++i) {  // reading positions are not kept from one listing to the next
        std::vector<std::string> names;
        ASSERT_TRUE(directory().list([&](const char *name) { names.emplace_back(name); }).ok());
        EXPECT_THAT(names, UnorderedElementsAre("a", "b", "c"));
    }
}

TEST_F(FileTest, RenamingReplacesAndLinkingDoesNot) {
    write(create("a"), 0, "from a");
    write(create("b"), 0, "from b");
    EXPECT_EQ(directory().link("a", "b").error(), Error::exists);
    ASSERT_TRUE(directory().link("a", "c").ok());
    ASSERT_TRUE(directory().rename("a", "b").ok());
    EXPECT_EQ(directory().info("a").error(), Error::not_found);
    EXPECT_EQ(read(directory().open_file("b", Access::read_only).value(), 0, 10), "from a");
    EXPECT_EQ(directory().info("c")->links, 2u);
}

TEST_F(FileTest, AFileIsReplacedAsAWholeOrNotAtAll) {
    ASSERT_TRUE(directory().replace_file("a", as_bytes("first and longer")).ok());
    ASSERT_TRUE(directory().replace_file("a", as_bytes("second")).ok());
    EXPECT_EQ(read(directory().open_file("a", Access::read_only).value(), 0, 20), "second");
    ASSERT_TRUE(directory().create_directory("sub").ok());
    EXPECT_FALSE(directory().replace_file("sub", as_bytes("a file")).ok());
    ASSERT_TRUE(directory().replace_file_durably("a", as_bytes("third")).ok());
    EXPECT_EQ(read(directory().open_file("a", Access::read_only).value(), 0, 20), "third");
    EXPECT_FALSE(directory().replace_file_durably("sub", as_bytes("a file")).ok());
    std::vector<std::string> names;
    ASSERT_TRUE(directory().list([&](const char *name) { names.emplace_back(name); }).ok());
    EXPECT_THAT(names, UnorderedElementsAre("a", "sub"));
}

TEST_F(FileTest, DirectoriesAreCreatedAndRemoved) {
    ASSERT_TRUE(directory().create_directory("sub").ok());
    EXPECT_EQ(directory().create_directory("sub").error(), Error::exists);
    EXPECT_EQ(directory().info("sub")->permissions & 077u, 0u);
    EXPECT_TRUE(directory().sync().ok());
    EXPECT_TRUE(directory().remove_directory("sub").ok());
    EXPECT_EQ(directory().open_directory("sub").error(), Error::not_found);
}

TEST_F(FileTest, WhatIsInMemoryIsReadWithoutWaiting) {
    const File file = create("file");
    write(file, 0, "in memory");
    std::vector<std::byte> bytes(100);
    const auto count = file.read_cached_at(3, bytes);
    if (count.error() == Error::unsupported) GTEST_SKIP() << "not on this file system";
    ASSERT_TRUE(count.ok());
    EXPECT_TRUE(same_bytes(Bytes(bytes).first(count.value()), as_bytes("memory")));
    EXPECT_EQ(file.read_cached_at(100, bytes).value(), 0u);
}

TEST_F(FileTest, WhatIsNotInMemoryIsNotWaitedFor) {
    const File file = create("file");
    write(file, 0, std::string(4096, 'x'));
    ASSERT_TRUE(file.sync_data().ok());
    ASSERT_EQ(posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED), 0);
    std::vector<std::byte> bytes(4096);
    const auto count = file.read_cached_at(0, bytes);
    if (count.ok()) GTEST_SKIP() << "this file system keeps it";
    EXPECT_TRUE(count.error() == Error::busy || count.error() == Error::unsupported);
}

class TextFileTest : public ::testing::Test {
  protected:
    std::string path(const std::string &name) const { return scratch_.path() + "/" + name; }
    void write(const std::string &name, std::string_view text) const {
        const auto directory = Directory::open(scratch_.path());
        ASSERT_TRUE(directory->replace_file(name, as_bytes(text)).ok());
    }

    testing::Scratch scratch_;
};

TEST_F(TextFileTest, IsReadUpToItsLimitAlsoThroughALink) {
    write("file", "some text");
    EXPECT_EQ(read_text_file(path("file"), 100).value(), "some text");
    EXPECT_EQ(read_text_file(path("file"), 4).value(), "some");
    ASSERT_EQ(::symlink("file", path("link").c_str()), 0);
    EXPECT_EQ(read_text_file(path("link"), 100).value(), "some text");
    EXPECT_EQ(read_text_file("/proc/self/comm", 1).value().size(), 1u);
}

TEST_F(TextFileTest, InADirectoryIsReadUpToItsLimitAndNotThroughALink) {
    write("file", "some text");
    auto directory = Directory::open(scratch_.path());
    EXPECT_EQ(read_text_file(*directory, "file", 100).value(), "some text");
    EXPECT_EQ(read_text_file(*directory, "file", 4).value(), "some");
    EXPECT_EQ(read_text_file(*directory, "missing", 4).error(), Error::not_found);
    ASSERT_EQ(::symlink("file", path("link").c_str()), 0);
    EXPECT_FALSE(read_text_file(*directory, "link", 100).ok());
}

TEST_F(TextFileTest, ThatIsNoneIsNotReadAndNotWaitedFor) {
    EXPECT_EQ(read_text_file(path("missing"), 100).error(), Error::not_found);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(read_text_file(path("pipe"), 100).error(), Error::corrupt);
    EXPECT_FALSE(read_text_file(scratch_.path(), 100).ok());
}

TEST_F(TextFileTest, PathsAreThoseWithTheEndingInOrderAlsoBehindALink) {
    write("b.conf", "");
    write("a.conf", "");
    write("conf", "");
    EXPECT_THAT(paths_in(scratch_.path(), ".conf"), ElementsAre(path("a.conf"), path("b.conf")));
    ASSERT_EQ(::symlink(".", path("link").c_str()), 0);
    EXPECT_THAT(paths_in(path("link"), ".conf"),
                ElementsAre(path("link/a.conf"), path("link/b.conf")));
    EXPECT_THAT(paths_in(path("missing"), ".conf"), IsEmpty());
}

TEST_F(TextFileTest, IsAppendedToWhereItIsThere) {
    write("file", "one\n");
    append_to_file(path("file"), "two\n");
    EXPECT_EQ(read_text_file(path("file"), 100).value(), "one\ntwo\n");
    append_to_file(path("missing"), "two\n");
    EXPECT_EQ(read_text_file(path("missing"), 100).error(), Error::not_found);
}

}  // namespace
}  // namespace cairn
