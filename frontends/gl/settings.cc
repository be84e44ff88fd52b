// SPDX-License-Identifier: MIT
#include "settings.h"

#include <cairn/cairn.h>
#include <cairn/cairn_broker.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "common/permission.h"
#include "common/run_report.h"
#include "common/words.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/text_file.h"

namespace cairn::gl {
namespace {

// Lives for ever: no destructor may run at process exit.
Settings *g_settings = nullptr;

// Prefixes of the variables that change what Mesa's and NVIDIA's compilers accept or produce. They
// belong to the driver's identity: a program that was compiled under one setting is never used
// under another.
constexpr std::string_view kDriverOptions[] = {
    // Mesa's debugging switches and overrides, of its drivers for Vulkan, too, which zink draws with.
    "ACO_", "AGX_MESA_DEBUG", "AMD_DEBUG", "ANV_", "ASAHI_MESA_DEBUG", "BIFROST_", "CROCUS_",
    "D3D12_DEBUG", "DRAW_", "DXIL_DEBUG", "ETNA_", "FD_MESA_DEBUG", "GALLIUM_", "GALLIVM_",
    "I915_DEBUG", "INTEL_", "IR3_", "LIMA_", "LP_", "LVP_", "MESA_DEBUG", "MESA_DRICONF",
    "MESA_EXTENSION", "MESA_GL", "MESA_LOADER", "MESA_MVP_DP4", "MESA_NO_ERROR",
    "MESA_PROCESS_NAME", "MIDGARD_", "NAK_", "NIR_", "NOUVEAU_MESA_DEBUG", "NV50_", "NVC0_", "NVK_",
    "PAN_", "R600_DEBUG", "R600_NIR_DEBUG", "R600_SB_", "RADEON_", "RADV_", "SOFTPIPE_", "ST_DEBUG",
    "SVGA_", "TU_DEBUG", "V3D_DEBUG", "VC4_DEBUG", "VIRGL_DEBUG", "ZINK_",
    // The options of its configuration files, which are variables as well.
    "alias_shader_", "allow_", "clamp_", "disable_", "do_dce_", "dual_color_", "force_", "fp64_",
    "glsl_", "ignore_", "limit_", "lower_", "mesa_", "no_16bit", "no_fp", "precise_", "radeonsi_",
    "transcode_", "vs_position_",
    // NVIDIA's settings.
    "__GL_"};

// Exceptions, which do not influence compiled programs: whole names, or prefixes that end in a
// star. With Mesa's llvmpipe, program binaries and its own cache are the same under any number of
// threads, in every byte.
constexpr std::string_view kNoOptions[] = {"GALLIUM_HUD*",
                                           "GALLIUM_THREAD",
                                           "LP_NUM_THREADS",
                                           "MESA_GLSL_CACHE_*",
                                           "__GL_GSYNC_ALLOWED",
                                           "__GL_MaxFramesAllowed",
                                           "__GL_SHADER_DISK_CACHE*",
                                           "__GL_SHOW_GRAPHICS_OSD",
                                           "__GL_SYNC_DISPLAY_DEVICE",
                                           "__GL_SYNC_TO_VBLANK",
                                           "__GL_THREADED_OPTIMIZATIONS",
                                           "__GL_VRR_ALLOWED",
                                           "__GL_YIELD"};

std::string text_of(const char *name) {
    return environment_variable(name).value_or("");
}

bool is_on(const char *name) {
    const std::string value = text_of(name);
    return !value.empty() && value != "0";
}

// Not negative; -1: it is none.
int number_of(const char *name) {
    const std::string text = text_of(name);
    int number = -1;
    const char *end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc() && read.ptr == end && number >= 0 ? number : -1;
}

bool is_named(std::string_view name, std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                  : name == pattern;
}

std::string driver_options() {
    std::vector<std::string_view> found;
    for (const std::string_view text : environment_variables()) {
        if (changes_compiling(text.substr(0, text.find('=')))) {
            found.push_back(text);
        }
    }
    std::ranges::sort(found);
    std::string lines;
    for (const std::string_view variable : found) {
        lines.append(variable).append("\n");
    }
    return lines;
}

void write_line(void *name, int, const char *line) {
    char text[1024];
    const int size =
        snprintf(text, sizeof text, "cairn-%s: %s\n", static_cast<const char *>(name), line);
    write_to_standard_error({text, std::min(static_cast<size_t>(size), sizeof text - 1)});
}

}  // namespace

bool changes_compiling(std::string_view variable) {
    return starts_with_any(variable, kDriverOptions) &&
           std::ranges::none_of(kNoOptions, [variable](std::string_view pattern) {
               return is_named(variable, pattern);
           });
}

void load_settings(const char *name) {
    auto *loaded = new Settings;
    const Permission &permission = own_permission();
    loaded->disabled = !permission.is_served;
    if (permission.logs) {
        loaded->log = Log(write_line, const_cast<char *>(name));
    }
    loaded->persists = text_of("CAIRN_EGL_PERSIST") != "0";
    loaded->broker_fd = number_of(CAIRN_BROKER_FD_ENV);
    loaded->connects = is_on("CAIRN_EGL_BROKER");
    loaded->lease_ms = std::max(number_of("CAIRN_EGL_LEASE"), 0);
    loaded->home = text_of("HOME");
    loaded->drirc_folder = text_of("DRIRC_CONFIGDIR");
    loaded->report = text_of(kRunReportVariable);
    loaded->trace = text_of("CAIRN_TRACE");
    loaded->history_root = permission.history_root;
    loaded->keeps_sources = is_on(kKeepSourcesVariable);
    loaded->replaces_sources = !text_of("MESA_SHADER_READ_PATH").empty();
    loaded->driver_options = driver_options();
    loaded->records_recipes = !loaded->disabled && loaded->persists && !loaded->has_broker() &&
                              permission.records_recipes;
    g_settings = loaded;
    if (!permission.is_served) {
        log().write(Severity::info, "passes everything through: %s", permission.reason.c_str());
        if (!loaded->report.empty()) attach_counters(loaded->report.c_str());
        note_problem(kProblemNotServed, permission.reason);
    }
}

const Settings &settings() {
    return *g_settings;
}

}  // namespace cairn::gl
