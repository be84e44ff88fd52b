// SPDX-License-Identifier: MIT
#include "support/x_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace cairn_test {
namespace {

// In the child. Returns only when there is no such program.
int become_server(std::vector<std::string> command, int display_pipe) {
    // Ended so, the server removes its socket.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    const int nothing = open("/dev/null", O_RDWR);
    if (dup2(nothing, 0) != 0 || dup2(nothing, 1) != 1 || dup2(nothing, 2) != 2 ||
        dup2(display_pipe, 3) != 3) {
        return 97;
    }
    std::vector<char *> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string &argument : command) {
        arguments.push_back(argument.data());
    }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    return 96;
}

// The server writes its number when it is ready for clients.
std::string number_from(int pipe) {
    std::string number;
    char letter = 0;
    while (read(pipe, &letter, 1) == 1 && letter != '\n') {
        number += letter;
    }
    return number;
}

}  // namespace

XServer::XServer(const std::string &program, const std::vector<std::string> &options) {
    // -noreset: it does not start anew each time that its last client has gone.
    std::vector<std::string> command = {program,      "-displayfd", "3",   "-screen", "0",
                                        "640x480x24", "-nolisten",  "tcp", "-noreset"};
    command.insert(command.end(), options.begin(), options.end());
    int ends[2] = {};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        std::perror("pipe");
        std::abort();
    }
    server_ = Child([&] { return become_server(command, ends[1]); });
    close(ends[1]);
    const std::string number = number_from(ends[0]);
    close(ends[0]);
    if (!number.empty()) {
        display_ = ":" + number;
    }
}

XServer::~XServer() {
    server_.signal(SIGTERM);
    server_.wait();
}

}  // namespace cairn_test
