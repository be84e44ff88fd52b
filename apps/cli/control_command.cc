// SPDX-License-Identifier: MIT
// `cairn control`: switches kinds of caches off and on, and empties them, for all processes.
#include <cairn/cairn_control.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "caches.h"
#include "command_line.h"
#include "control.h"
#include "failure.h"
#include "output.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(KIND is cache-for-driver (programs of EGL applications, drivers' blobs), conversions (of `cairn convert`),
driver-managed (what Mesa and NVIDIA keep by themselves), application-managed (D3D12 sessions), or all.

Without an action: the state of each kind. Actions are for developer mode: set CAIRN_DEVELOPER_MODE=1, or write
`developer_mode = 1` to ~/.config/cairn/config. What is disabled stays so until it is enabled.

Applications that are running obey at once. But drivers look at their own settings when they start: driver-managed
caches are off in applications that `cairn run` starts from then on.

Examples:
  cairn control
  cairn control --kind cache-for-driver --disable --clear
  cairn control --kind all --enable

Exit codes: 0 done, 1 not in developer mode, or it could not be done, 2 wrong usage.)";

struct KindName {
    const char *name;
    uint32_t kinds;
    const char *about;
};
constexpr std::array<KindName, 5> kKinds = {{
    {"cache-for-driver", CAIRN_KIND_CACHE_FOR_DRIVER, "EGL programs and drivers' blobs, egl-..."},
    {"conversions", CAIRN_KIND_CONVERSIONS, "converted shaders, `conversions`"},
    {"driver-managed", CAIRN_KIND_DRIVER_MANAGED, "what Mesa and NVIDIA keep by themselves"},
    {"application-managed", CAIRN_KIND_APPLICATION_MANAGED, "D3D12 sessions, d3d12-..."},
    {"all", CAIRN_KIND_ALL, ""},
}};

struct Options {
    std::string dir;
    std::vector<std::string> kinds;
    bool disable = false;
    bool enable = false;
    bool clear = false;
};

uint32_t kinds_of(const std::vector<std::string> &names) {
    uint32_t kinds = 0;
    for (const std::string &name : names) {
        const auto *found = std::find_if(kKinds.begin(), kKinds.end(),
                                         [&](const KindName &kind) { return kind.name == name; });
        if (found == kKinds.end()) {
            throw Failure(kExitUsage,
                          fmt::format("there is no kind `{}`; the kinds are cache-for-driver, "
                                      "conversions, driver-managed, application-managed and all",
                                      name));
        }
        kinds |= found->kinds;
    }
    return kinds;
}

template <typename Print>
void for_each_kind(uint32_t kinds, Print print) {
    for (const KindName &kind : kKinds) {
        if (kind.kinds != CAIRN_KIND_ALL && (kind.kinds & kinds) != 0) {
            print(kind);
        }
    }
}

void show(const std::string &root, uint32_t kinds) {
    const Control control(root, Control::Use::look);
    const uint32_t disabled = control.disabled();
    for_each_kind(kinds, [&](const KindName &kind) {
        const char *state = (disabled & kind.kinds) != 0 ? "disabled" : "enabled";
        print_line(fmt::format("{:<20}  {:<8}  {}", kind.name, state, kind.about));
    });
    if (!control.is_developer_mode()) {
        print_line("Developer mode is off: nothing can be changed (`cairn control --help`).");
    }
}

void change(const std::string &root, uint32_t kinds, const Options &options) {
    Control control(root, Control::Use::change);
    const uint32_t flags = (options.disable ? uint32_t{CAIRN_CONTROL_DISABLE} : 0) |
                           (options.enable ? uint32_t{CAIRN_CONTROL_ENABLE} : 0) |
                           (options.clear ? uint32_t{CAIRN_CONTROL_CLEAR} : 0);
    const uint32_t unchanged = control.apply(kinds, flags);
    for_each_kind(kinds, [&](const KindName &kind) {
        const bool was_so = (unchanged & kind.kinds) != 0;
        std::string done = options.disable  ? was_so ? "disabled already" : "disabled"
                           : options.enable ? was_so ? "enabled already" : "enabled"
                                            : "";
        if (options.clear) {
            done += done.empty() ? "cleared" : ", cleared";
        }
        print_line(fmt::format("{}: {}", kind.name, done));
    });
    if (!control.warning().empty()) {
        complain(control.warning());
    }
    if (options.disable && (kinds & CAIRN_KIND_DRIVER_MANAGED) != 0) {
        print_line(
            "Applications that `cairn run` starts from now on have no driver's own cache; those "
            "that run already, and others, keep it.");
    }
}

int control(const Options &options) {
    const uint32_t kinds = kinds_of(options.kinds);
    const bool acts = options.disable || options.enable || options.clear;
    if (options.disable && options.enable) {
        throw Failure(kExitUsage, "--disable and --enable contradict each other; use one of them");
    }
    if (acts && kinds == 0) {
        throw Failure(kExitUsage, "say which kind with --kind (`cairn control` lists them)");
    }
    const std::string root = resolve_root(options.dir);
    require_usable_root(root);
    if (acts) {
        change(root, kinds, options);
    } else {
        show(root, kinds == 0 ? CAIRN_KIND_ALL : kinds);
    }
    return kExitOk;
}

}  // namespace

void add_control_command(CLI::App &app, int &exit_code) {
    CLI::App *command =
        app.add_subcommand("control", "Switch kinds of caches off and on, and empty them");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    command->add_option("--kind", options->kinds, "The kind; may be given more than once")
        ->type_name("KIND")
        ->allow_extra_args(false);
    command->add_flag("--disable", options->disable, "Neither look up nor store any more");
    command->add_flag("--enable", options->enable, "Use them again");
    command->add_flag("--clear", options->clear, "Delete what they hold");
    add_dir_option(*command, options->dir);
    command->callback([options, &exit_code] { exit_code = control(*options); });
}

}  // namespace cairn::cli
