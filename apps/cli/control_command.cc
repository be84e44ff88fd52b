// SPDX-License-Identifier: MIT
// `cairn control`: switches kinds of caches off and on, and empties them, for all processes.
#include <cairn/cairn_control.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "caches.h"
#include "command.h"
#include "output.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(KIND is cache-for-driver (programs of GL applications, drivers' blobs), conversions (of `cairn convert`),
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
    {"cache-for-driver", CAIRN_KIND_CACHE_FOR_DRIVER, "GL programs and drivers' blobs, gl-..."},
    {"conversions", CAIRN_KIND_CONVERSIONS, "converted shaders, `conversions`"},
    {"driver-managed", CAIRN_KIND_DRIVER_MANAGED, "what Mesa and NVIDIA keep by themselves"},
    {"application-managed", CAIRN_KIND_APPLICATION_MANAGED, "D3D12 sessions, d3d12-..."},
    {"all", CAIRN_KIND_ALL, ""},
}};

struct Options {
    Words kinds;
    bool disable = false;
    bool enable = false;
    bool clear = false;
};

uint32_t kinds_of(const Words &names) {
    uint32_t kinds = 0;
    for (const std::string &name : names) {
        const auto *found = std::find_if(kKinds.begin(), kKinds.end(),
                                         [&](const KindName &kind) { return kind.name == name; });
        if (found == kKinds.end()) {
            throw Failure(kExitUsage,
                          "there is no kind `{}`; the kinds are cache-for-driver, "
                          "conversions, driver-managed, application-managed and all",
                          name);
        }
        kinds |= found->kinds;
    }
    return kinds;
}

template <typename Print>
void for_each_kind(uint32_t kinds, Print print) {
    for (const KindName &kind : kKinds) {
        if (kind.kinds != CAIRN_KIND_ALL && (kind.kinds & kinds) != 0) print(kind);
    }
}

void show(const std::string &root, uint32_t kinds) {
    CacheLog log;
    const ControlHandle control = open_control(root, CAIRN_CONTROL_OPEN_READ_ONLY, log);
    const uint32_t disabled = cairn_control_disabled(control.get());
    for_each_kind(kinds, [&](const KindName &kind) {
        const char *state = (disabled & kind.kinds) != 0 ? "disabled" : "enabled";
        print_line("{:<20}  {:<8}  {}", kind.name, state, kind.about);
    });
    if (cairn_control_developer_mode(control.get()) == 0) {
        print_line("Developer mode is off: nothing can be changed (`cairn control --help`).");
    }
}

// Returns the kinds that were so already.
uint32_t apply(cairn_control *control, uint32_t kinds, uint32_t flags, CacheLog &log) {
    log.first_line.clear();  // what was said when it was opened is not the reason
    uint32_t unchanged = 0;
    const int result = cairn_control_apply(control, kinds, flags, &unchanged);
    if (result != CAIRN_OK) {
        throw Failure(kExitFailure, log.first_line.empty()
                                        ? fmt::format("cannot control the caches: {}",
                                                      cairn_result_string(result))
                                        : log.first_line);
    }
    return unchanged;
}

void change(const std::string &root, uint32_t kinds, const Options &options) {
    CacheLog log;
    const ControlHandle control = open_control(root, 0, log);
    const uint32_t flags = (options.disable ? uint32_t{CAIRN_CONTROL_DISABLE} : 0) |
                           (options.enable ? uint32_t{CAIRN_CONTROL_ENABLE} : 0) |
                           (options.clear ? uint32_t{CAIRN_CONTROL_CLEAR} : 0);
    const uint32_t unchanged = apply(control.get(), kinds, flags, log);
    for_each_kind(kinds, [&](const KindName &kind) {
        const bool was_so = (unchanged & kind.kinds) != 0;
        std::string done = options.disable  ? was_so ? "disabled already" : "disabled"
                           : options.enable ? was_so ? "enabled already" : "enabled"
                                            : "";
        if (options.clear) done += done.empty() ? "cleared" : ", cleared";
        print_line("{}: {}", kind.name, done);
    });
    if (!log.first_line.empty()) complain(log.first_line);
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
    const std::string root = usable_root();
    if (acts) {
        change(root, kinds, options);
    } else {
        show(root, kinds == 0 ? CAIRN_KIND_ALL : kinds);
    }
    return kExitOk;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.values("--kind", options->kinds, "The kind; may be given more than once", "KIND");
    take.flag("--disable", options->disable, "Neither look up nor store any more");
    take.flag("--enable", options->enable, "Use them again");
    take.flag("--clear", options->clear, "Delete what they hold");
    take.dir();
    return [options] { return control(*options); };
}

}  // namespace

const Command control_command = {"control", "Switch kinds of caches off and on, and empty them",
                                 kFooter, define};

}  // namespace cairn::cli
