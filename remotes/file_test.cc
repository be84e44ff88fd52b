// SPDX-License-Identifier: MIT
// What is only so in a shared folder: links, temporaries, permissions.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "remotes/remote.h"

namespace cairn::remotes {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

class FileRemoteTest : public testing::Test {
  protected:
    FileRemoteTest() {
        EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
        top_ = folder_ + "/top";
        fs::create_directory(top_);
        remote_ = open_remote("file://" + top_, {});
    }
    ~FileRemoteTest() override {
        fs::permissions(top_, fs::perms::owner_all, fs::perm_options::add, error_);
        fs::remove_all(folder_);
    }

    void put(const std::string &name) const { remote_->put(name, as_bytes("content")); }
    void write(const std::string &name) const { std::ofstream(top_ + "/" + name) << "odd"; }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto &entry : fs::recursive_directory_iterator(top_))
            names.push_back(entry.path().filename());
        return names;
    }
    template <typename Work>
    static std::optional<Trouble> trouble_of(Work work) {
        try {
            work();
            return std::nullopt;
        } catch (const RemoteFailure &failure) {
            return failure.trouble();
        }
    }

    std::string folder_ = fs::temp_directory_path() / "cairn-file-remote-XXXXXX";
    std::string top_;
    std::error_code error_;
    std::unique_ptr<Remote> remote_;
};

TEST_F(FileRemoteTest, AFolderThatIsNotThereIsNoEmptyOne) {
    fs::remove(top_);
    EXPECT_EQ(trouble_of([&] { put("a/b"); }), Trouble::unreachable);
    EXPECT_EQ(trouble_of([&] { (void)remote_->get("a/b", 100); }), Trouble::unreachable);
    EXPECT_EQ(trouble_of([&] { (void)remote_->list(""); }), Trouble::unreachable);
    EXPECT_EQ(trouble_of([&] { remote_->remove("a/b"); }), Trouble::unreachable);
    EXPECT_FALSE(fs::exists(top_));
    fs::create_directory(top_);
    put("a/b");
}

TEST_F(FileRemoteTest, LeavesNoTemporariesBehind) {
    put("a/b");
    put("a/b");
    EXPECT_THAT(files(), UnorderedElementsAre("a", "b"));
}

TEST_F(FileRemoteTest, FilesAndFoldersHaveTheModesOfTheTop) {
    fs::permissions(top_, fs::perms(0775));
    const mode_t before = umask(022);
    put("a/b");
    umask(before);
    EXPECT_EQ(fs::status(top_ + "/a").permissions(), fs::perms(0775));
    EXPECT_EQ(fs::status(top_ + "/a/b").permissions(), fs::perms(0664));
}

TEST_F(FileRemoteTest, FollowsNoLinkBelowTheTop) {
    put("a/b");
    std::ofstream(folder_ + "/outside") << "outside";
    fs::create_directory(folder_ + "/elsewhere");
    std::ofstream(folder_ + "/elsewhere/file") << "outside";
    fs::create_symlink(folder_ + "/outside", top_ + "/a/link");
    fs::create_symlink(folder_ + "/elsewhere", top_ + "/folder");
    EXPECT_EQ(trouble_of([&] { remote_->get("a/link", 100); }), Trouble::denied);
    EXPECT_EQ(trouble_of([&] { remote_->get("folder/file", 100); }), Trouble::denied);
    EXPECT_EQ(trouble_of([&] { put("folder/new"); }), Trouble::denied);
    EXPECT_EQ(trouble_of([&] { remote_->list("folder"); }), Trouble::denied);
    EXPECT_FALSE(fs::exists(folder_ + "/elsewhere/new"));
    EXPECT_EQ(remote_->list("a").size(), 1U);
    EXPECT_EQ(remote_->list("").size(), 1U);
}

TEST_F(FileRemoteTest, TheTopMayBeALink) {
    put("a/b");
    fs::create_symlink(top_, folder_ + "/link");
    EXPECT_EQ(open_remote("file://" + folder_ + "/link", {})->get("a/b", 100), "content");
}

TEST_F(FileRemoteTest, WhatIsNoRegularFileIsNeitherReadNorListed) {
    put("a/b");
    ASSERT_EQ(mkfifo((top_ + "/a/pipe").c_str(), 0666), 0);
    EXPECT_EQ(trouble_of([&] { remote_->get("a/pipe", 100); }), Trouble::denied);
    EXPECT_EQ(remote_->get("a", 100), std::nullopt);
    remote_->remove("a");
    EXPECT_EQ(remote_->list("a").size(), 1U);
}

TEST_F(FileRemoteTest, NamesThatNoObjectHasAreNotListed) {
    put("a/b");
    for (const char *name : {"a/.hidden", "a/with blank", "a/\x1b[2J", "a/new\nline"}) write(name);
    write("a/" + std::string(200, 'x'));
    EXPECT_EQ(remote_->list("a").size(), 1U);
}

TEST_F(FileRemoteTest, RemovesTemporariesOfYesterday) {
    put("a/b");
    for (const char *name : {"a/.cairn-1.tmp", "a/.cairn-2.tmp", "a/.other.tmp"}) write(name);
    const timespec times[2] = {{1'000'000, 0}, {1'000'000, 0}};
    utimensat(AT_FDCWD, (top_ + "/a/.cairn-1.tmp").c_str(), times, 0);
    utimensat(AT_FDCWD, (top_ + "/a/.other.tmp").c_str(), times, 0);
    (void)remote_->list("a");
    EXPECT_THAT(files(), UnorderedElementsAre("a", "b", ".cairn-2.tmp", ".other.tmp"));
}

TEST_F(FileRemoteTest, AnAgeIsSinceTheFileWasWritten) {
    put("a/b");
    timespec times[2] = {};
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 7'200;
    times[1] = times[0];
    utimensat(AT_FDCWD, (top_ + "/a/b").c_str(), times, 0);
    const std::uint64_t age_s = remote_->list("a").at(0).age_s.value_or(0);
    EXPECT_GE(age_s, 7'190U);
    EXPECT_LT(age_s, 7'800U);
}

TEST_F(FileRemoteTest, ADiskThatIsFullIsToldFromOtherTrouble) {
    // The kernel refuses longer files with EFBIG, as another limit of space.
    put("a/b");
    rlimit before = {};
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {1'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string large(5'000, 'x');
    EXPECT_EQ(trouble_of([&] { remote_->put("a/large", as_bytes(large)); }), Trouble::full);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    EXPECT_THAT(files(), UnorderedElementsAre("a", "b"));
}

TEST_F(FileRemoteTest, WhatIsOthersIsDenied) {
    if (geteuid() == 0) GTEST_SKIP() << "root may do everything";
    put("a/b");
    fs::permissions(top_ + "/a", fs::perms(0555));
    EXPECT_EQ(trouble_of([&] { put("a/c"); }), Trouble::denied);
    fs::permissions(top_ + "/a", fs::perms(0755));
}

}  // namespace
}  // namespace cairn::remotes
