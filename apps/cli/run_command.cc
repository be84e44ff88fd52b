// SPDX-License-Identifier: MIT
// `cairn run`: starts an application with the front ends for GL in front of its driver, and reports at
// exit how much that saved.
#include <cairn/cairn.h>
#include <cairn/cairn_broker.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "caches.h"
#include "child.h"
#include "command.h"
#include "manifest.h"
#include "named_file.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "os/helper_process.h"
#include "output.h"
#include "run_report.h"
#include "text.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFooter =
    R"(Options of `cairn run` stand in front of the application; all that follows is the application's.

Examples:
  cairn run -- glmark2-es2 --validate
  cairn run --json saved.json -- APP --its-own-option
  cairn run --dir ./cache -- APP       keep the compiled programs in another place
  cairn run --limit 8G -- APP          keep more of them
  cairn run --private -- chromium --incognito --user-data-dir=/tmp/NEW
                                       keep nothing

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
    std::optional<std::string> limit;
    bool record = false;
    bool keep_sources = false;
    bool is_private = false;
};

// The least that CAIRN_LIMIT stands for; see cairn_program_cache.h.
constexpr uint64_t kLimitLeast = 4u << 20;

// The value of CAIRN_LIMIT, in bytes. This finds a wrong size before the application starts.
std::string limit_bytes(const std::string &size) {
    const auto bytes = size_from_text(size);
    if (!bytes) {
        throw Failure(kExitRunFailed, "--limit `{}` is no size; write for example 512M or 4G",
                      size);
    }
    if (*bytes < kLimitLeast) {
        throw Failure(kExitRunFailed, "--limit `{}` is too small; the least is {}", size,
                      format_bytes(kLimitLeast));
    }
    return std::to_string(*bytes);
}

// Another one for each run: the driver's directory begins empty for it.
std::string name_of_recording() {
    return fmt::format("{:x}-{}", wall_clock_ns(), getpid());
}

// The files of --json and --trace. A wrong name is found before the application starts, and not
// after an hour of play.
struct Outputs {
    std::optional<OutputFile> json, trace;
    std::string trace_path;  // by which processes append to it; empty: none does
};

Outputs open_outputs(const RunOptions &options) {
    try {
        Outputs outputs;
        if (!options.json.empty()) outputs.json.emplace(options.json);
        if (options.trace.empty()) return outputs;
        outputs.trace.emplace(options.trace);
        outputs.trace->write("");
        outputs.trace_path = outputs.trace->is_standard_output()
                                 ? fmt::format("/proc/{}/fd/{}", getpid(), STDOUT_FILENO)
                                 : fs::absolute(options.trace).string();
        return outputs;
    } catch (const Failure &failure) {
        throw Failure(kExitRunFailed, failure.what());
    }
}

// Only prints a failure: the exit code belongs to the application.
void write_result(OutputFile &json, const RunResult &result) {
    try {
        json.write(printable_json(report_json(result)) + "\n");
    } catch (const Failure &failure) {
        complain(failure.what());
    }
}

// A place in which nobody can make a folder.
constexpr const char *kNowhere = "/dev/null/cairn";

void require_nothing_kept(const RunOptions &options) {
    const char *other = options.limit          ? "--limit"
                        : options.record       ? "--record"
                        : options.keep_sources ? "--keep-sources"
                                               : nullptr;
    if (!options.is_private || other == nullptr) return;
    throw Failure(kExitRunFailed, "with --private nothing is kept; leave out {}, or --private",
                  other);
}

// The kinds of caches that `cairn control` has switched off below the root.
uint32_t disabled_kinds(const std::string &root) {
    CacheLog log;
    return root.empty() ? 0
                        : cairn_control_disabled(
                              open_control(root, CAIRN_CONTROL_OPEN_READ_ONLY, log).get());
}

// The front ends keep programs in their process only. What the application keeps in Cairn by itself
// finds no place for a cache.
void keep_nothing(const std::string &root) {
    // The application does not see the state below the root any more.
    if ((disabled_kinds(root) & CAIRN_KIND_CACHE_FOR_DRIVER) != 0) setenv(kDisableEnv, "1", 1);
    setenv("CAIRN_EGL_PERSIST", "0", 1);
    setenv("CAIRN_EGL_BROKER", "0", 1);
    for (const char *name : {CAIRN_BROKER_FD_ENV, kRecordVariable, kKeepSourcesVariable}) {
        unsetenv(name);
    }
    setenv("CAIRN_DIR", kNowhere, 1);
}

// No cache has such a name.
constexpr const char *kFolder = ".no-driver-cache";

// One below the root, where a folder stands in the place of the index of Mesa's cache; nothing where
// it cannot be made.
std::string folder_without_cache(const std::string &root) {
    const fs::path folder = fs::path(root) / kFolder;
    const fs::path index = folder / "mesa_shader_cache" / "index";
    std::error_code error;
    fs::create_directories(index, error);
    return fs::symlink_status(index, error).type() == fs::file_type::directory ? folder.string()
                                                                               : std::string();
}

// Switches off what drivers keep by themselves.
//
// Mesa gives no program binaries where its cache is switched off by MESA_SHADER_CACHE_DISABLE, and
// then Cairn could not keep programs either. So it is given a folder in which it can keep nothing.
void switch_off_driver_caches(const std::string &folder) {
    setenv("__GL_SHADER_DISK_CACHE", "0", 1);
    if (folder.empty()) {
        setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    } else {
        setenv("MESA_SHADER_CACHE_DIR", folder.c_str(), 1);
        // The directory serves this kind of cache; newer versions of Mesa have a database by
        // default.
        setenv("MESA_DISK_CACHE_MULTI_FILE", "true", 1);
        setenv("MESA_DISK_CACHE_SINGLE_FILE", "false", 1);
        setenv("MESA_DISK_CACHE_DATABASE", "false", 1);
    }
}

