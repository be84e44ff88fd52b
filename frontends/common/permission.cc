// SPDX-License-Identifier: MIT
#include "common/permission.h"

#include <cairn/cairn_broker.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/application.h"
#include "common/crash_guard.h"
#include "common/run_report.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr const char *kXServer = "it is the X server: all windows go with it";
constexpr const char *kCompositor = "it is the session's compositor: all windows go with it";
constexpr const char *kGreeter = "nobody can log in without it";
constexpr const char *kLocker = "it guards the locked screen";

// By the names of their executables. A crash of one of these costs more than an application's, and
// none of them compiles so much that its start would be noticed. Panels and desktop shells that are
// clients, such as plasmashell, are not among them: the session starts them again.
constexpr std::array kDenied = std::to_array<DeniedByDefault>({
    {"Xorg", kXServer},
    {"Xwayland", kXServer},
    {"Xephyr", kXServer},
    {"gnome-shell", kCompositor},
    {"mutter", kCompositor},
    {"kwin_wayland", kCompositor},
    {"kwin_x11", kCompositor},
    {"cinnamon", kCompositor},
    {"muffin", kCompositor},
    {"cosmic-comp", kCompositor},
    {"sway", kCompositor},
    {"wayfire", kCompositor},
    {"Hyprland", kCompositor},
    {"niri", kCompositor},
    {"river", kCompositor},
    {"labwc", kCompositor},
    {"cage", kCompositor},
    {"phoc", kCompositor},
    {"weston", kCompositor},
    {"gamescope", kCompositor},
    {"enlightenment", kCompositor},
    {"compiz", kCompositor},
    {"picom", kCompositor},
    {"compton", kCompositor},
    {"xfwm4", kCompositor},
    {"sddm-greeter", kGreeter},
    {"sddm-greeter-qt6", kGreeter},
    {"lightdm-gtk-greeter", kGreeter},
    {"slick-greeter", kGreeter},
    {"gtkgreet", kGreeter},
    {"kscreenlocker_greet", kLocker},
    {"hyprlock", kLocker},
});

const DeniedByDefault *default_denial(std::string_view application) {
    const auto *found = std::ranges::find_if(
        kDenied, [&](const auto &each) { return each.application == application; });
    return found == kDenied.end() ? nullptr : found;
}

// nullopt: not set, or empty.
std::optional<bool> switch_of_environment(const char *name) {
    const auto value = environment_variable(name);
    if (!value || value->empty()) return std::nullopt;
    return *value != "0";
}

Circumstances own_circumstances() {
    Circumstances own;
    own.application = application_name();
    own.has_other_rights = getauxval(AT_SECURE) != 0;
    own.is_disabled = switch_of_environment("CAIRN_DISABLE").value_or(false);
    own.is_recording = !environment_variable(kRecordVariable).value_or("").empty();
    own.is_cairn_run = !environment_variable(kRunReportVariable).value_or("").empty();
    return own;
}

Permission ask() {
    const Configuration configuration = Configuration::read(Log());
    const std::string &application = application_name();
    Circumstances own = own_circumstances();
    Permission permission = permission_for(own, configuration);
    // Only a process that would be served is watched, and none that is to keep off the disk. What a
    // player dies of is no crash of its application.
    const bool keeps_off_disk = !switch_of_environment("CAIRN_EGL_PERSIST").value_or(true) ||
                                switch_of_environment("CAIRN_EGL_BROKER").value_or(false) ||
                                environment_variable(CAIRN_BROKER_FD_ENV).has_value();
    const bool is_watched = permission.is_served && !keeps_off_disk && !is_player();
    const auto root = is_watched ? default_root() : std::nullopt;
    if (root) {
        const CrashRecord record = join_crash_guard(*root, application);
        own.is_off_after_crashes = record.off_since_ns != 0;
        permission = permission_for(own, configuration);
    }
    const bool is_remembered = configuration.record(application).value_or(true);
    if (root && permission.is_served && is_remembered) permission.history_root = *root;
    permission.logs = switch_of_environment("CAIRN_LOG").value_or(permission.logs);
    return permission;
}

}  // namespace

Permission permission_for(const Circumstances &own, const Configuration &configuration) {
    const std::string name(own.application);
    Permission permission;
    permission.logs = configuration.log(name).value_or(false);
    // What is shared is warm elsewhere only with the machine code.
    permission.has_own_driver_cache =
        configuration.driver_cache(name).value_or(configuration.share(name).value_or(false));
    // What starts use is not to be known: then not what it is made of, either.
    permission.records_recipes = configuration.record(name).value_or(true) &&
                                 (own.is_recording || configuration.recipes(name).value_or(false));
    const auto deny = [&](std::string reason) {
        permission.is_served = false;
        permission.reason = std::move(reason);
        return permission;
    };
    if (own.has_other_rights) return deny("it runs with another user's rights");
    if (own.is_disabled) return deny("CAIRN_DISABLE is set");
    const std::optional<bool> own_line = configuration.enabled(name);
    if (own_line == std::optional(false)) {
        return deny("the configuration says `enabled = 0` for " + name);
    }
    if (!own_line && configuration.enabled() == std::optional(false)) {
        return deny("the configuration says `enabled = 0` for all");
    }
    if (own.is_off_after_crashes) {
        return deny("it died twice within a minute inside Cairn's front end; `cairn enable " +
                    name + "` switches it on again");
    }
    const DeniedByDefault *denial = default_denial(name);
    if (denial != nullptr && !own_line && !own.is_cairn_run) return deny(denial->reason);
    return permission;
}

const Permission &own_permission() {
    static const auto *permission = new Permission(ask());
    return *permission;
}

bool own_lookups_are_remembered(const std::string &application) {
    const Configuration configuration = Configuration::read(Log());
    Circumstances own = own_circumstances();
    for (const std::string &name : {application_name(), application}) {
        own.application = name;
        if (!permission_for(own, configuration).is_served) return false;
        if (!configuration.record(name).value_or(true)) return false;
    }
    return true;
}

std::span<const DeniedByDefault> denied_by_default() {
    return kDenied;
}

}  // namespace cairn
