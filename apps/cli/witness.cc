// SPDX-License-Identifier: MIT
#include "witness.h"

#include <cairn/cairn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/run_report.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

using Libraries = std::set<std::string, std::less<>>;

// Toolkits whose choice between GLX and EGL can be steered from outside, by a library of theirs.
struct Toolkit {
    std::string_view library;
    const char *advice;
};
constexpr std::array kToolkits = {
    Toolkit{"libQt5Gui.so", "QT_XCB_GL_INTEGRATION=xcb_egl has Qt use EGL"},
    Toolkit{"libQt6Gui.so", "QT_XCB_GL_INTEGRATION=xcb_egl has Qt use EGL"},
    Toolkit{"libSDL2-2.0.so", "SDL_VIDEO_X11_FORCE_EGL=1 has SDL use EGL"},
    Toolkit{"libSDL3.so", "SDL_VIDEO_FORCE_EGL=1 has SDL use EGL"},
    Toolkit{"libgtk-4.so", "GDK_DEBUG=gl-egl has GTK use EGL"},
    Toolkit{"libxul.so", "MOZ_X11_EGL=1 has Firefox use EGL"},
    Toolkit{"libmpv.so", "--gpu-context=x11egl has mpv use EGL"},
};

bool has(const Libraries &libraries, std::string_view beginning) {
    const auto found = libraries.lower_bound(beginning);
    return found != libraries.end() && found->starts_with(beginning);
}

bool has_egl_driver(const Libraries &libraries) {
    return has(libraries, "libEGL_") && !has(libraries, "libEGL_cairn.so");
}

// The names of the files that a process has mapped.
Libraries mapped_files(const std::string &process) {
    Libraries names;
    std::ifstream maps(process + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const size_t slash = line.rfind('/');
        if (slash != std::string::npos) names.insert(line.substr(slash + 1));
    }
    return names;
}

// Also where that cannot be read.
bool has_our_variables(const std::string &process) {
    std::ifstream file(process + "/environ", std::ios::binary);
    bool is_empty = true;
    for (std::string variable; std::getline(file, variable, '\0');) {
        if (variable.starts_with(std::string(kRunReportVariable) + "=")) return true;
        is_empty = false;
    }
    return is_empty && !file.eof();
}

bool is_of_32_bits(const std::string &process) {
    constexpr size_t kClassAt = 4;
    constexpr char kClass32 = 1;
    std::array<char, kClassAt + 1> head = {};
    std::ifstream(process + "/exe", std::ios::binary).read(head.data(), head.size());
    return std::string_view(head.data(), kClassAt) ==
               "\x7f"
               "ELF" &&
           head[kClassAt] == kClass32;
}

std::vector<pid_t> children_of(const std::string &process) {
    std::vector<pid_t> children;
    std::error_code error;
    for (fs::directory_iterator task(process + "/task", error), end; !error && task != end;
         task.increment(error)) {
        std::ifstream file(task->path() / "children");
        for (pid_t child = 0; file >> child;) children.push_back(child);
    }
    return children;
}

}  // namespace

void add_libraries(const Libraries &libraries, Seen &seen) {
    // A driver's library is loaded when it is used; the dispatching one when a program is linked
    // with it. NVIDIA has one library for GLX and Vulkan.
    const bool has_glx = has(libraries, "libGLX.so") && has(libraries, "libGLX_");
    const bool has_vulkan = has(libraries, "libvulkan.so") &&
                            (has(libraries, "libvulkan_") || has(libraries, "libGLX_nvidia"));
    seen.glx = seen.glx || has_glx;
    seen.vulkan = seen.vulkan || has_vulkan;
    seen.egl_past_us = seen.egl_past_us || has_egl_driver(libraries);
    for (const Toolkit &toolkit : kToolkits) {
        if (has_glx && seen.advice.empty() && has(libraries, toolkit.library)) {
            seen.advice = toolkit.advice;
        }
    }
}

void look_at_processes(pid_t first, Seen &seen) {
    // A process that has ended may have given its number to another that is not ours; it is not
    // among the children of any.
    std::vector<pid_t> waiting = {first};
    for (size_t i = 0; i < waiting.size(); ++i) {
        const std::string process = fmt::format("/proc/{}", waiting[i]);
        const Libraries libraries = mapped_files(process);
        add_libraries(libraries, seen);
        if (has_egl_driver(libraries)) {
            seen.cleared_environment = seen.cleared_environment || !has_our_variables(process);
            seen.of_32_bits = seen.of_32_bits || is_of_32_bits(process);
        }
        const std::vector<pid_t> children = children_of(process);
        waiting.insert(waiting.end(), children.begin(), children.end());
    }
}

}  // namespace cairn::cli
