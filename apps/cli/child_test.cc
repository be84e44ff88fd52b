// SPDX-License-Identifier: MIT
#include "child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

using Libraries = std::set<std::string, std::less<>>;

Seen seen_with(const Libraries &libraries) {
    Seen seen;
    add_libraries(libraries, seen);
    return seen;
}

TEST(Witness, ADriversLibrarySaysWhatIsUsed) {
    EXPECT_TRUE(seen_with({"libGLX.so.0", "libGLX_mesa.so.0.0.0"}).past_us);
    EXPECT_TRUE(seen_with({"libvulkan.so.1", "libvulkan_lvp.so"}).vulkan);
    EXPECT_TRUE(seen_with({"libEGL.so.1", "libEGL_mesa.so.0"}).past_us);
}

TEST(Witness, BeingLinkedIsNotBeingUsed) {
    EXPECT_FALSE(
        seen_with({"libGL.so.1", "libGLX.so.0", "libEGL.so.1", "libvulkan.so.1"}).anything());
    EXPECT_FALSE(seen_with({"libEGL_cairn.so.0.1.0", "libEGL_mesa.so.0"}).past_us);
    EXPECT_FALSE(seen_with({"libGLX.so.0", "libGLX_cairn.so.0", "libGLX_mesa.so.0"}).past_us);
    EXPECT_FALSE(seen_with({"libGLX.so.0", "libGLX_nvidia.so.1"}).vulkan);
    EXPECT_FALSE(seen_with({"libvulkan.so.1", "libGLX_nvidia.so.1"}).past_us);
}

// A process that has files of these names mapped, until it is told to end.
class Mapping {
  public:
    Mapping(const std::vector<std::string> &names, bool in_grandchild) {
        std::string name = (fs::temp_directory_path() / "cairn-witness-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        for (const std::string &each : names) std::ofstream(folder_ / each) << "x";
        std::array<int, 2> ready = {};
        if (pipe2(ready.data(), O_CLOEXEC) != 0) abort();
        pid_ = fork();
        if (pid_ == 0) map_and_wait(names, in_grandchild, ready[1]);
        close(ready[1]);
        char byte = 0;
        if (read(ready[0], &byte, 1) != 1) abort();
        close(ready[0]);
    }
    ~Mapping() {
        kill(-pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        fs::remove_all(folder_);
    }
    pid_t pid() const { return pid_; }

  private:
    [[noreturn]] void map_and_wait(const std::vector<std::string> &names, bool in_grandchild,
                                   int ready) const {
        setpgid(0, 0);
        if (in_grandchild && fork() != 0) {
            while (true) pause();
        }
        for (const std::string &each : names) {
            const int fd = open((folder_ / each).c_str(), O_RDONLY | O_CLOEXEC);
            if (mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) _exit(1);
        }
        if (write(ready, "r", 1) != 1) _exit(1);
        while (true) pause();
    }

    fs::path folder_;
    pid_t pid_ = -1;
};

TEST(Witness, LooksIntoAllProcessesOfTheApplication) {
    for (const bool in_grandchild : {false, true}) {
        const Mapping process({"libGLX.so.0", "libGLX_test.so.0"}, in_grandchild);
        Seen seen;
        look_at_processes(process.pid(), seen);
        EXPECT_TRUE(seen.past_us);
        EXPECT_TRUE(seen.glx);
        EXPECT_FALSE(seen.vulkan);
    }
}

TEST(Witness, KnowsAnEnvironmentThatWasCleared) {
    const Mapping process({"libEGL_test.so.0"}, false);
    Seen seen;
    look_at_processes(process.pid(), seen);
    EXPECT_TRUE(seen.past_us);
    EXPECT_EQ(seen.of_32_bits, sizeof(void *) == 4);
    EXPECT_FALSE(seen.glx);
    EXPECT_TRUE(seen.cleared_environment) << "this program was started without our variables";
}

TEST(Witness, AProcessThatIsGoneWasNotSeen) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info = {};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    Seen seen;
    look_at_processes(child, seen);
    EXPECT_FALSE(seen.anything());
    waitpid(child, nullptr, 0);
    look_at_processes(child, seen);
    EXPECT_FALSE(seen.anything());
}

// The program ends when it has been looked at, twice.
TEST(Witness, ARunningProgramIsLookedAtUntilThatIsEnough) {
    int looks = 0;
    const ChildEnd end = run_child({"sleep", "1000"}, [&](pid_t child) {
        if (++looks == 2) kill(child, SIGTERM);
        return looks < 2;
    });
    EXPECT_EQ(end.signal, SIGTERM);
    EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace cairn::cli
