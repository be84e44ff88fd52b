// SPDX-License-Identifier: MIT
// Whether variables of Cairn's in the environment mean what their user thinks.
#include "os/environment.h"

#include <cairn/cairn_broker.h>
#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "common/words.h"
#include "doctor/checks.h"
#include "os/socket.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLimitLeast = 4u << 20;  // docs/cli.md

// All that some part of Cairn reads. Those with `is_switch` are 1 or 0: any other text but the empty one
// counts as 1.
struct Variable {
    const char *name;
    bool is_switch;
};
constexpr Variable kVariables[] = {{"CAIRN_AGENT_SPEED", false},
                                   {"CAIRN_BROKER", false},
                                   {"CAIRN_BROKER_FD", false},
                                   {"CAIRN_CONVERT", false},
                                   {"CAIRN_DEVELOPER_MODE", false},
                                   {"CAIRN_DIR", false},
                                   {"CAIRN_DISABLE", true},
                                   {"CAIRN_DRIVER_CACHE", false},
                                   {"CAIRN_EGL_BROKER", true},
                                   {"CAIRN_EGL_LEASE", false},
                                   {"CAIRN_EGL_MANIFEST", false},
                                   {"CAIRN_EGL_PERSIST", true},
                                   {"CAIRN_EGL_VENDORS", false},
                                   {"CAIRN_GLX_VENDOR", false},
                                   {"CAIRN_KEEP_SOURCES", true},
                                   {"CAIRN_LIMIT", false},
                                   {"CAIRN_LOG", true},
                                   {"CAIRN_PACKS", false},
                                   {"CAIRN_RECORD", false},
                                   {"CAIRN_REPORT", false},
                                   {"CAIRN_TRACE", false},
                                   {"CAIRN_WARM", false},
                                   {"CAIRN_WARM_BATCH_MS", false},
                                   {"CAIRN_WARM_EXECUTABLE", false},
                                   {"CAIRN_WARM_INVOCATION", false},
                                   {"CAIRN_WARM_PLAYER", false},
                                   {"CAIRN_WARM_PROGRAM", false},
                                   {"CAIRN_WARM_TIMEOUT_MS", false}};

bool is_on(const char *name) {
    const std::string value = environment_variable(name).value_or("");
    return !value.empty() && value != "0";
}

void check_names(Findings &findings) {
    Words known;
    for (const Variable &variable : kVariables) known.emplace_back(variable.name);
    for (const std::string_view each : environment_variables()) {
        const std::string name(each.substr(0, each.find('=')));
        // What tests and builds of Cairn's own use.
        const bool is_tests = name.starts_with("CAIRN_TEST_");
        if (!name.starts_with("CAIRN_") || is_tests || std::ranges::count(known, name) != 0) {
            continue;
        }
        findings.add(Id::unknown_variable,
                     fmt::format("no part of Cairn knows {}{}", name, did_you_mean(name, known)),
                     fmt::format("unset {}", name));
    }
}

void check_values(Findings &findings) {
    for (const Variable &variable : kVariables) {
        const std::string value = environment_variable(variable.name).value_or("");
        if (!variable.is_switch || value.empty() || value == "0" || value == "1") continue;
        findings.add(Id::odd_value,
                     fmt::format("{} is `{}`, which counts as 1", variable.name, value),
                     fmt::format("set {} to 1 or 0", variable.name));
    }
    const std::string limit = environment_variable("CAIRN_LIMIT").value_or("");
    const auto bytes = size_from_text(limit);
    if (!limit.empty() && !bytes) {
        findings.add(Id::odd_value, fmt::format("CAIRN_LIMIT is `{}`, which is no size", limit),
                     "set CAIRN_LIMIT to a size such as 4G");
    } else if (!limit.empty() && *bytes < kLimitLeast) {
        findings.add(Id::odd_value,
                     fmt::format("CAIRN_LIMIT is `{}`, and counts as {}, the least", limit,
                                 format_bytes(kLimitLeast)),
                     "set CAIRN_LIMIT to a size such as 4G");
    }
    Words lines;
    const auto keep = [](void *user, int, const char *line) {
        static_cast<Words *>(user)->emplace_back(line);
    };
    (void)is_developer_mode(Log(keep, &lines));
    for (const std::string &line : lines) {
        if (!line.starts_with("CAIRN_")) continue;  // of the configuration, which has its own group
        findings.add(Id::odd_value, line, "set CAIRN_DEVELOPER_MODE to 1 or 0");
    }
}

void check_packs(Findings &findings) {
    const auto list = environment_variable("CAIRN_PACKS");
    if (!list) return;
    for (const std::string &folder : split(*list, ':')) {
        std::error_code error;
        const bool is_absolute = folder.starts_with('/');
        if (is_absolute && fs::is_directory(folder, error)) continue;
        findings.add(Id::packs_missing,
                     fmt::format("CAIRN_PACKS names `{}`, which is {}", folder,
                                 is_absolute ? "no folder" : "no absolute path"),
                     "set CAIRN_PACKS to folders that are there, or unset it");
    }
}

void check_descriptor(Findings &findings) {
    const std::string text = environment_variable(CAIRN_BROKER_FD_ENV).value_or("");
    if (text.empty()) return;
    int number = -1;
    const char *const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    const bool is_number = read.ec == std::errc() && read.ptr == end && number >= 0;
    if (is_number && ::fcntl(number, F_GETFD) >= 0) return;
    findings.add(Id::no_broker,
                 fmt::format("{} is `{}`, which is no open descriptor", CAIRN_BROKER_FD_ENV, text),
                 fmt::format("unset {}, where no launcher sets it", CAIRN_BROKER_FD_ENV));
}

void check_broker(Findings &findings) {
    check_descriptor(findings);
    const std::string named = environment_variable("CAIRN_BROKER").value_or("");
    if (named.empty() && !is_on("CAIRN_EGL_BROKER")) return;
    const std::string socket = default_broker_socket().value_or("");
    if (!socket.empty() && Socket::connect(socket).ok()) return;
    findings.add(Id::no_broker,
                 socket.empty() ? "CAIRN_EGL_BROKER is set, and there is no XDG_RUNTIME_DIR in "
                                  "which a broker would listen"
                                : fmt::format("no broker listens at {}", socket),
                 "systemctl --user enable --now cairnd.socket, or start `cairnd`");
}

}  // namespace

void check_environment(const Examined &examined, Findings &findings) {
    check_names(findings);
    check_values(findings);
    if (is_on("CAIRN_DISABLE")) {
        findings.add(Id::disabled, "CAIRN_DISABLE is set", "unset CAIRN_DISABLE");
    }
    if (environment_variable("CAIRN_EGL_PERSIST").value_or("") == "0") {
        findings.add(Id::memory_only, "CAIRN_EGL_PERSIST is 0", "unset CAIRN_EGL_PERSIST");
    }
    const std::string root = environment_variable("CAIRN_DIR").value_or("");
    if (!root.empty() && !root.starts_with('/')) {
        findings.add(Id::relative_root,
                     examined.root_problem.empty()
                         ? fmt::format("CAIRN_DIR is `{}`, which is no absolute path", root)
                         : examined.root_problem,
                     "set CAIRN_DIR to an absolute path, or unset it");
    }
    check_packs(findings);
    check_broker(findings);
}

}  // namespace cairn::cli::doctor
