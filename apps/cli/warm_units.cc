// SPDX-License-Identifier: MIT
#include "warm_units.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "os/environment.h"
#include "output.h"
#include "session.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// Below the user's folder, each link, and below the installed one, the unit that it leads to. The first
// three have systemd find units that were installed where it does not look.
struct Link {
    const char *name;
    const char *unit;
};
constexpr const char *kService = "cairn-warm.service";
constexpr const char *kPath = "cairn-warm.path";
constexpr const char *kTimer = "cairn-warm.timer";
constexpr std::array kLinks = {Link{kService, kService}, Link{kPath, kPath}, Link{kTimer, kTimer},
                               Link{"paths.target.wants/cairn-warm.path", kPath},
                               Link{"timers.target.wants/cairn-warm.timer", kTimer}};

// As sd_booted() finds it out.
bool is_systemd_running() {
    std::error_code error;
    return fs::is_directory("/run/systemd/system", error);
}

// Where a link leads; empty: there is none.
fs::path target_of(const fs::path &link) {
    std::error_code error;
    return fs::read_symlink(link, error);
}

bool is_there(const fs::path &path) {
    std::error_code error;
    return fs::exists(fs::symlink_status(path, error));
}

bool is_ours(const fs::path &link, const Link &known) {
    return target_of(link).filename() == known.unit;
}

// The user's manager reads the links when it starts, which it may have done before a log-in. Where
// there is none, or it does not answer, the next one reads them.
void tell_manager() {
    const std::string runtime = environment_variable("XDG_RUNTIME_DIR").value_or("");
    if (runtime.empty() || !is_there(runtime + "/systemd/private")) return;
    constexpr const char *kReload =
        "timeout 5 systemctl --user daemon-reload </dev/null >/dev/null 2>&1";
    FILE *running = ::popen(kReload, "re");
    if (running != nullptr) ::pclose(running);
}

}  // namespace

WarmUnits::WarmUnits(const std::string &home, const std::string &executable)
    : folder_(home + "/.config/systemd/user"),
      installed_(fs::path(executable).parent_path().parent_path() / "lib/systemd/user") {}

std::string WarmUnits::obstacle() const {
    if (!is_systemd_running()) return "systemd does not run here";
    for (const auto &[name, unit] : kLinks) {
        if (!is_there(fs::path(installed_) / unit)) {
            return fmt::format("{} is not installed in {}", unit, installed_);
        }
        const fs::path link = fs::path(folder_) / name;
        if (is_there(link) && !is_ours(link, {name, unit})) {
            return fmt::format("{} is not Cairn's", link.string());
        }
    }
    return "";
}

std::string WarmUnits::why_off() const {
    std::string found = obstacle();
    if (!found.empty()) return found;
    for (const auto &[name, unit] : kLinks) {
        const fs::path link = fs::path(folder_) / name;
        if (!is_there(link)) return "not enabled";
        std::error_code error;
        if (!fs::exists(link, error)) {
            return fmt::format("{} leads to a file that is gone", link.string());
        }
    }
    return "";
}

bool WarmUnits::enable() const {
    bool is_changed = false;
    for (const auto &[name, unit] : kLinks) {
        const fs::path link = fs::path(folder_) / name;
        const fs::path target = fs::path(installed_) / unit;
        if (target_of(link) == target) continue;
        make_folder(link.parent_path());
        std::error_code error;
        fs::remove(link, error);
        if (!error) fs::create_symlink(target, link, error);
        if (error) {
            throw Failure(kExitFailure,
                          "cannot make the link {}: {}; make its folder one that you may write, "
                          "and try again",
                          link.string(), error.message());
        }
        is_changed = true;
    }
    if (is_changed) tell_manager();
    return is_changed;
}

bool WarmUnits::disable() const {
    bool is_changed = false;
    for (const auto &known : kLinks) {
        const fs::path link = fs::path(folder_) / known.name;
        if (!is_ours(link, known)) continue;
        std::error_code error;
        fs::remove(link, error);
        if (error)
            throw Failure(kExitFailure, "cannot remove {}: {}", link.string(), error.message());
        is_changed = true;
    }
    if (is_changed) tell_manager();
    return is_changed;
}

}  // namespace cairn::cli
