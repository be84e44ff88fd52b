// SPDX-License-Identifier: MIT
// What the driver offers, and whether Cairn's front ends come before it.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "common/words.h"
#include "doctor/checks.h"
#include "doctor/driver_trial.h"
#include "os/environment.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

// As frontends/gl knows them.
constexpr const char *kSoftware[] = {"llvmpipe", "softpipe", "swrast", "lavapipe", "SwiftShader"};

std::string value_of(const char *variable) {
    return environment_variable(variable).value_or("");
}

bool is_mesa_off() {
    const std::string value = value_of("MESA_SHADER_CACHE_DISABLE");
    return value == "1" || value == "true" || value == "yes";
}

// Opening a display of X11 or Wayland takes a server's answer.
bool waits_for_server(const std::string &stage) {
    return stage.starts_with("opening ") &&
           (stage.find(" X") != std::string::npos || stage.find(" Wayland") != std::string::npos);
}
constexpr const char *kMendServer =
    "see whether the server answers that DISPLAY or WAYLAND_DISPLAY names, or unset that variable";

// Whether the driver came to its end by itself; else what became of it is found.
bool has_ended_well(const DriverAnswer &answer, const char *who, Id ends, const char *mend_end,
                    Findings &findings) {
    if (answer.is_done()) return true;
    const std::string where = answer.word("stage");
    if (answer.ended.start_error != 0) {
        findings.add(Id::not_asked,
                     fmt::format("no process can be started to ask it: {}",
                                 error_text(answer.ended.start_error)),
                     "end other programs, or raise the limit: ulimit -u");
        return false;
    }
    if (answer.ended.is_late) {
        findings.add(ends == Id::driver_ends ? Id::driver_hangs : ends,
                     fmt::format("{} does not come back from {}", who, where),
                     waits_for_server(where) ? kMendServer : mend_end);
    } else if (answer.ended.signal != 0) {
        findings.add(ends,
                     fmt::format("{} ends its process by signal {} ({}), when {}", who,
                                 answer.ended.signal, ::strsignal(answer.ended.signal), where),
                     mend_end);
    } else {
        findings.add(ends,
                     fmt::format("{} ends its process, when {}", who,
                                 where.empty() ? "it is started" : where),
                     mend_end);
    }
    return false;
}

// Mesa replaces sources; the front end is led to other drivers.
constexpr const char *kInTheWay[] = {"MESA_SHADER_READ_PATH", "CAIRN_EGL_VENDORS"};
constexpr const char *kMendDriver =
    "install the driver's packages again, or another version of them";
constexpr const char *kMendFrontEnd =
    "cairn disable, until this is mended; and please report it, with what `cairn doctor` prints";

void describe(const char *what, const DriverAnswer &answer, Findings &findings) {
    findings.add(
        Id::driver_offers,
        fmt::format("{}: {}, {}, of {} ({}); {}", what, answer.word("renderer"),
                    answer.word("version"), answer.word("vendor"), answer.word("platform"),
                    format_count(std::strtoul(answer.word("formats").c_str(), nullptr, 10),
                                 "format of program binaries", "formats of program binaries")));
}

void judge_binaries(const DriverAnswer &answer, Findings &findings) {
    if (answer.word("formats") != "0" || findings.has(Id::no_binaries)) return;
    findings.add(
        Id::no_binaries,
        is_mesa_off() ? "MESA_SHADER_CACHE_DISABLE is set, and Mesa then gives no program "
                        "binaries"
                      : fmt::format("{} gives no program binaries", answer.word("renderer")),
        is_mesa_off() ? "unset MESA_SHADER_CACHE_DISABLE" : "use a newer driver, if there is one");
}

