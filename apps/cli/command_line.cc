// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <algorithm>

namespace cairn::cli {

CommandLine split_command_line(int argc, const char *const *argv) {
    CommandLine line;
    line.own.assign(argv + std::min(argc, 1), argv + argc);
    if (line.own.empty() || line.own.front() != "run") {
        return line;
    }
    const auto mark = std::find(line.own.begin(), line.own.end(), "--");
    if (mark == line.own.end()) {
        return line;
    }
    line.after.assign(mark, line.own.end());
    line.own.erase(mark, line.own.end());
    return line;
}

void add_dir_option(CLI::App &command, std::string &dir) {
    command
        .add_option("--dir", dir,
                    "The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn")
        ->type_name("DIR");
}

}  // namespace cairn::cli
