// SPDX-License-Identifier: MIT
// `cairn status`: whether this session uses Cairn, where that comes from, and for which programs it
// does not.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "caches.h"
#include "command.h"
#include "common/crash_guard.h"
#include "common/permission.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "os/helper_process.h"
#include "output.h"
#include "session_state.h"
#include "warm_units.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(It looks at the environment that it was started with, so start it from the session in question.
`cairn doctor` looks for what else may be wrong.

Examples:
  cairn status
  cairn status --json | jq .egl.on

Exit codes: 0 all is well, on or off; 1 a library that is asked for cannot be loaded, or is gone at
the next log-in, a file cannot be read, or the configuration has lines that are not understood; 2
wrong usage.)";

struct Off {
    std::string application;
    std::string reason;
    uint64_t since_ms = 0;  // of crashes; 0: otherwise
};

struct State {
    std::string disabled;  // why the front ends pass everything through; empty: they do not
    Interface egl, glx;
    std::vector<Source> sources;
    std::string why_no_warming;  // by itself, after an update of the driver
    bool only_allowed = false;   // the configuration says `enabled = 0` for all
    std::vector<Off> off;
    std::string configuration;
    Words mistakes;
};

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
    state.sources = find_sources();
    state.why_no_warming =
        WarmUnits(home_directory().value_or(""), canonical_path("/proc/self/exe")).why_off();
    find_applications(state, resolve_root());
    return state;
}

nlohmann::ordered_json or_null(const std::string &text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

nlohmann::ordered_json json_of(const Interface &found) {
    return {{"on", found.is_on()},
            {"by", or_null(found.by)},
            {"library", or_null(found.library)},
            {"problem", or_null(found.problem)}};
}

void print_state_json(const State &state) {
    nlohmann::ordered_json json;
    json["egl"] = json_of(state.egl);
    json["glx"] = json_of(state.glx);
    json["disabled"] = or_null(state.disabled);
    json["sources"] = nlohmann::ordered_json::array();
    for (const Source &source : state.sources) {
        json["sources"].push_back({{"file", source.file},
                                   {"egl", source.has_egl},
                                   {"glx", source.has_glx},
                                   {"problem", or_null(source.problem)}});
    }
    json["warm"] = {{"on", state.why_no_warming.empty()},
                    {"why_off", or_null(state.why_no_warming)}};
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

void print_sources(const std::vector<Source> &sources) {
    const bool is_off = std::ranges::none_of(
        sources, [](const Source &source) { return source.is_on() || !source.is_known; });
    print_line(is_off ? "At the next log-in: off. `cairn enable` switches it on."
                      : "At the next log-in:");
    for (const Source &source : sources) {
        const char *what = source.has_egl && source.has_glx ? "EGL and GLX"
                           : source.has_egl                 ? "EGL"
                           : source.has_glx                 ? "GLX"
                           : source.is_known                ? "off"
                                                            : "";
        const char *between = *what == '\0' || source.problem.empty() ? "" : "; ";
        print_line("    {}: {}{}{}", source.file, what, between, source.problem);
    }
}

void print_warming(const std::string &why_off) {
    print_line(
        why_off.empty()
            ? "After an update of the driver: `cairn warm` runs by itself."
            : fmt::format("After an update of the driver: `cairn warm` does not run by itself: {}.",
                          why_off));
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
    print_sources(state.sources);
    print_warming(state.why_no_warming);
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
            state.egl.problem.empty() && state.glx.problem.empty() && state.mistakes.empty() &&
            std::ranges::all_of(state.sources, &std::string::empty, &Source::problem);
        return is_well ? kExitOk : kExitFailure;
    };
}

}  // namespace

const Command status_command = {"status", "Show whether the session uses Cairn, and why", kFooter,
                                define};

}  // namespace cairn::cli
