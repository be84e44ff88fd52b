// SPDX-License-Identifier: MIT
// `cairn run`: starts an application with the EGL front end in front of its driver and says at exit
// what that saved.
#include <cairn/cairn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "caches.h"
#include "child.h"
#include "command_line.h"
#include "control.h"
#include "driver_caches.h"
#include "failure.h"
#include "manifest.h"
#include "os/configuration.h"
#include "output.h"
#include "output_file.h"
#include "run_report.h"
#include "shared_report.h"
#include "suggestion.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Options of `cairn run` stand in front of the application; all that follows is the application's.

Examples:
  cairn run -- glmark2-es2 --validate
  cairn run --json saved.json -- APP --its-own-option
  cairn run --dir ./cache -- APP       keep the compiled programs in another place
  cairn run --limit 8G -- APP          keep more of them

Exit codes: that of the application; 128 + n when signal n ended it; 125 when cairn itself could not
do its work or was used wrongly; 126 when the application cannot be executed; 127 when it is not found.

If the front end or the cache cannot be used, the application runs all the same, uncached, and a line
says why.)";

// Switches the front end off, wherever it came from.
constexpr const char *kDisableEnv = "CAIRN_DISABLE";

bool is_disabled() {
    const char *value = getenv(kDisableEnv);
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

struct RunOptions {
    std::string json;
    std::string trace;
    std::string dir;
    std::optional<std::string> limit;
    bool quiet = false;
};

// The least that CAIRN_LIMIT stands for; see cairn_program_cache.h.
constexpr uint64_t kLimitLeast = 4u << 20;

// What CAIRN_LIMIT is set to, in bytes; a wrong size is found before the application starts.
std::string limit_bytes(const std::string &size) {
    const auto bytes = size_from_text(size);
    if (!bytes) {
        throw Failure(kExitRunFailed,
                      fmt::format("--limit `{}` is no size; write for example 512M or 4G", size));
    }
    if (*bytes < kLimitLeast) {
        throw Failure(kExitRunFailed, fmt::format("--limit `{}` is too small; the least is {}",
                                                  size, format_bytes(kLimitLeast)));
    }
    return std::to_string(*bytes);
}

// Opened before the application starts, so that a wrong name is found at once and not after an hour
// of play.
std::optional<OutputFile> open_output(const std::string &name) {
    try {
        return name.empty() ? std::nullopt : std::optional<OutputFile>(name);
    } catch (const Failure &failure) {
        throw Failure(kExitRunFailed, failure.what());
    }
}

// A failure is said and no more: the exit code belongs to the application.
void write_result(OutputFile &json, const RunResult &result) {
    try {
        json.write(printable_json(report_json(result)) + "\n");
    } catch (const Failure &failure) {
        complain(failure.what());
    }
}

// Makes the file of `--trace` empty, and returns the name by which processes append to it.
std::string empty_trace(OutputFile &trace, const std::string &name) {
    try {
        trace.write("");
    } catch (const Failure &failure) {
        throw Failure(kExitRunFailed, failure.what());
    }
    return trace.is_standard_output() ? fmt::format("/proc/{}/fd/{}", getpid(), STDOUT_FILENO)
                                      : std::filesystem::absolute(name).string();
}

// Everything the application needs to run cached. What cannot be had leaves `problem` and the
// application uncached.
struct Preparation {
    Variables variables;
    std::optional<SharedReport> report;
};

// The kinds of caches that are switched off below the root.
uint32_t disabled_kinds(const std::string &root) {
    return root.empty() ? 0 : Control(root, Control::Use::look).disabled();
}

// `cairn control` may have switched off what drivers keep by themselves.
void drop_driver_caches(const RunResult &result, Preparation &preparation) {
    if ((disabled_kinds(result.root) & CAIRN_KIND_DRIVER_MANAGED) == 0) {
        return;
    }
    for (auto &variable : without_driver_caches(result.root, result.manifest.has_value())) {
        preparation.variables.push_back(std::move(variable));
    }
}

void prepare_cached(const RunOptions &options, RunResult &result, Preparation &preparation) {
    try {
        result.root = resolve_root(options.dir);
        if (!options.dir.empty()) {
            preparation.variables.emplace_back("CAIRN_DIR", result.root);
        }
        if (is_disabled()) {
            result.problem = fmt::format("{} is set", kDisableEnv);
            return;
        }
        result.problem = root_problem(result.root);
        if ((disabled_kinds(result.root) & CAIRN_KIND_CACHE_FOR_DRIVER) != 0) {
            result.problem =
                "it is switched off; `cairn control --kind cache-for-driver --enable` switches it "
                "on";
        }
        const Manifest manifest = find_manifest(executable_path());
        if (manifest.path.empty()) {
            result.problem = manifest.problem;
            return;
        }
        preparation.report.emplace(SharedReport::create(result.root));
        preparation.variables.emplace_back(kRunReportVariable, preparation.report->path());
        if (!options.trace.empty()) {
            preparation.variables.emplace_back("CAIRN_TRACE", options.trace);
        }
        preparation.variables.push_back(front_end_environment(manifest.path));
        result.manifest = manifest.path;
    } catch (const std::exception &error) {
        result.problem = error.what();
    }
}

Preparation prepare(const RunOptions &options, RunResult &result) {
    Preparation preparation;
    prepare_cached(options, result, preparation);
    drop_driver_caches(result, preparation);
    return preparation;
}

int run(RunOptions options, const std::vector<std::string> &command) {
    const std::string limit = options.limit ? limit_bytes(*options.limit) : "";
    std::optional<OutputFile> json = open_output(options.json);
    std::optional<OutputFile> trace = open_output(options.trace);
    if (trace) {
        options.trace = empty_trace(*trace, options.trace);
    }
    RunResult result;
    result.command = command;
    Preparation preparation = prepare(options, result);
    if (!limit.empty()) {
        preparation.variables.emplace_back("CAIRN_LIMIT", limit);
    }
    const auto start = std::chrono::steady_clock::now();
    // Once the front end is used, there is nothing more to find out.
    const Look look = [&](pid_t child) {
        if (!preparation.report || preparation.report->read().contexts > 0) {
            return false;
        }
        look_at_processes(child, result.seen);
        return true;
    };
    const ChildEnd end = run_child(command, preparation.variables, look);
    const auto wall = std::chrono::steady_clock::now() - start;
    // Nobody may be reading standard error any more; that must not change the exit code.
    std::signal(SIGPIPE, SIG_IGN);
    result.wall_ns =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count());
    result.exit_code = end.exit_code;
    result.signal = end.signal;
    if (preparation.report) {
        result.report = preparation.report->read();
    }
    if (end.start_error != 0) {
        result.problem = end.exit_code == kExitNotFound
                             ? fmt::format("{}: no such program", command.front())
                             : fmt::format("{} cannot be executed: {}", command.front(),
                                           error_text(end.start_error));
        complain(result.problem);
    } else if (!options.quiet) {
        for (const std::string &line : report_lines(result)) {
            complain(line);
        }
    }
    if (json) {
        write_result(*json, result);
    }
    return result.exit_code;
}

