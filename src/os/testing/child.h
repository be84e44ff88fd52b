// Runs code in a forked child, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace cairn::testing {

// The exit code of `body` in a forked child.
inline int in_child(const std::function<int()> &body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cairn::testing
