// SPDX-License-Identifier: MIT
// The only file that knows the parser, CLI11.
#include <cairn/cairn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <sstream>

#include "caches.h"
#include "command.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter = R"(Examples:
  cairn run -- glmark2-es2            the same pictures; from the second start on, no recompiles
  cairn run --json saved.json -- APP  also write what was saved to a file
  cairn stats                         what the caches hold
  cairn clear --all                   forget everything
  cairn pack create game.pack --application game    programs for the first start on other machines

Exit codes: 0 success, 1 failure, 2 wrong usage. `cairn run` ends with the application's own
exit code; see `cairn run --help`.

Environment: CAIRN_DIR names the directory that holds the caches (default: $XDG_CACHE_HOME/cairn,
else ~/.cache/cairn).)";

// Where the explanations begin in a help text.
constexpr size_t kHelpColumn = 30;

#define CAIRN_LIST_COMMAND(name) &name##_command,
constexpr std::array kCommands = {CAIRN_COMMANDS(CAIRN_LIST_COMMAND)};
#undef CAIRN_LIST_COMMAND

const Command *find_command(const std::string &name) {
    const auto *found = std::find_if(kCommands.begin(), kCommands.end(),
                                     [&](const Command *each) { return each->name == name; });
    return found == kCommands.end() ? nullptr : *found;
}

// The parser does not know the application as an argument, so its help would leave that out.
class ApplicationHelp : public CLI::Formatter {
  public:
    ApplicationHelp() { column_width(kHelpColumn); }

    std::string make_usage(const CLI::App *, std::string name) const override {
        return fmt::format("\nUsage: {} [OPTIONS] [--] APP [ARGS...]\n", name);
    }
};

Run define(const Command &command, CLI::App &app, const Words &foreign) {
    app.footer(command.footer);
    if (command.foreign == Foreign::application) {
        app.formatter(std::make_shared<ApplicationHelp>());
        app.prefix_command();
    }
    Arguments take(app, foreign);
    return command.define(take);
}

// With their dashes.
Words option_names(const CLI::App &app) {
    Words names;
    for (const CLI::Option *option : app.get_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string &name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::string unknown_option(const CLI::App &command, const std::string &name) {
    const Words known = option_names(command);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        return fmt::format("`{}` goes behind the command", name);
    }
    return fmt::format("there is no option `{}`{}", name, did_you_mean(name, known));
}

Words subcommand_names(const CLI::App &app) {
    Words names;
    for (const CLI::App *each : app.get_subcommands([](const CLI::App *) { return true; })) {
        names.push_back(each->get_name());
    }
    return names;
}

// Why the parser refused the words, with a suggestion.
std::string usage_problem(const CLI::App &app, const CLI::ParseError &error) {
    const Words unknown = app.remaining(/*recurse=*/true);
    const auto named = app.get_subcommands();
    const int code = error.get_exit_code();
    const bool is_unknown = code == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                            code == static_cast<int>(CLI::ExitCodes::RequiredError);
    // The program itself takes nothing but commands, cairn-convert has none.
    const bool needs_command = named.empty() && app.get_require_subcommand_min() > 0;
    if (unknown.empty() || !is_unknown) {
        return is_unknown && needs_command ? "no command was named" : error.what();
    }
    const std::string &word = unknown.front();
    if (word.starts_with('-')) {
        return unknown_option(named.empty() ? app : *named.front(), word.substr(0, word.find('=')));
    }
    return needs_command ? fmt::format("there is no command `{}`{}", word,
                                       did_you_mean(word, subcommand_names(app)))
                         : fmt::format("`{}` is one argument too many", word);
}

// Nothing when the command is to be run; the exit code when help was printed or the words are wrong.
std::optional<int> parse(CLI::App &app, const Words &words, int usage_exit_code) {
    try {
        app.parse(Words(words.rbegin(), words.rend()));  // the parser takes them in reverse
        return std::nullopt;
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            std::ostringstream text;  // --help and --version
            app.exit(error, text);
            print_text(text.str());
            return kExitOk;
        }
        const auto named = app.get_subcommands();
        complain("{}; `{}{} --help` tells more", usage_problem(app, error), app.get_name(),
                 named.empty() ? "" : " " + named.front()->get_name());
        return usage_exit_code;
    }
}

// Removes another program's arguments from the words, before the parser sees them.
Words split_off_foreign(const Command &command, Words &words) {
    const auto from = command.foreign == Foreign::none ? words.end()
                      : command.foreign == Foreign::all
                          ? words.begin() + 1
                          : std::find(words.begin(), words.end(), "--");
    Words foreign(from, words.end());
    words.erase(from, words.end());
    return foreign;
}

// The parser leaves words that it does not know: an application and its arguments, or a misspelt
// option of ours. They belong in front of the mark.
void complete_foreign(const CLI::App &command, Words &foreign) {
    const Words unparsed = command.remaining();
    if (unparsed.empty()) {
        if (!foreign.empty()) foreign.erase(foreign.begin());  // the mark
        return;
    }
    if (unparsed.front().starts_with('-')) {
        throw Failure(kExitRunFailed,
                      "`cairn {0}` has no option {1}{2}; put -- in front of an application whose "
                      "name begins with a dash, or see `cairn {0} --help`",
                      command.get_name(), unparsed.front(),
                      did_you_mean(unparsed.front(), option_names(command)));
    }
    foreign.insert(foreign.begin(), unparsed.begin(), unparsed.end());
}

}  // namespace

