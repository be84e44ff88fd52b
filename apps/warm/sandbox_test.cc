// SPDX-License-Identifier: MIT
// What a player that somebody has taken over can do: each thing is tried in a process that is shut in.
#include "sandbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace cairn::warm {
namespace {

namespace fs = std::filesystem;

// What was not as it should be, as text, by way of a pipe.
class Report {
  public:
    explicit Report(int fd) : fd_(fd) {}
    void expect(const char *what, long result, int error_number) const {
        const int error = result >= 0 ? 0 : errno;
        if (error == error_number) return;
        say(std::string(what) + ": errno " + std::to_string(error) + ", not " +
            std::to_string(error_number));
    }
    void say(const std::string &text) const {
        const std::string line = text + "\n";
        if (::write(fd_, line.data(), line.size()) < 0) ::_exit(98);
    }

  private:
    const int fd_;
};

class SandboxTest : public testing::Test {
  protected:
    SandboxTest() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        is_sanitized_ = true;  // their memory is more than a player may have
#endif
        char name[] = "/tmp/cairn-sandbox-XXXXXX";
        folder_ = ::mkdtemp(name);
        for (const char *each : {"allowed", "allowed/own", "outside"}) {
            fs::create_directory(folder_ / each);
            std::ofstream(folder_ / each / "file") << "content";
        }
    }
    ~SandboxTest() override {
        fs::remove_all(folder_);
    }

    std::string path(const char *name) const {
        return folder_ / name;
    }
    std::vector<std::string> allowed() const {
        return {path("allowed")};
    }

    // What a child that does this has to say. It ends with its parent, as players do.
    template <typename Child>
    std::string said(Child child) const {
        std::array<int, 2> ends = {};
        EXPECT_EQ(::pipe(ends.data()), 0);
        const pid_t process = ::fork();
        if (process == 0) {
            ::close(ends[0]);
            child(Report(ends[1]));
            ::_exit(0);
        }
        ::close(ends[1]);
        std::string text;
        std::array<char, 512> bytes = {};
        for (ssize_t count = 0; (count = ::read(ends[0], bytes.data(), bytes.size())) > 0;) {
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
        ::close(ends[0]);
        int status = 0;
        ::waitpid(process, &status, 0);
        if (status != 0) text += "ended with status " + std::to_string(status);
        return text;
    }
    // Empty where this kernel has all of it.
    std::string lacking() const {
        return said([&](const Report &report) {
            if (const std::string why = shut_in(allowed()); !why.empty()) report.say(why);
        });
    }

    fs::path folder_;
    bool is_sanitized_ = false;
};

#define SKIP_WITHOUT_SANDBOX()                                          \
    if (is_sanitized_) GTEST_SKIP() << "sanitizers do not fit into it"; \
    if (const std::string why = lacking(); !why.empty()) GTEST_SKIP() << why

long open_for(const std::string &path, int flags) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (fd >= 0) ::close(fd);
    return fd;
}

long connect_to(const std::string &path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    return ::connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof address);
}

TEST_F(SandboxTest, FilesAreWrittenInItsFoldersOnly) {
    SKIP_WITHOUT_SANDBOX();
    const std::string inside = path("allowed/file"), outside = path("outside/file");
    EXPECT_EQ(
        said([&](const Report &report) {
            (void)shut_in(allowed());
            report.expect("write inside", open_for(inside, O_WRONLY), 0);
            report.expect("make inside", open_for(path("allowed/new"), O_WRONLY | O_CREAT), 0);
            report.expect("read outside", open_for(outside, O_RDONLY), 0);
            report.expect("write outside", open_for(outside, O_WRONLY), EACCES);
            report.expect("cut by opening", open_for(outside, O_RDONLY | O_TRUNC), EACCES);
            report.expect("make outside", open_for(path("outside/x"), O_WRONLY | O_CREAT), EACCES);
            report.expect("cut", ::truncate(outside.c_str(), 0), EPERM);
            report.expect("remove", ::unlink(outside.c_str()), EACCES);
            report.expect("rename", ::rename(inside.c_str(), path("outside/y").c_str()), EACCES);
            report.expect("link", ::link(outside.c_str(), path("allowed/z").c_str()), EXDEV);
            report.expect("folder", ::mkdir(path("outside/d").c_str(), 0700), EACCES);
            report.expect("chmod", ::chmod(inside.c_str(), 04777), EPERM);
            report.expect("chown", ::chown(inside.c_str(), 1, 1), EPERM);
            report.expect("xattr", ::setxattr(inside.c_str(), "user.x", "y", 1, 0), EPERM);
        }),
        "");
    EXPECT_EQ(fs::file_size(path("outside/file")), 7u);
}