// Whether programs are kept, with the front end before the driver.
void judge_front_end(const DriverTrial &trial, const char *api, const char *library,
                     Findings &findings) {
    if (!trial.problem.empty()) {
        findings.add(Id::not_asked, trial.problem, "set TMPDIR to a folder that you may write");
    }
    if (!trial.was_tried || trial.alone.word("formats") == "0") return;
    const std::string who = fmt::format("the driver behind Cairn's front end for {}", api);
    if (!has_ended_well(trial.first, who.c_str(), Id::front_end_ends, kMendFrontEnd, findings)) {
        return;
    }
    if (trial.first.word("front").find(library) == std::string::npos) {
        findings.add(Id::not_in_front,
                     fmt::format("GLVND does not load Cairn's front end for {}, although it is "
                                 "named",
                                 api),
                     "see the findings on the installation and on GLVND");
        return;
    }
    if (!has_ended_well(trial.second, who.c_str(), Id::front_end_ends, kMendFrontEnd, findings)) {
        return;
    }
    if (trial.hits == 0) {
        std::string what = fmt::format(
            "a program that was linked through {} is not found by the next process", api);
        const auto suspect = std::ranges::find_if_not(
            kInTheWay, [](const char *variable) { return value_of(variable).empty(); });
        if (suspect == std::end(kInTheWay)) {
            findings.add(Id::not_kept, std::move(what),
                         "CAIRN_LOG=1 cairn run -- APP says why; please report it");
        } else {
            what.append("; ").append(*suspect).append(" is set");
            findings.add(Id::not_kept, std::move(what), fmt::format("unset {}", *suspect));
        }
        return;
    }
    findings.add(Id::driver_kept,
                 fmt::format("a program that one process linked through {} came from the cache in "
                             "the next",
                             api));
}

}  // namespace

void judge_egl(const DriverTrial &trial, Findings &findings) {
    const DriverAnswer &alone = trial.alone;
    if (!has_ended_well(alone, "the driver for EGL", Id::driver_ends, kMendDriver, findings))
        return;
    if (!alone.has_context()) {
        findings.add(Id::no_context, fmt::format("EGL: {}", alone.word("problem")),
                     "see the findings on GLVND; sudo apt install libegl-mesa0 libgl1-mesa-dri");
        return;
    }
    describe("EGL", alone, findings);
    judge_binaries(alone, findings);
    for (const char *name : kSoftware) {
        if (alone.word("renderer").find(name) == std::string::npos) continue;
        findings.add(
            Id::software, fmt::format("the driver is {}", alone.word("renderer")),
            "if there is a GPU: see the findings on the sandbox, and LIBGL_ALWAYS_SOFTWARE");
        break;
    }
    judge_front_end(trial, "EGL", "libEGL_cairn.so", findings);
}

void judge_glx(const DriverTrial &trial, Findings &findings) {
    const DriverAnswer &alone = trial.alone;
    if (!has_ended_well(alone, "the driver for GLX", Id::driver_ends, kMendDriver, findings))
        return;
    if (alone.said.contains("no-server")) {
        findings.add(
            Id::no_x_server,
            fmt::format("DISPLAY is `{}`, and no X server answers there", value_of("DISPLAY")),
            "set DISPLAY and XAUTHORITY as your session has them, or unset DISPLAY");
    } else if (!alone.has_context()) {
        findings.add(Id::no_glx_context, fmt::format("GLX: {}", alone.word("problem")),
                     "sudo apt install libglx-mesa0 libgl1-mesa-dri, or the X server's driver");
    } else {
        describe("GLX", alone, findings);
        judge_binaries(alone, findings);
        judge_front_end(trial, "GLX", "libGLX_cairn.so", findings);
    }
}

void check_own_caches(Findings &findings) {
    const auto note = [&](const char *variable, std::string what) {
        findings.add(Id::own_cache, std::move(what), fmt::format("unset {}", variable));
    };
    if (is_mesa_off()) {
        note("MESA_SHADER_CACHE_DISABLE", "MESA_SHADER_CACHE_DISABLE switches Mesa's cache off");
    }
    if (value_of("__GL_SHADER_DISK_CACHE") == "0") {
        note("__GL_SHADER_DISK_CACHE", "__GL_SHADER_DISK_CACHE switches NVIDIA's cache off");
    }
    for (const char *variable :
         {"MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH"}) {
        if (value_of(variable).empty()) continue;
        note(variable,
             fmt::format("the driver keeps its own in {} ({})", value_of(variable), variable));
    }
}

void check_driver(const Examined &examined, Findings &findings) {
    check_own_caches(findings);
    if (!examined.asks_driver) return;
    const DriverTrial egl = try_driver(examined, "egl");
    if (!egl.was_asked) {
        findings.add(Id::not_asked, "there is no folder for temporary files that can be written",
                     "set TMPDIR to a folder that you may write");
        return;
    }
    judge_egl(egl, findings);
    if (value_of("DISPLAY").empty()) return;
    const DriverTrial glx = try_driver(examined, "glx");
    if (glx.was_asked) judge_glx(glx, findings);
}

}  // namespace cairn::cli::doctor
