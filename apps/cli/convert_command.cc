// SPDX-License-Identifier: MIT
// `cairn convert`: hands over to cairn-convert, a program of its own, so that this one needs none
// of the converters' libraries.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "command_line.h"
#include "failure.h"
#include "manifest.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// Beside this program: in a build tree, or where both are installed.
std::string find_program() {
    const fs::path folder = fs::path(executable_path()).parent_path();
    for (const fs::path &place :
         {folder / "../convert/cairn-convert", folder / CAIRN_CONVERT_FROM_BIN}) {
        std::error_code ignored;
        if (fs::exists(place, ignored)) {
            return place.lexically_normal().string();
        }
    }
    return {};
}

}  // namespace

void run_convert_command(const std::vector<std::string> &arguments) {
    const std::string program = find_program();
    if (program.empty()) {
        throw Failure(kExitFailure, fmt::format("cairn-convert is not installed: it is not in {}",
                                                (fs::path(executable_path()).parent_path() /
                                                 CAIRN_CONVERT_FROM_BIN)
                                                    .lexically_normal()
                                                    .parent_path()
                                                    .string()));
    }
    std::vector<char *> command = {const_cast<char *>(program.c_str())};
    for (const std::string &argument : arguments) {
        command.push_back(const_cast<char *>(argument.c_str()));
    }
    command.push_back(nullptr);
    execv(program.c_str(), command.data());
    throw Failure(kExitFailure, fmt::format("{} cannot be executed: {}; are the converters' "
                                            "libraries installed?",
                                            program, error_text(errno)));
}

void add_convert_command(CLI::App &app) {
    app.add_subcommand("convert", "Convert a shader into another language, once");
}

}  // namespace cairn::cli
