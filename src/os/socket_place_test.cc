// SPDX-License-Identifier: MIT
#include "os/socket_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "os/datagram.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

class SocketPlaceTest : public ::testing::Test {
  protected:
    Error taken_twice() const { return SocketPlace::take(path_, 0).error(); }

    testing::Scratch scratch_;
    const std::string folder_ = scratch_ / "folder";
    const std::string path_ = folder_ + "/sock";
};

TEST_F(SocketPlaceTest, ItsFolderIsMadeForItsUserAlone) {
    const auto place = SocketPlace::take(path_, 0);
    ASSERT_TRUE(place.ok());
    struct stat status = {};
    ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(SocketPlaceTest, OneProcessHasItAtATime) {
    auto first = SocketPlace::take(path_, 0);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(taken_twice(), Error::busy);
    EXPECT_EQ(SocketPlace::join(path_, 0).error(), Error::busy);
    { const SocketPlace moved = std::move(first.value()); }
    EXPECT_TRUE(SocketPlace::take(path_, 0).ok());
}

TEST_F(SocketPlaceTest, ASocketThatWasLeftBehindIsNotInTheWay) {
    {
        const auto killed = SocketPlace::take(path_, 0);
        ASSERT_TRUE(killed.ok());
    }
    { ASSERT_TRUE(DatagramSocket::bind(path_).ok()); }
    ASSERT_TRUE(fs::exists(path_));
    const auto place = SocketPlace::take(path_, 0);
    ASSERT_TRUE(place.ok());
    EXPECT_TRUE(DatagramSocket::bind(path_).ok());
}

TEST_F(SocketPlaceTest, OnlyASocketOfItsOwnIsRemoved) {
    fs::create_directory(folder_);
    std::ofstream(path_) << "precious";
    { EXPECT_TRUE(SocketPlace::join(path_, 0).ok()); }
    EXPECT_TRUE(fs::exists(path_));
    std::optional<SocketPlace> place(std::move(SocketPlace::take(path_, 0).value()));
    EXPECT_EQ(DatagramSocket::bind(path_).error(), Error::exists);
    EXPECT_TRUE(fs::exists(path_));
}

TEST_F(SocketPlaceTest, AFolderThatOthersMayWriteIsRefused) {
    fs::create_directory(folder_);
    ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
    EXPECT_EQ(taken_twice(), Error::denied);
    EXPECT_EQ(SocketPlace::take("relative/sock", 0).error(), Error::invalid_argument);
    EXPECT_EQ(SocketPlace::take("/sock", 0).error(), Error::invalid_argument);
    EXPECT_EQ(SocketPlace::take(scratch_ / "none/folder/sock", 0).error(), Error::not_found);
}

TEST_F(SocketPlaceTest, ProblemsAreToldToPeople) {
    EXPECT_EQ(SocketPlace::problem(Error::busy, path_, "agent"),
              path_ + ": another agent serves it");
    EXPECT_NE(SocketPlace::problem(Error::denied, path_, "agent").find(folder_ + ": belongs"),
              std::string::npos);
    EXPECT_NE(SocketPlace::problem(Error::io, path_, "agent").find("input/output"),
              std::string::npos);
}

}  // namespace
}  // namespace cairn
