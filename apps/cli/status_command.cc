// SPDX-License-Identifier: MIT
// `cairn status`: whether this session uses Cairn, where that comes from, and for which programs it
// does not.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "caches.h"
#include "command.h"
#include "common/crash_guard.h"
#include "common/glvnd.h"
#include "common/permission.h"
#include "common/words.h"
#include "manifest.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "output.h"
#include "session.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFooter =
    R"(It looks at the environment that it was started with, so start it from the session in question.

Examples:
  cairn status
  cairn status --json | jq .egl.on

Exit codes: 0 all is well, on or off; 1 a library that is asked for cannot be loaded, or the
configuration has lines that are not understood; 2 wrong usage.)";

constexpr const char *kFilenamesEnv = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirsEnv = "__EGL_VENDOR_LIBRARY_DIRS";
constexpr std::string_view kEglLibrary = "libEGL_cairn.so";  // not libEGL_cairn_last.so

// Of EGL or GLX, for a process that this session starts now.
struct Interface {
    std::string by;       // what names our library; empty: nothing does, it is off
    std::string library;  // as the dynamic loader is asked for it
    std::string problem;  // why it cannot be loaded

    bool is_on() const { return !by.empty() && problem.empty(); }
};

// What a log-in finds.
struct Source {
    std::string file;
    bool has_egl = false;
    bool has_glx = false;
};

struct Off {
    std::string application;
    std::string reason;
    uint64_t since_ms = 0;  // of crashes; 0: otherwise
};

struct State {
    std::string disabled;  // why the front ends pass everything through; empty: they do not
    Interface egl, glx;
    std::vector<Source> sources;
    bool only_allowed = false;  // the configuration says `enabled = 0` for all
    std::vector<Off> off;
    std::string configuration;
    Words mistakes;
};

// The library that a manifest names, if it is ours.
std::string our_library(const std::string &manifest) {
    std::string library = library_of(manifest);
    if (!fs::path(library).filename().string().starts_with(kEglLibrary)) return "";
    return library;
}

// As GLVND looks: the files of one variable, else the folders of the other, else its own folders.
Interface find_egl() {
    const auto files = environment_variable(kFilenamesEnv);
    const auto folders = environment_variable(kDirsEnv);
    Words manifests = files ? split(*files, ':') : Words();
    for (const std::string &folder : split(folders.value_or(kGlvndFolders), ':')) {
        if (files) break;
        for (const std::string &path : paths_in(folder, ".json")) manifests.push_back(path);
    }
    Interface egl;
    for (const std::string &manifest : manifests) {
        egl.library = our_library(manifest);
        if (egl.library.empty()) continue;
        egl.by = files     ? fmt::format("{} names {}", kFilenamesEnv, manifest)
                 : folders ? fmt::format("{} names {}", kDirsEnv,
                                         fs::path(manifest).parent_path().string())
                           : fmt::format("{}, for all users", manifest);
        egl.problem = load_problem(egl.library);
        break;
    }
    return egl;
}

Interface find_glx() {
    Interface glx;
    if (environment_variable(kGlxVendorEnv) != kGlxVendor) return glx;
    glx.by = fmt::format("{}={}", kGlxVendorEnv, kGlxVendor);
    glx.library = kGlxLibrary;
    glx.problem = load_problem(kGlxLibrary);
    return glx;
}

void add_source(State &state, const std::string &file, const std::string &text) {
    const bool has_egl =
        text.find(kFilenamesEnv) != std::string::npos || text.find(kDirsEnv) != std::string::npos;
    const bool has_glx = text.find(kGlxVendorEnv) != std::string::npos;
    if (has_egl || has_glx) state.sources.push_back({file, has_egl, has_glx});
}

void find_sources(State &state) {
    try {
        const SessionFiles files = session_files();
        const std::string text = read_user_file(files.environment).value_or("");
        if (is_environment_text(text)) add_source(state, files.environment, text);
        add_source(state, files.shell, block_in(read_user_file(files.shell).value_or("")));
    } catch (const Failure &failure) {
        complain(failure.what());
    }
    for (const std::string &folder : split(kGlvndFolders, ':')) {
        for (const std::string &path : paths_in(folder, ".json")) {
            if (!our_library(path).empty()) state.sources.push_back({path, true, false});
        }
    }
}

void keep_mistake(void *user, int, const char *line) {
    static_cast<Words *>(user)->emplace_back(line);
}

