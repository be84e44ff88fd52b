// SPDX-License-Identifier: MIT
#include "os/root.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "os/system_calls.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

class RootTest : public ::testing::Test {
  protected:
    static void receive(void *self, int, const char *line) {
        static_cast<RootTest *>(self)->lines_.emplace_back(line);
    }
    Result<Directory> open(const std::string &name, Create create = Create::yes) {
        lines_.clear();
        return open_root(scratch_ / name, create, log_);
    }
    Result<OpenedDirectory> open_cache(const std::string &identifier, Create create = Create::yes) {
        root_ = open("root");
        lines_.clear();
        return open_cache_directory(root_.value(), identifier, create, log_);
    }
    static unsigned mode(const std::string &path) {
        struct stat status = {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0);
        return status.st_mode & 07777;
    }
    std::string content(const std::string &name) {
        const int fd = ::open((scratch_ / name).c_str(), O_RDONLY | O_CLOEXEC);
        char text[1000];
        const ssize_t size = ::read(fd, text, sizeof text);
        ::close(fd);
        return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
    }

    testing::Scratch scratch_;
    std::vector<std::string> lines_;
    Log log_{&RootTest::receive, this};
    Result<Directory> root_ = Error::not_found;
};

// While it lives, all file systems are of the type that it says.
class PretendedFileSystem {
  public:
    explicit PretendedFileSystem(unsigned type) : behind_(system_calls), table_(*behind_) {
        type_ = type;
        table_.fstatfs = [](int, struct statfs *out) {
            *out = {};
            out->f_type = type_;
            return 0;
        };
        // Without a block device, as network file systems are.
        table_.fstat = [](int fd, struct stat *out) {
            const int result = kKernel.fstat(fd, out);
            out->st_dev = makedev(0, 99);
            return result;
        };
        system_calls = &table_;
    }
    ~PretendedFileSystem() { system_calls = behind_; }
    PretendedFileSystem(const PretendedFileSystem &) = delete;
    PretendedFileSystem &operator=(const PretendedFileSystem &) = delete;

  private:
    static unsigned type_;
    const SystemCalls *behind_;
    SystemCalls table_;
};
unsigned PretendedFileSystem::type_ = 0;

TEST_F(RootTest, OnANetworkIsNotUsedAndSaysSo) {
    for (const unsigned type : {0x6969u, 0x517Bu, 0xFE534D42u, 0xFF534D42u, 0x01021997u}) {
        const PretendedFileSystem network(type);
        EXPECT_EQ(open("root").error(), Error::unsupported) << std::hex << type;
        ASSERT_EQ(lines_.size(), 1u);
        EXPECT_NE(lines_[0].find("network file system"), std::string::npos) << lines_[0];
        EXPECT_NE(lines_[0].find("CAIRN_DIR"), std::string::npos) << "what to do";
    }
    for (const unsigned type : {0xEF53u, 0x01021994u, 0x9123683Eu}) {  // ext4, tmpfs, btrfs
        const PretendedFileSystem local(type);
        EXPECT_TRUE(open("root").ok()) << std::hex << type;
    }
}

TEST_F(RootTest, IsMadeForItsUserAloneWithItsParents) {
    const mode_t before = ::umask(0);
    EXPECT_TRUE(open("a/b/root").ok());
    ::umask(before);
    EXPECT_EQ(mode(scratch_ / "a/b/root"), 0700u);
    EXPECT_EQ(mode(scratch_ / "a/b") & 022, 0u);
    EXPECT_TRUE(lines_.empty());
    EXPECT_TRUE(open("a/b/root").ok()) << "and opened the next time";
}

TEST_F(RootTest, HasATagThatCleanUpToolsKnow) {
    for (const std::string name : {"root", "slash/", "dot/."}) {
        ASSERT_TRUE(open(name.c_str()).ok());
        EXPECT_TRUE(content((name + "/CACHEDIR.TAG").c_str())
                        .starts_with("Signature: 8a477f597d28d172789f06886806bc55"))
            << name;
    }
}

TEST_F(RootTest, IsNotMadeWhereThatIsNotWanted) {
    EXPECT_EQ(open("root", Create::no).error(), Error::not_found);
    EXPECT_TRUE(lines_.empty()) << "nothing is wrong";
}

