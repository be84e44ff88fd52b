// SPDX-License-Identifier: MIT
#include "named_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class OutputFileTest : public testing::Test {
  protected:
    OutputFileTest() {
        make_signals_errors();
        std::string name = (fs::temp_directory_path() / "cairn-output-XXXXXX").string();
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    ~OutputFileTest() override { fs::remove_all(folder_); }

    std::string path(const std::string &name) const { return (folder_ / name).string(); }
    std::string make(const std::string &name, const std::string &text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }
    static std::string read(const std::string &path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    static mode_t mode(const std::string &path) {
        struct stat status = {};
        EXPECT_EQ(stat(path.c_str(), &status), 0);
        return status.st_mode & 07777;
    }
    static ino_t inode(const std::string &path) {
        struct stat status = {};
        EXPECT_EQ(stat(path.c_str(), &status), 0);
        return status.st_ino;
    }
    size_t files() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    // The text of the Failure; empty without one.
    static std::string problem(const std::string &name, std::string_view bytes = "new") {
        try {
            OutputFile(name).write(bytes);
            return "";
        } catch (const Failure &failure) {
            return failure.what();
        }
    }
    // In a process of its own; its exit code, or 1000 + n.
    static int in_child(const std::function<int()> &body) {
        const pid_t child = fork();
        if (child == 0) {
            _exit(body());
        }
        return wait_for(child);
    }
    static int wait_for(pid_t child) {
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    fs::path folder_;
};

// As on file systems that know no unnamed files.
void refuse_unnamed_files() {
    constexpr uint32_t kUnnamed = O_TMPFILE & ~O_DIRECTORY;
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kUnnamed, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {std::size(code), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(99);
    }
}

TEST_F(OutputFileTest, ANewFileHasTheRightsOfAnyNewFile) {
    const mode_t before = umask(027);
    EXPECT_EQ(problem(path("new")), "");
    umask(before);
    EXPECT_EQ(read(path("new")), "new");
    EXPECT_EQ(mode(path("new")), 0640u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, AFileIsReplacedAsAWholeAndKeepsItsPermissions) {
    const std::string name = make("old", "old text");
    chmod(name.c_str(), 0604);
    std::ifstream reader(name);
    EXPECT_EQ(problem(name), "");
    EXPECT_EQ(read(name), "new");
    EXPECT_EQ(mode(name), 0604u);
    std::string line;
    std::getline(reader, line);
    EXPECT_EQ(line, "old text") << "somebody who has it open";
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, LookingChangesNothing) {
    const std::string name = make("old", "old text");
    { const OutputFile looked(name); }
    { const OutputFile looked(path("new")); }
    EXPECT_EQ(read(name), "old text");
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, LinksStayAndWhatTheyLeadToIsReplaced) {
    make("target", "old");
    fs::create_directory(path("folder"));
    fs::create_symlink("../target", path("folder/relative"));
    fs::create_symlink(path("folder/relative"), path("absolute"));
    fs::create_symlink("folder/missing", path("dangling"));
    EXPECT_EQ(problem(path("absolute")), "");
    EXPECT_EQ(read(path("target")), "new");
    EXPECT_TRUE(fs::is_symlink(path("absolute")));
    EXPECT_TRUE(fs::is_symlink(path("folder/relative")));
    EXPECT_EQ(problem(path("dangling")), "");
    EXPECT_TRUE(fs::is_symlink(path("dangling")));
    EXPECT_EQ(read(path("folder/missing")), "new");
    fs::create_symlink("round", path("round"));
    EXPECT_EQ(problem(path("round")), "cannot write " + path("round") + ": " + error_text(ELOOP));
}

TEST_F(OutputFileTest, WhatIsNoFileIsWrittenToAndStays) {
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    const UniqueFd reader(open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_EQ(problem(path("fifo")), "");
    char text[8] = {};
    EXPECT_EQ(::read(reader.get(), text, sizeof text), 3);
    EXPECT_STREQ(text, "new");
    EXPECT_TRUE(fs::is_fifo(path("fifo")));
    fs::create_symlink(path("fifo"), path("link"));
    EXPECT_EQ(problem(path("link")), "");
    EXPECT_TRUE(fs::is_fifo(path("fifo")));
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(problem("/dev/null"), "");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(problem("/dev/full"), "cannot write /dev/full: " + error_text(ENOSPC));
}

TEST_F(OutputFileTest, ADeviceInAFolderThatOneMayWriteStays) {
    if (mknod(path("device").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) {
        GTEST_SKIP() << "only root makes devices";
    }
    const std::string said = problem(path("device"));
    EXPECT_TRUE(said.empty() ||
                said == "cannot write " + path("device") + ": " + error_text(EACCES))
        << said << " (a file system may be without devices)";
    EXPECT_TRUE(fs::is_character_file(path("device")));
}

TEST_F(OutputFileTest, WhatCannotBeWrittenToIsRefusedAndStays) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    EXPECT_NE(problem(path("socket")), "");
    EXPECT_TRUE(fs::is_socket(path("socket")));
    EXPECT_EQ(problem(folder_.string()),
              "cannot write " + folder_.string() + ": " + error_text(EISDIR));
    EXPECT_EQ(problem(path("none/new")),
              "cannot write " + path("none/new") + ": " + error_text(ENOENT));
    EXPECT_NE(problem(path("none/")), "");
    EXPECT_NE(problem(""), "");
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, NamesOfStandardOutputAreThatAndNoFile) {
    const std::string name = make("log", "before\n");
    for (const char *output : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        EXPECT_EQ(in_child([&] {
                      const int fd = open(name.c_str(), O_WRONLY | O_APPEND);
                      dup2(fd, STDOUT_FILENO);
                      OutputFile file(output);
                      file.write(std::string(output) + "\n");
                      return file.is_standard_output() ? 0 : 1;
                  }),
                  0);
    }
    EXPECT_EQ(read(name), "before\n-\n/dev/stdout\n/dev/fd/1\n/proc/self/fd/1\n");
}

TEST_F(OutputFileTest, OtherDescriptorsAreWrittenToAlsoSockets) {
    int pair[2] = {};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    EXPECT_EQ(problem("/dev/fd/" + std::to_string(pair[0])), "");
    char text[8] = {};
    EXPECT_EQ(::read(pair[1], text, sizeof text), 3);
    close(pair[1]);
    EXPECT_EQ(problem("/dev/fd/" + std::to_string(pair[0])),
              "cannot write /dev/fd/" + std::to_string(pair[0]) + ": " + error_text(EPIPE));
    close(pair[0]);
    EXPECT_NE(problem("/dev/fd/" + std::to_string(pair[0])), "");
}

// A file that another process has open is reached through /proc: the text of that link is not its
// name.
TEST_F(OutputFileTest, AFileThatAnotherProcessHasOpenIsOverwritten) {
    const std::string name = make("open", "old and longer");
    const UniqueFd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC));
    const ino_t before = inode(name);
    const std::string link =
        "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd.get());
    EXPECT_EQ(in_child([&] { return problem(link).empty() ? 0 : 1; }), 0);
    EXPECT_EQ(read(name), "new");
    EXPECT_EQ(inode(name), before);
}

TEST_F(OutputFileTest, AFileThatOneMayNotWriteIsNotReplaced) {
    const std::string name = make("mine", "old");
    chmod(name.c_str(), 0444);
    chmod(folder_.c_str(), 0777);
    EXPECT_EQ(in_child([&] {
                  if (geteuid() == 0 && setuid(kNobody) != 0) return 99;
                  return problem(name).find(error_text(EACCES)) != std::string::npos ? 0 : 1;
              }),
              0);
    EXPECT_EQ(read(name), "old");
}

TEST_F(OutputFileTest, WhereTheFolderRefusesTheFileIsOverwritten) {
    const std::string name = make("mine", "old and longer");
    chmod(name.c_str(), 0666);
    chmod(folder_.c_str(), 0555);
    const ino_t before = inode(name);
    EXPECT_EQ(in_child([&] {
                  if (geteuid() == 0 && setuid(kNobody) != 0) return 99;
                  return problem(name).empty() ? 0 : 1;
              }),
              0);
    chmod(folder_.c_str(), 0755);
    EXPECT_EQ(read(name), "new");
    EXPECT_EQ(inode(name), before);
}

TEST_F(OutputFileTest, SomebodyElsesFileStaysTheirs) {
    const std::string name = make("theirs", "old");
    if (chown(name.c_str(), kNobody, kNobody) != 0) {
        GTEST_SKIP() << "only root gives files away";
    }
    chmod(name.c_str(), 0666);
    EXPECT_EQ(problem(name), "");
    struct stat status = {};
    ASSERT_EQ(stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, kNobody);
    chmod(folder_.c_str(), 0777);
    EXPECT_EQ(in_child([&] {
                  return setgid(1) == 0 && setuid(1) == 0 && problem(name, "newer").empty() ? 0 : 1;
              }),
              0);
    EXPECT_EQ(read(name), "newer");
    ASSERT_EQ(stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, kNobody);
}

TEST_F(OutputFileTest, ALimitOnFilesLeavesTheOldOneAndNothingElse) {
    const std::string name = make("old", "old");
    for (const bool unnamed : {true, false}) {
        EXPECT_EQ(in_child([&] {
                      if (!unnamed) refuse_unnamed_files();
                      const rlimit limit = {4096, 4096};
                      setrlimit(RLIMIT_FSIZE, &limit);
                      const std::string said = problem(name, std::string(5000, 'x'));
                      return said == "cannot write " + name + ": " + error_text(EFBIG) ? 0 : 1;
                  }),
                  0);
        EXPECT_EQ(read(name), "old");
        EXPECT_EQ(files(), 1u);
    }
}

TEST_F(OutputFileTest, FileSystemsWithoutUnnamedFilesServe) {
    const std::string name = make("old", "old");
    chmod(name.c_str(), 0604);
    EXPECT_EQ(in_child([&] {
                  refuse_unnamed_files();
                  return problem(name).empty() && problem(path("new")).empty() ? 0 : 1;
              }),
              0);
    EXPECT_EQ(read(name), "new");
    EXPECT_EQ(mode(name), 0604u);
    EXPECT_EQ(files(), 2u);
}

// Where the unfinished file has a name, it can be seen; a signal then ends the process, and what it
// began goes.
TEST_F(OutputFileTest, ASignalLeavesNothingBehind) {
    const std::string text(size_t{256} << 20, 'x');
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        const UniqueFd events(inotify_init1(IN_CLOEXEC));
        ASSERT_GE(inotify_add_watch(events.get(), folder_.c_str(), IN_CREATE), 0);
        const pid_t child = fork();
        if (child == 0) {
            const rlimit no_core = {};
            setrlimit(RLIMIT_CORE, &no_core);
            refuse_unnamed_files();
            _exit(problem(path("new"), text).empty() ? 0 : 1);
        }
        alignas(inotify_event) char event[sizeof(inotify_event) + NAME_MAX + 1];
        EXPECT_GT(::read(events.get(), event, sizeof event), 0);
        kill(child, signal);
        EXPECT_EQ(wait_for(child), 1000 + signal);
        EXPECT_EQ(files(), 0u) << signal;
    }
}

}  // namespace
}  // namespace cairn::cli