// Every application of which somebody has said something is asked about.
void find_applications(State &state, const std::string &root) {
    const Configuration configuration = Configuration::read(Log(keep_mistake, &state.mistakes));
    state.configuration = configuration_path().value_or("");
    state.only_allowed = configuration.enabled() == std::optional(false);
    std::set<std::string> names;
    for (const DeniedByDefault &denied : denied_by_default()) names.insert(denied.application);
    for (const std::string &name : configuration.disabled_applications()) names.insert(name);
    for (const std::string &name : guarded_applications(root)) names.insert(name);
    for (const std::string &name : names) {
        const auto record = read_crash_record(root, name);
        const uint64_t since_ns = record.ok() ? record->off_since_ns : 0;
        Circumstances circumstances;
        circumstances.application = name;
        circumstances.is_off_after_crashes = since_ns != 0;
        const Permission permission = permission_for(circumstances, configuration);
        if (permission.is_served) continue;
        state.off.push_back({name, permission.reason, since_ns / 1'000'000});
    }
}

State look() {
    State state;
    const std::string disabled = environment_variable("CAIRN_DISABLE").value_or("");
    if (!disabled.empty() && disabled != "0") state.disabled = "CAIRN_DISABLE is set";
    state.egl = find_egl();
    state.glx = find_glx();
    find_sources(state);
    find_applications(state, resolve_root());
    return state;
}

nlohmann::ordered_json json_of(const Interface &found) {
    const auto or_null = [](const std::string &text) {
        return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
    };
    return {{"on", found.is_on()},
            {"by", or_null(found.by)},
            {"library", or_null(found.library)},
            {"problem", or_null(found.problem)}};
}

void print_state_json(const State &state) {
    nlohmann::ordered_json json;
    json["egl"] = json_of(state.egl);
    json["glx"] = json_of(state.glx);
    json["disabled"] =
        state.disabled.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(state.disabled);
    json["sources"] = nlohmann::ordered_json::array();
    for (const Source &source : state.sources) {
        json["sources"].push_back(
            {{"file", source.file}, {"egl", source.has_egl}, {"glx", source.has_glx}});
    }
    json["only_allowed"] = state.only_allowed;
    json["off"] = nlohmann::ordered_json::array();
    for (const Off &off : state.off) {
        nlohmann::ordered_json entry = {{"application", off.application}, {"reason", off.reason}};
        entry["since_ms"] =
            off.since_ms == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(off.since_ms);
        json["off"].push_back(std::move(entry));
    }
    json["configuration"] = state.configuration;
    json["mistakes"] = state.mistakes;
    print_json(json);
}

void print_interface(const char *name, const Interface &found) {
    if (found.by.empty()) {
        print_line("{}  off", name);
    } else if (found.problem.empty()) {
        print_line("{}  on, by {}", name, found.by);
    } else {
        print_line("{}  off: {} cannot be loaded: {} (asked for by {})", name, found.library,
                   found.problem, found.by);
    }
}

void print_applications(const State &state) {
    std::map<std::string, Words> by_reason;
    for (const Off &off : state.off) {
        by_reason[off.reason].push_back(
            off.since_ms == 0
                ? off.application
                : fmt::format("{} (since {})", off.application, format_time(off.since_ms)));
    }
    if (state.only_allowed) {
        print_line("Off for all applications but those with `enabled = 1` in the configuration.");
    }
    print_line("Off for");
    for (const auto &[reason, names] : by_reason) {
        print_line("    {}: {}", fmt::join(names, ", "), reason);
    }
}

void print_state(const State &state) {
    if (!state.disabled.empty()) {
        print_line("{}: everything passes through.", state.disabled);
    }
    print_interface("EGL", state.egl);
    print_interface("GLX", state.glx);
    if (state.sources.empty()) {
        print_line("At the next log-in: off. `cairn enable` switches it on.");
    } else {
        print_line("At the next log-in:");
    }
    for (const Source &source : state.sources) {
        print_line("    {}: {}", source.file,
                   source.has_egl && source.has_glx ? "EGL and GLX"
                   : source.has_egl                 ? "EGL"
                                                    : "GLX");
    }
    print_applications(state);
    for (const std::string &mistake : state.mistakes) print_line(mistake);
}

Run define(Arguments &take) {
    auto json = std::make_shared<bool>();
    take.flag("--json", *json, "Print JSON");
    take.dir();
    return [json] {
        const State state = look();
        *json ? print_state_json(state) : print_state(state);
        const bool is_well =
            state.egl.problem.empty() && state.glx.problem.empty() && state.mistakes.empty();
        return is_well ? kExitOk : kExitFailure;
    };
}

}  // namespace

const Command status_command = {"status", "Show whether the session uses Cairn, and why", kFooter,
                                define};

}  // namespace cairn::cli
