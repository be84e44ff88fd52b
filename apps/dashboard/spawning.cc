// SPDX-License-Identifier: MIT
#include "spawning.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

#include "child.h"

namespace cairn::dashboard {
namespace {

class Plan {
  public:
    explicit Plan(int output) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
            if (output < 0) {
                ::posix_spawn_file_actions_addopen(&actions_, target, "/dev/null", O_WRONLY, 0);
            } else {
                ::posix_spawn_file_actions_adddup2(&actions_, output, target);
            }
        }
        // httplib's connections are not closed by exec for a moment after they were made.
#if __GLIBC_PREREQ(2, 34)
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
        ::posix_spawnattr_init(&attributes_);
        sigset_t signals;
        sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes_, &signals);
        sigaddset(&signals, SIGPIPE);
        sigaddset(&signals, SIGXFSZ);
        ::posix_spawnattr_setsigdefault(&attributes_, &signals);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    ~Plan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    const posix_spawn_file_actions_t *actions() const {
        return &actions_;
    }
    const posix_spawnattr_t *attributes() const {
        return &attributes_;
    }

  private:
    posix_spawn_file_actions_t actions_ = {};
    posix_spawnattr_t attributes_ = {};
};

}  // namespace

int start_program(const std::string &program, const cli::Words &words, int output, pid_t &child) {
    const Plan plan(output);
    return ::posix_spawnp(&child, program.c_str(), plan.actions(), plan.attributes(),
                          cli::argument_pointers(words).data(), environ);
}

}  // namespace cairn::dashboard