TEST_F(RootTest, ASymbolicLinkIsRefusedWithOneLine) {
    ASSERT_EQ(::mkdir((scratch_ / "real").c_str(), 0700), 0);
    ASSERT_EQ(::symlink((scratch_ / "real").c_str(), (scratch_ / "root").c_str()), 0);
    EXPECT_EQ(open("root").error(), Error::denied);
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find("root"), std::string::npos);
}

TEST_F(RootTest, AFileIsRefused) {
    const int fd = ::open((scratch_ / "root").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ::close(fd);
    EXPECT_EQ(open("root").error(), Error::denied);
    EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(RootTest, WhatOthersMayWriteIsRefusedAndTheLineSaysWhatToDo) {
    for (const unsigned bits : {0720u, 0702u, 0777u}) {
        ASSERT_TRUE(open("root").ok());
        ASSERT_EQ(::chmod((scratch_ / "root").c_str(), bits), 0);
        EXPECT_EQ(open("root").error(), Error::denied);
        ASSERT_EQ(lines_.size(), 1u);
        EXPECT_NE(lines_[0].find("chmod go-w"), std::string::npos);
        ASSERT_EQ(::chmod((scratch_ / "root").c_str(), 0700), 0);
    }
    ASSERT_EQ(::chmod((scratch_ / "root").c_str(), 0755), 0);
    EXPECT_TRUE(open("root").ok()) << "others may look";
}

TEST_F(RootTest, ForADirectoryOfEverybodyTheLineSaysToChooseAnother) {
    ASSERT_TRUE(open("root").ok());
    ASSERT_EQ(::chmod((scratch_ / "root").c_str(), 01777), 0);
    EXPECT_EQ(open("root").error(), Error::denied);
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_EQ(lines_[0].find("chmod"), std::string::npos) << lines_[0];
    EXPECT_NE(lines_[0].find("choose another directory"), std::string::npos) << lines_[0];
    ASSERT_EQ(::chmod((scratch_ / "root").c_str(), 0700), 0);
}

TEST_F(RootTest, WhatBelongsToSomebodyElseIsRefused) {
    ASSERT_EQ(::mkdir((scratch_ / "root").c_str(), 0700), 0);
    if (::chown((scratch_ / "root").c_str(), 12345, 12345) != 0) {
        GTEST_SKIP() << "only the superuser can give a directory away";
    }
    EXPECT_EQ(open("root").error(), Error::denied);
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find("12345"), std::string::npos);
}

TEST_F(RootTest, TheCachesOwnDirectoryIsLookedAtInTheSameWay) {
    const auto made = open_cache("cache");
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(made->created);
    EXPECT_FALSE(open_cache("cache")->created);
    EXPECT_EQ(mode(scratch_ / "root/cache"), 0700u);
    ASSERT_EQ(::chmod((scratch_ / "root/cache").c_str(), 0777), 0);
    EXPECT_EQ(open_cache("cache").error(), Error::denied);
    EXPECT_EQ(lines_.size(), 1u);
    ASSERT_EQ(::symlink("cache", (scratch_ / "root/link").c_str()), 0);
    EXPECT_EQ(open_cache("link").error(), Error::denied);
    EXPECT_EQ(open_cache("missing", Create::no).error(), Error::not_found);
}

TEST(Identifiers, AreNamesThatCannotLeaveTheRoot) {
    for (const char *good : {"a", "A-Z_0.9", "x.y", "-", "_", "a..b"}) {
        EXPECT_TRUE(valid_identifier(good)) << good;
    }
    EXPECT_TRUE(valid_identifier(std::string(128, 'x')));
    for (const char *bad : {"", ".", "..", ".hidden", "a/b", "/", "a b", "a\n", "\xC3\xA4"}) {
        EXPECT_FALSE(valid_identifier(bad)) << bad;
    }
    EXPECT_FALSE(valid_identifier(std::string(129, 'x')));
    EXPECT_FALSE(valid_identifier(std::string_view("a\0b", 3)));
}

TEST(ErrorNames, AreThereForEveryError) {
    for (int i = 0; i <= static_cast<int>(Error::unsupported); ++i) {
        EXPECT_STRNE(error_name(static_cast<Error>(i)), "unknown error");
    }
}

}  // namespace
}  // namespace cairn
