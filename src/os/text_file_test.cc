// SPDX-License-Identifier: MIT
#include "os/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
