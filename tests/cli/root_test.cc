// SPDX-License-Identifier: MIT
// Where `cairn` looks for caches: `--dir`, the environment, the home directory; `cairn path`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

class RootTest : public testing::Test {
  protected:
    Folder folder_;
    std::string root_ = folder_ / "root";
};

TEST_F(RootTest, PathIsWhereTheCachesAre) {
    const Environment by_dir = {{"CAIRN_DIR", root_}};
    EXPECT_EQ(cairn({"path"}, by_dir).standard_output, root_ + "\n");
    EXPECT_EQ(cairn({"path", "--dir", "x/../y"}, by_dir).standard_output,
              (fs::current_path() / "y").string() + "\n");
    const Environment by_cache_home = {{"XDG_CACHE_HOME", "/somewhere"}};
    EXPECT_EQ(cairn({"path"}, by_cache_home).standard_output, "/somewhere/cairn\n");
    const Environment by_home = {{"HOME", "/home/somebody"}};
    EXPECT_EQ(cairn({"path"}, by_home).standard_output, "/home/somebody/.cache/cairn\n");
}

// Of a later version of Cairn, whose files this one cannot read.
TEST_F(RootTest, CachesThatOnlyAnotherVersionCanReadAreListedClearedAndRemoved) {
    for (const std::string name : {"beta", "gamma"}) {
        const std::string folder = root_ + "/" + name + "/format-7";
        fs::create_directories(folder);
        folder_.write("root/" + name + "/format-7/cache.idx", std::string(100'000, 'x'));
        folder_.write("root/" + name + "/format-7/cache.lock", "");
        for (const std::string &each : {root_, root_ + "/" + name, folder}) {
            fs::permissions(each, fs::perms::owner_all);
        }
    }
    const auto run = [&](const std::vector<std::string> &arguments) {
        return cairn(arguments, {{"CAIRN_DIR", root_}});
    };
    const auto listed = nlohmann::json::parse(run({"ls", "--json"}).standard_output);
    ASSERT_EQ(listed["caches"].size(), 2u);
    for (const auto &cache : listed["caches"]) {
        EXPECT_THAT(cache["problem"], HasSubstr("another version of Cairn"));
        EXPECT_THAT(cache["problem"], HasSubstr("cairn clear"));
    }
    EXPECT_EQ(run({"clear", "beta", "--yes"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(root_ + "/beta/format-7"));
    EXPECT_EQ(run({"ls", "beta"}).exit_code, 0);
    EXPECT_EQ(run({"rm", "gamma"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(root_ + "/gamma"));
}

// The library ignores the environment there, and `--dir` must not go through it.
TEST_F(RootTest, DirIsFollowedWhereTheProgramIsSetUserId) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "LeakSanitizer cannot look into a set-user-id process";
#endif
    struct statvfs system = {};
    ASSERT_EQ(statvfs(folder_.path().c_str(), &system), 0);
    if (geteuid() != 0 || (system.f_flag & ST_NOSUID) != 0) {
        GTEST_SKIP() << "makes a set-user-id program of another user: needs root, and a file "
                        "system that has such programs";
    }
    constexpr uid_t kNobody = 65534;
    const std::string program = folder_ / "cairn";
    fs::copy_file(CAIRN_PROGRAM, program);
    fs::permissions(folder_.path(), fs::perms(0755));
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0 ||
        chown(program.c_str(), kNobody, kNobody) != 0) {
        GTEST_SKIP() << "this container has no set-user-id programs, or no other user";
    }
    ASSERT_EQ(chmod(program.c_str(), 04755), 0);
    const auto path = [&](const std::vector<std::string> &arguments) {
        std::vector<std::string> command = {program, "path"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        Program run(command, {{"CAIRN_DIR", "/ignored"}});
        EXPECT_EQ(run.wait(), 0) << run.standard_error();
        return run.standard_output();
    };
    EXPECT_NE(path({}), "/ignored\n");
    EXPECT_EQ(path({"--dir", "/x"}), "/x\n");
}

TEST_F(RootTest, ARelativeDirWithoutAWorkingDirectoryIsRefused) {
    const auto in_removed_directory = [&](const std::string &arguments) {
        const std::string script =
            "mkdir gone && cd gone && rmdir ../gone && exec '" CAIRN_PROGRAM "' " + arguments;
        Program run({"/bin/sh", "-c", "cd '" + folder_.path().string() + "' && " + script},
                    {{"CAIRN_DIR", root_}});
        (void)run.wait();
        return run.standard_output() + run.standard_error();
    };
    for (const std::string command : {"path", "stats", "ls", "clear --all"}) {
        EXPECT_EQ(in_removed_directory(command + " --dir x"),
                  "cairn: the working directory is gone, so that `--dir x` leads nowhere; give an "
                  "absolute path\n");
    }
    EXPECT_THAT(in_removed_directory("run --dir x -- /bin/echo it runs"), HasSubstr("it runs\n"));
}

TEST_F(RootTest, ARelativeDirectoryInTheEnvironmentIsRefused) {
    const Environment relative = {{"CAIRN_DIR", "some/where"}, {"HOME", folder_.path().string()}};
    for (const std::vector<std::string> &arguments :
         std::vector<std::vector<std::string>>{{"path"}, {"stats"}, {"ls"}, {"clear", "--all"}}) {
        const Finished finished = cairn(arguments, relative);
        EXPECT_EQ(finished.exit_code, 1);
        EXPECT_EQ(finished.standard_output, "");
        EXPECT_EQ(finished.standard_error,
                  "cairn: CAIRN_DIR is `some/where`, which is no absolute path; set it to `" +
                      (fs::current_path() / "some/where").string() + "`, or unset it\n");
    }
    EXPECT_EQ(cairn({"path", "--dir", "/x"}, relative).standard_output, "/x\n");
}

}  // namespace
}  // namespace cairn::cli_test
