// SPDX-License-Identifier: MIT
// A command of `cairn`, the list of all, and what main() needs to run one.
//
// To add a command: write NAME_command.cc, which defines `const Command NAME_command`, add it to
// CMakeLists.txt, and put NAME into CAIRN_COMMANDS below.
//
// Thread safety: used by main only.
// Failure: a Failure with the exit code for the user.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "output.h"
#include "text.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cairn::cli {

// The arguments that a command takes. The parser sets the variables before the command runs.
class Arguments {
  public:
    Arguments(CLI::App &app, const Words &foreign) : app_(app), foreign_(foreign) {}

    CLI::Option *flag(const char *names, bool &value, const char *about);
    // An option with a value of this type, or, where its name has no dashes, a positional argument.
    CLI::Option *value(const char *names, std::string &value, const char *about,
                       const char *type = "");
    // This one also tells whether it was given, be it empty, as an unset variable is.
    CLI::Option *value(const char *names, std::optional<std::string> &value, const char *about,
                       const char *type = "");
    // As many positional arguments as there are, or an option that may be given more than once.
    CLI::Option *values(const char *names, Words &values, const char *about, const char *type = "");
    // A positional argument that must be given.
    void required(const char *name, std::string &value, const char *about);
    void exclusive(std::initializer_list<CLI::Option *> options);

    // An option with a value that is for the command itself, and in no help.
    void hidden(const char *name, std::string &value);

    // --dir and --quiet mean the same in all commands. --dir chooses the root, see choose_root().
    void dir();
    void quiet(const char *about = "Say nothing but what fails");

    // The arguments of another program, see Foreign. Valid when the command runs.
    const Words &foreign() const { return foreign_; }

  private:
    CLI::App &app_;
    const Words &foreign_;
};

// Does the work, and returns the exit code.
using Run = std::function<int()>;

// Which of a command's arguments belong to another program, and are not parsed here.
enum class Foreign {
    none,
    application,  // the first that is no option, or "--", and all behind it
    all,
};

struct Command {
    const char *name;
    const char *summary;  // its line in `cairn --help`
    const char *footer;   // of its own help: examples and exit codes
    Run (*define)(Arguments &take);
    Foreign foreign = Foreign::none;
    int usage_exit_code = kExitUsage;
};

// In the order of `cairn --help`.
#define CAIRN_COMMANDS(X) \
    X(run)                \
    X(enable)             \
    X(disable)            \
    X(stats)              \
    X(status)             \
    X(doctor)             \
    X(why)                \
    X(dashboard)          \
    X(top)                \
    X(metrics)            \
    X(ls)                 \
    X(clear)              \
    X(rm)                 \
    X(compress)           \
    X(control)            \
    X(convert)            \
    X(pack)               \
    X(warm)               \
    X(push)               \
    X(pull)               \
    X(remote)             \
    X(key)                \
    X(path)               \
    X(version)            \
    X(help)

#define CAIRN_DECLARE_COMMAND(name) extern const Command name##_command;
CAIRN_COMMANDS(CAIRN_DECLARE_COMMAND)
#undef CAIRN_DECLARE_COMMAND

Words command_names();

// Runs the command that the first word names.
int run_command_line(const Words &words);

// Commands of a second word, such as `cairn pack create`.
struct CommandGroup {
    const char *name;  // "cairn pack"
    const char *summary;
    const char *footer;
    std::span<const Command *const> commands;
};
// Runs the command that the first of the words behind the group's name names.
int run_command_group(const CommandGroup &group, const Words &words);

// Runs the only command of a program, which is what its help calls by `command.name`.
int run_only_command(const Command &command, const Words &words);

// The body of main(): a Failure becomes a line on standard error and an exit code, and so does
// output that could not be written.
int run_main(int argc, const char *const *argv, const std::function<int(const Words &)> &run);

}  // namespace cairn::cli