// Sets the environment in which the application runs cached. If something is missing, the
// application runs uncached, and RunResult::problem says why.
void prepare_cached(const RunOptions &options, const std::string &trace_path, RunResult &result,
                    std::optional<SharedReport> &report) {
    try {
        result.root = resolve_root();
        if (is_disabled()) {
            result.problem = fmt::format("{} is set", kDisableEnv);
            return;
        }
        if (!options.is_private) result.problem = root_problem(result.root);
        if ((disabled_kinds(result.root) & CAIRN_KIND_CACHE_FOR_DRIVER) != 0) {
            result.problem =
                "it is switched off; `cairn control --kind cache-for-driver --enable` switches it "
                "on";
        }
        const Manifest manifest = find_manifest(canonical_path("/proc/self/exe"));
        if (manifest.path.empty()) {
            result.problem = manifest.problem;
            return;
        }
        report.emplace(options.is_private ? "" : result.root);
        setenv(kRunReportVariable, report->path().c_str(), 1);
        if (options.is_private) unsetenv("CAIRN_TRACE");
        if (!trace_path.empty()) setenv("CAIRN_TRACE", trace_path.c_str(), 1);
        const auto [name, value] = front_end_environment(manifest.path);
        setenv(name.c_str(), value.c_str(), 1);
        result.manifest = manifest.path;
        result.glx = glx_library_of(manifest.path);
        if (result.glx.empty()) return;
        for (const auto &[variable, text] : glx_environment(manifest.path)) {
            setenv(variable.c_str(), text.c_str(), 1);
        }
    } catch (const std::exception &error) {
        result.problem = error.what();
    }
}

int run(const RunOptions &options, const Words &command) {
    require_nothing_kept(options);
    const std::string limit = options.limit ? limit_bytes(*options.limit) : "";
    Outputs outputs = open_outputs(options);
    RunResult result;
    result.command = command;
    std::optional<SharedReport> report;
    prepare_cached(options, outputs.trace_path, result, report);
    if (options.is_private) {
        switch_off_driver_caches(result.manifest.empty() ? "" : kNowhere);
    } else if ((disabled_kinds(result.root) & CAIRN_KIND_DRIVER_MANAGED) != 0) {
        switch_off_driver_caches(result.manifest.empty() ? "" : folder_without_cache(result.root));
    }
    if (!limit.empty()) setenv("CAIRN_LIMIT", limit.c_str(), 1);
    if (!chosen_root().empty()) setenv("CAIRN_DIR", chosen_root().c_str(), 1);
    if (options.is_private) keep_nothing(result.root);
    if (options.keep_sources) setenv(kKeepSourcesVariable, "1", 1);
    if (options.record) setenv(kRecordVariable, name_of_recording().c_str(), 1);
    const uint64_t start_ns = monotonic_ns();
    // Once the front end is used, there is nothing more to find out.
    const Look look = [&](pid_t child) {
        if (!report || report->read().contexts > 0) return false;
        look_at_processes(child, result.seen);
        return true;
    };
    const ChildEnd end = run_child(command, look);
    result.wall_ns = monotonic_ns() - start_ns;
    // Nobody may be reading standard error any more; that must not change the exit code.
    make_signals_errors();
    result.exit_code = end.exit_code;
    result.signal = end.signal;
    if (report) result.report = report->read();
    if (end.start_error != 0) {
        result.problem = end.exit_code == kExitNotFound
                             ? fmt::format("{}: no such program", command.front())
                             : fmt::format("{} cannot be executed: {}", command.front(),
                                           error_text(end.start_error));
        complain(result.problem);
    } else if (!is_quiet()) {
        for (const std::string &line : report_lines(result)) complain(line);
    }
    if (outputs.json) write_result(*outputs.json, result);
    return result.exit_code;
}

Run define(Arguments &take) {
    auto options = std::make_shared<RunOptions>();
    const Words &command = take.foreign();
    take.value("--json", options->json,
               "Write what was saved to FILE as JSON; - is standard output", "FILE");
    take.value("--trace", options->trace,
               "Write a line KEY SIZE COST to FILE for each entry that is looked up; - is "
               "standard output",
               "FILE");
    take.dir();
    take.value("--limit", options->limit,
               "The room on disk that APP's caches may take; 1G where nothing else is said",
               "SIZE");
    take.flag("--record", options->record,
              "Have the driver keep what it makes for APP by itself, for `cairn pack create`");
    take.flag("--keep-sources", options->keep_sources,
              "Keep the first lines of sources that are compiled, for `cairn why`");
    take.flag("--private", options->is_private,
              "Keep nothing of what APP compiles, and find nothing that was kept");
    take.quiet("Say nothing, except when APP cannot be started");
    return [options, &command] {
        if (command.empty()) {
            throw Failure(kExitRunFailed,
                          "no application was named; for example: cairn run -- glmark2-es2");
        }
        return run(*options, command);
    };
}

}  // namespace

const Command run_command = {"run",
                             "Run an application; its GPU programs are compiled once only",
                             kFooter,
                             define,
                             Foreign::application,
                             kExitRunFailed};

}  // namespace cairn::cli
