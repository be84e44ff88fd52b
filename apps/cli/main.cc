// SPDX-License-Identifier: MIT
// The program `cairn`.
#include <fcntl.h>
#include <unistd.h>

#include "cache/agent_notice.h"
#include "command.h"

namespace {

// A file that is opened where standard output or standard error is closed would take its place, and
// receive what is meant for it.
void fill_standard_descriptors() {
    for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    fill_standard_descriptors();
    cairn::tell_agent_nothing();  // `cairn run` becomes the application, which tells for itself
    return cairn::cli::run_main(argc, argv, cairn::cli::run_command_line);
}
