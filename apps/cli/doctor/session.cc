// SPDX-License-Identifier: MIT
// Whether the user's sessions have Cairn, as far as `cairn enable` is to see to it.
#include "session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/words.h"
#include "doctor/checks.h"
#include "os/environment.h"
#include "output.h"
#include "warm_units.h"

namespace cairn::cli::doctor {
namespace {

constexpr const char *kEnable = "cairn enable, and log in again";

// What `cairn enable` would write now. Empty: it cannot be told.
SessionVariables variables_now(const Examined &examined) {
    try {
        return session_variables(examined.manifest.path, find_glx_library());
    } catch (const Failure &) {
        return {};
    }
}

// Whether the files have what `cairn enable` would write.
void check_stale(const Examined &examined, Findings &findings) {
    if (examined.manifest.path.empty()) return;
    const SessionVariables variables = variables_now(examined);
    if (variables.empty()) return;
    try {
        const SessionFiles files = session_files();
        const std::string own = read_user_file(files.environment).value_or("");
        const std::string shell = read_user_file(files.shell).value_or("");
        const bool differs = is_environment_text(own) && own != environment_text(variables);
        const bool block_differs =
            !block_in(shell).empty() && with_block(shell, variables) != shell;
        for (const auto &[is_other, file] :
             {std::pair(differs, files.environment), std::pair(block_differs, files.shell)}) {
            if (!is_other) continue;
            findings.add(Id::session_stale,
                         fmt::format("{} is not what `cairn enable` would write now", file),
                         kEnable);
        }
        const bool is_wayland = environment_variable("XDG_SESSION_TYPE").value_or("") == "wayland";
        if (is_wayland && !is_environment_text(own) && !block_in(shell).empty()) {
            findings.add(Id::not_read,
                         fmt::format("this session is of Wayland, and only {} has Cairn's lines",
                                     files.shell),
                         kEnable);
        }
    } catch (const Failure &) {
        return;  // find_sources() has said it
    }
}

void check_interface(const char *name, const Interface &found, bool is_next, Findings &findings) {
    if (!found.problem.empty()) {
        findings.add(Id::cannot_load,
                     fmt::format("{}: {}, and {} cannot be loaded: {}", name, found.by,
                                 found.library, found.problem),
                     name == std::string("GLX") ? "sudo ldconfig, then `cairn enable`, and log in "
                                                  "again"
                                                : kEnable);
    } else if (found.by.empty() && is_next) {
        findings.add(Id::log_in_again,
                     fmt::format("the next session will have Cairn for {}, this one has not", name),
                     "log out, and in again");
    }
}

void check_sources(const Examined &examined, Findings &findings) {
    bool has_egl = false, has_glx = false;
    for (const Source &source : examined.sources) {
        has_egl = has_egl || source.has_egl;
        has_glx = has_glx || source.has_glx;
        if (source.problem.empty()) continue;
        findings.add(Id::session_broken, fmt::format("{}: {}", source.file, source.problem),
                     source.is_known ? "cairn enable" : "make it readable, or run `cairn` as you");
    }
    check_interface("EGL", examined.egl, has_egl, findings);
    check_interface("GLX", examined.glx, has_glx, findings);
    const bool is_off = examined.sources.empty() && examined.egl.by.empty();
    if (is_off) findings.add(Id::session_off, "sessions do not use Cairn", "cairn enable");
    if (has_egl && !has_glx && !examined.glx_library.empty()) {
        findings.add(Id::session_no_glx,
                     fmt::format("the next session will have Cairn for EGL, and not for GLX: the "
                                 "loader does not find {}",
                                 kGlxLibrary),
                     "sudo ldconfig, then `cairn enable`, and log in again");
    }
}

void check_units(const Examined &examined, Findings &findings) {
    if (!examined.machine.has("/run/systemd/system")) return;
    if (examined.is_enabled()) {
        const WarmUnits units(home_directory().value_or(""), examined.machine.executable);
        if (const std::string why = units.why_off(); !why.empty()) {
            findings.add(Id::warm_off, fmt::format("`cairn warm` does not run by itself: {}", why),
                         "cairn enable");
        }
    }
    if (environment_variable("XDG_RUNTIME_DIR").value_or("").empty()) return;
    const std::string failed = examined.machine.ask(
        {"systemctl", "--user", "list-units", "--failed", "--plain", "--no-legend", "cairn*"});
    for (const std::string &line : split(failed, '\n')) {
        const std::string unit = line.substr(0, line.find(' '));
        if (!unit.starts_with("cairn")) continue;
        findings.add(
            Id::unit_failed, fmt::format("{} has failed", unit),
            fmt::format("journalctl --user -u {0} says why; systemctl --user restart {0}", unit));
    }
}

// Whether some application is to be shared.
bool shares(const Configuration &configuration) {
    const Words names = configuration.applications();
    return configuration.share("").value_or(false) ||
           std::ranges::any_of(names, [&](const std::string &name) {
               return configuration.share(name).value_or(false);
           });
}

void check_agent(const Examined &examined, Findings &findings) {
    const auto socket = default_agent_socket();
    if (!shares(examined.configuration) || (socket && ::access(socket->c_str(), W_OK) == 0)) return;
    findings.add(Id::agent_off, "the configuration has `share = 1`, and no agent listens",
                 "systemctl --user enable --now cairn-agent.socket");
}

void check_folders(Findings &findings) {
    for (const char *variable : {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}) {
        const std::string folder = environment_variable(variable).value_or("");
        if (folder.empty() || folder.starts_with('/')) continue;
        findings.add(Id::relative_folder, fmt::format("{} is `{}`", variable, folder),
                     fmt::format("set {} to an absolute path, or unset it", variable));
    }
    const std::string runtime = environment_variable("XDG_RUNTIME_DIR").value_or("");
    struct stat status = {};
    if (!runtime.starts_with('/')) return;
    const bool is_folder = ::stat(runtime.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder && status.st_uid == ::geteuid()) return;
    findings.add(Id::runtime_folder,
                 fmt::format("XDG_RUNTIME_DIR is {}, which is {}", runtime,
                             is_folder ? "another user's" : "no folder"),
                 "log in as this user, rather than by su or sudo");
}

}  // namespace

void check_session(const Examined &examined, Findings &findings) {
    const std::string caller = environment_variable("SUDO_UID").value_or("");
    if (::geteuid() == 0 && !caller.empty() && caller != "0") {
        findings.add(Id::under_sudo, "sudo has made you root", "cairn doctor, without sudo");
    }
    check_sources(examined, findings);
    check_stale(examined, findings);
    check_units(examined, findings);
    check_agent(examined, findings);
    check_folders(findings);
}

}  // namespace cairn::cli::doctor