// The parser leaves what it does not know in place: the application and its arguments, or a
// misspelt option of ours.
std::vector<std::string> application_command(const CLI::App &run,
                                             const std::vector<std::string> &after) {
    const std::vector<std::string> unparsed = run.remaining();
    if (unparsed.empty()) {
        if (after.size() < 2) {
            throw Failure(kExitRunFailed,
                          "no application was named; for example: cairn run -- glmark2-es2");
        }
        return {after.begin() + 1, after.end()};
    }
    if (unparsed.front().starts_with('-')) {
        throw Failure(
            kExitRunFailed,
            fmt::format("`cairn run` has no option {}{}; put -- in front of an "
                        "application whose name begins with a dash, or see `cairn run "
                        "--help`",
                        unparsed.front(), did_you_mean(unparsed.front(), option_names(run))));
    }
    std::vector<std::string> command = unparsed;
    command.insert(command.end(), after.begin(), after.end());
    return command;
}

// The application is no argument that the parser knows of, so that its help would leave it out.
class RunHelp : public CLI::Formatter {
  public:
    RunHelp() { column_width(kHelpColumn); }

    std::string make_usage(const CLI::App *, std::string) const override {
        return "\nUsage: cairn run [OPTIONS] [--] APP [ARGS...]\n";
    }
};

}  // namespace

void add_run_command(CLI::App &app, const std::vector<std::string> &after, int &exit_code) {
    CLI::App *command =
        app.add_subcommand("run", "Run an application; its GPU programs are compiled once only");
    auto options = std::make_shared<RunOptions>();
    command->formatter(std::make_shared<RunHelp>());
    command->footer(kFooter);
    command->prefix_command();
    command
        ->add_option("--json", options->json,
                     "Write what was saved to FILE as JSON; - is standard output")
        ->type_name("FILE");
    command
        ->add_option("--trace", options->trace,
                     "Write a line KEY SIZE COST to FILE for each entry that is looked up; - is "
                     "standard output")
        ->type_name("FILE");
    add_dir_option(*command, options->dir);
    command
        ->add_option("--limit", options->limit,
                     "The room on disk that APP's caches may take; 1G where nothing else is said")
        ->type_name("SIZE");
    command->add_flag("-q,--quiet", options->quiet,
                      "Say nothing, except when APP cannot be started");
    command->callback([command, options, &after, &exit_code] {
        exit_code = run(*options, application_command(*command, after));
    });
}

}  // namespace cairn::cli