TEST_F(SandboxTest, NothingIsStartedAndNobodyIsDisturbed) {
    SKIP_WITHOUT_SANDBOX();
    EXPECT_EQ(said([&](const Report &report) {
                  (void)shut_in(allowed());
                  const pid_t parent = ::getppid();
                  std::array<char *, 1> none = {nullptr};
                  report.expect("execve", ::execve("/bin/true", none.data(), none.data()), EPERM);
                  report.expect("kill", ::kill(parent, 0), EPERM);
                  report.expect("tgkill", ::syscall(SYS_tgkill, parent, parent, 0), EPERM);
                  siginfo_t info = {};
                  report.expect("sigqueue", ::syscall(SYS_rt_sigqueueinfo, parent, SIGUSR1, &info),
                                EPERM);
                  report.expect("tgsigqueue",
                                ::syscall(SYS_rt_tgsigqueueinfo, parent, parent, SIGUSR1, &info),
                                EPERM);
                  report.expect("ptrace", ::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr), EPERM);
                  rlimit limit = {};
                  report.expect("prlimit", ::prlimit(parent, RLIMIT_CORE, nullptr, &limit), EPERM);
                  report.expect("own limit", ::getrlimit(RLIMIT_CORE, &limit), 0);
                  char key = 'x';
                  report.expect("type", ::ioctl(STDERR_FILENO, TIOCSTI, &key), EPERM);
                  report.expect("unshare", ::unshare(CLONE_NEWUSER), EPERM);
                  report.expect("clone", ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0),
                                EPERM);
                  report.expect("network", ::socket(AF_INET, SOCK_STREAM, 0), EPERM);
                  report.expect("a display", ::socket(AF_UNIX, SOCK_STREAM, 0), 0);
                  report.expect("itself", ::kill(::getpid(), 0), 0);
                  std::atomic<bool> has_run = false;
                  std::thread([&] { has_run.store(true); }).join();
                  if (!has_run.load()) report.say("a thread cannot be made");
                  std::ifstream status("/proc/self/status");
                  const std::string text((std::istreambuf_iterator<char>(status)), {});
                  for (const char *line : {"NoNewPrivs:\t1", "Seccomp:\t2"}) {
                      if (text.find(line) == std::string::npos)
                          report.say(std::string("no ") + line);
                  }
              }),
              "");
}

TEST_F(SandboxTest, OnceThereIsAContextItIsNarrowerForAllThreads) {
    SKIP_WITHOUT_SANDBOX();
    EXPECT_EQ(said([&](const Report &report) {
                  (void)shut_in(allowed());
                  std::atomic<int> step = 0;
                  // A thread of the driver's.
                  std::thread thread([&] {
                      report.expect("before", open_for(path("allowed/file"), O_WRONLY), 0);
                      ++step;
                      while (step.load() < 2) ::poll(nullptr, 0, 1);
                      report.expect("after", open_for(path("allowed/file"), O_WRONLY), EACCES);
                      report.expect("own", open_for(path("allowed/own/file"), O_WRONLY), 0);
                      report.expect("its socket", ::socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
                  });
                  while (step.load() < 1) ::poll(nullptr, 0, 1);
                  const std::string problem = shut_in_further({path("allowed/own")});
                  if (!problem.empty()) report.say(problem);
                  ++step;
                  thread.join();
                  report.expect("write", open_for(path("allowed/file"), O_WRONLY), EACCES);
                  report.expect("own", open_for(path("allowed/own/file"), O_WRONLY), 0);
                  report.expect("connect", connect_to("/run/dbus/system_bus_socket"), EPERM);
                  std::thread([&] {
                      report.expect("new", open_for(path("allowed/file"), O_WRONLY), EACCES);
                  }).join();
              }),
              "");
}

TEST_F(SandboxTest, AThreadThatCannotBeRestrictedIsSpokenOf) {
    SKIP_WITHOUT_SANDBOX();
    EXPECT_THAT(said([&](const Report &report) {
                    (void)shut_in(allowed());
                    std::atomic<bool> has_begun = false, has_ended = false;
                    std::thread thread([&] {
                        sigset_t all;
                        sigfillset(&all);
                        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
                        has_begun.store(true);
                        while (!has_ended.load()) ::poll(nullptr, 0, 1);
                    });
                    while (!has_begun.load()) ::poll(nullptr, 0, 1);
                    report.say(shut_in_further({path("allowed/own")}));
                    has_ended.store(true);
                    thread.join();
                }),
                testing::HasSubstr("threads may write below"));
}

TEST_F(SandboxTest, ItEndsWithItsParent) {
    if (is_sanitized_) GTEST_SKIP();
    // The grandchild keeps the pipe open for as long as it lives.
    EXPECT_EQ(said([&](const Report &) {
                  std::array<int, 2> ready = {};
                  if (::pipe(ready.data()) != 0) ::_exit(97);
                  if (::fork() == 0) {
                      (void)shut_in(allowed());
                      if (::write(ready[1], "x", 1) != 1) ::_exit(97);
                      for (;;) ::pause();
                  }
                  char byte = 0;
                  if (::read(ready[0], &byte, 1) != 1) ::_exit(97);
              }),
              "");
}

}  // namespace
}  // namespace cairn::warm