CLI::Option *Arguments::flag(const char *names, bool &value, const char *about) {
    return app_.add_flag(names, value, about);
}

CLI::Option *Arguments::value(const char *names, std::string &value, const char *about,
                              const char *type) {
    return app_.add_option(names, value, about)->type_name(type);
}

CLI::Option *Arguments::value(const char *names, std::optional<std::string> &value,
                              const char *about, const char *type) {
    const auto set = [&value](const std::string &text) { value = text; };
    return app_.add_option_function<std::string>(names, set, about)->type_name(type);
}

CLI::Option *Arguments::values(const char *names, Words &values, const char *about,
                               const char *type) {
    CLI::Option *option = app_.add_option(names, values, about)->type_name(type);
    return option->get_positional() ? option : option->allow_extra_args(false);
}

void Arguments::required(const char *name, std::string &value, const char *about) {
    app_.add_option(name, value, about)->type_name("")->required();
}

void Arguments::hidden(const char *name, std::string &value) {
    app_.add_option(name, value)->group("");
}

void Arguments::exclusive(std::initializer_list<CLI::Option *> options) {
    for (const auto *one = options.begin(); one != options.end(); ++one) {
        for (const auto *other = options.begin(); other != one; ++other) (*one)->excludes(*other);
    }
}

void Arguments::dir() {
    const auto set = [](const std::string &dir) {
        std::error_code error;
        const auto path = std::filesystem::absolute(dir, error).lexically_normal();
        if (!dir.empty()) choose_root(error ? dir : path.string());
    };
    const char *about =
        "The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn";
    app_.add_option_function<std::string>("--dir", set, about)->type_name("DIR");
}

void Arguments::quiet(const char *about) {
    app_.add_flag_callback("-q,--quiet", be_quiet, about);
}

Words command_names() {
    Words names;
    for (const Command *command : kCommands) names.emplace_back(command->name);
    return names;
}

int run_command_line(const Words &words) {
    const Command *named = words.empty() ? nullptr : find_command(words.front());
    Words own = words;
    Words foreign = named == nullptr ? Words() : split_off_foreign(*named, own);
    // An application inherits what becomes of signals.
    const bool is_application = named != nullptr && named->foreign == Foreign::application;
    if (!is_application) make_signals_errors();
    CLI::App app("Remembers compiled GPU programs, so that none is compiled twice.", "cairn");
    app.footer(kFooter);
    app.require_subcommand(1);
    app.get_formatter()->column_width(kHelpColumn);
    app.set_version_flag(
        "-V,--version", [] { return std::string("cairn ") + cairn_version_string(); },
        "Print the version and exit");
    std::map<const Command *, Run> runs;
    for (const Command *command : kCommands) {
        // Defining all of them would take a tenth of the time of `cairn run`.
        if (named != nullptr && command != named) continue;
        CLI::App &taken = *app.add_subcommand(command->name, command->summary);
        runs[command] = define(*command, taken, foreign);
    }
    // A wrong option in front of an application must not be mistaken for the application's own exit
    // code.
    const auto ended = parse(app, own, named == nullptr ? kExitUsage : named->usage_exit_code);
    if (ended) return *ended;
    if (is_application) complete_foreign(*app.get_subcommand(named->name), foreign);
    return runs.at(named)();
}

int run_command_group(const CommandGroup &group, const Words &words) {
    CLI::App app(group.summary, group.name);
    app.footer(group.footer);
    app.require_subcommand(1);
    app.get_formatter()->column_width(kHelpColumn);
    const Words foreign;
    std::map<std::string, Run> runs;
    for (const Command *command : group.commands) {
        CLI::App &taken = *app.add_subcommand(command->name, command->summary);
        runs[command->name] = define(*command, taken, foreign);
    }
    const auto ended = parse(app, words, kExitUsage);
    return ended ? *ended : runs.at(app.get_subcommands().front()->get_name())();
}

int run_only_command(const Command &command, const Words &words) {
    make_signals_errors();
    CLI::App app(command.summary, command.name);
    app.get_formatter()->column_width(kHelpColumn);
    const Words foreign;
    const Run run = define(command, app, foreign);
    const auto ended = parse(app, words, command.usage_exit_code);
    return ended ? *ended : run();
}

int run_main(int argc, const char *const *argv, const std::function<int(const Words &)> &run) {
    try {
        const int exit_code = run(Words(argv + std::min(argc, 1), argv + argc));
        // A full disk or a closed pipe behind a redirection must not look like success.
        if (exit_code == kExitOk) finish_output();
        return exit_code;
    } catch (const Failure &failure) {
        complain(failure.what());
        return failure.exit_code();
    } catch (const std::exception &error) {
        complain(error.what());
        return kExitFailure;
    }
}

}  // namespace cairn::cli
