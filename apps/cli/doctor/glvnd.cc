// SPDX-License-Identifier: MIT
// Whether the system's dispatch libraries and drivers are there, and whether the environment leads them to
// Cairn.
#include "common/glvnd.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "common/words.h"
#include "doctor/checks.h"
#include "os/environment.h"
#include "os/text_file.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFilenamesEnv = "__EGL_VENDOR_LIBRARY_FILENAMES";
constexpr const char *kDirsEnv = "__EGL_VENDOR_LIBRARY_DIRS";
constexpr const char *kDispatch = "libGLdispatch.so.0";
constexpr std::size_t kManifestsMax = 200;

bool is_glvnd(const std::string &path) {
    const auto elf = read_elf(path);
    return elf && std::ranges::find(elf->needed, kDispatch) != elf->needed.end();
}

// What libraries of GLVND there are, and of whom.
bool check_dispatch(const Examined &examined, Findings &findings) {
    struct Wanted {
        const char *name;
        Id missing;
        const char *package;
    };
    bool has_glx = true;
    for (const Wanted &wanted : {Wanted{"libEGL.so.1", Id::no_egl, "libegl1"},
                                 Wanted{"libGLX.so.0", Id::no_libglx, "libglx0"},
                                 Wanted{"libGL.so.1", Id::no_libglx, "libgl1"}}) {
        const std::string path = examined.libraries.find(wanted.name);
        if (path.empty()) {
            findings.add(wanted.missing,
                         fmt::format("the loader does not find {}, GLVND's", wanted.name),
                         fmt::format("sudo apt install {}", wanted.package));
            has_glx = has_glx && wanted.missing != Id::no_libglx;
        } else if (!is_glvnd(path)) {
            findings.add(Id::not_glvnd, fmt::format("{} is not of GLVND, but a driver's own", path),
                         fmt::format("install the driver's packages that work with GLVND, or see "
                                     "why {} is found before the system's",
                                     path));
        }
    }
    return has_glx;
}

bool is_of_cairn(const std::string &library) {
    return fs::path(library).filename().string().starts_with("libEGL_cairn");
}

struct Vendor {
    std::string manifest;
    std::string library;
};

// In the order of libEGL, as the environment says.
Words manifests(const Examined &examined) {
    if (const auto files = environment_variable(kFilenamesEnv)) return split(*files, ':');
    Words found;
    const auto folders = environment_variable(kDirsEnv);
    for (const std::string &folder : split(folders.value_or(kGlvndFolders), ':')) {
        const std::string place = folders ? folder : examined.machine.at(folder);
        for (std::string &path : paths_in(place, ".json")) {
            if (found.size() < kManifestsMax) found.push_back(std::move(path));
        }
    }
    return found;
}

// Whether this vendor is a driver of this machine's usual programs.
bool check_vendor(const Examined &examined, const std::string &manifest, const std::string &library,
                  std::set<std::string> &seen, Findings &findings) {
    const std::string path =
        library.starts_with('/') ? examined.machine.at(library) : examined.libraries.find(library);
    const auto elf = path.empty() ? std::nullopt : read_elf(path);
    if (!elf) {
        findings.add(
            Id::vendor_missing,
            fmt::format("{} names {}, which is not there, or is no library", manifest, library),
            "install the driver's package again, or remove the manifest");
        return false;
    }
    // Those of other programs lie beside them.
    if (!elf->fits(examined.own)) return false;
    if (!seen.insert(path).second) return true;
    for (const auto &[name, place] : examined.libraries.all_of(*elf)) {
        if (!place.empty()) continue;
        findings.add(Id::vendor_unresolved,
                     fmt::format("{} needs {}, which the loader does not find", path, name),
                     "install the driver's package again");
        return false;
    }
    return true;
}

void check_vendors(const Examined &examined, Findings &findings) {
    std::size_t drivers = 0;
    std::set<std::string> seen;
    for (const std::string &manifest : manifests(examined)) {
        struct stat status = {};
        if (::stat(manifest.c_str(), &status) != 0) continue;  // check_lists() tells of it
        const std::string library = library_of(manifest);
        if (library.empty()) {
            findings.add(
                Id::manifest_damaged, fmt::format("{} is no manifest of an EGL driver", manifest),
                fmt::format("remove {}, or install the package again that it is of", manifest));
        } else if (!is_of_cairn(library) &&
                   check_vendor(examined, manifest, library, seen, findings)) {
            ++drivers;
        }
    }
    if (drivers != 0) return;
    findings.add(Id::no_vendor, "libEGL finds no driver that this machine's programs can load",
                 "sudo apt install libegl-mesa0, or the package of your GPU's driver");
}

// A library libGLX_NAME.so.0 of somebody else.
void check_glx_vendors(const Examined &examined, Findings &findings) {
    for (const char *name : {"mesa", "nvidia", "amd", "indirect"}) {
        if (!examined.libraries.find(fmt::format("libGLX_{}.so.0", name)).empty()) return;
    }
    findings.add(Id::no_glx_vendor, "the loader finds no driver's library libGLX_*.so.0",
                 "sudo apt install libglx-mesa0, or the package of your GPU's driver");
}

void check_glx_variable(const Examined &examined, const char *variable, Findings &findings) {
    const std::string name = environment_variable(variable).value_or("");
    if (name.empty()) return;
    const std::string library = fmt::format("libGLX_{}.so.0", name);
    if (name.find('/') == std::string::npos && !examined.libraries.find(library).empty()) return;
    const bool is_ours = name == kGlxVendor;
    findings.add(
        Id::glx_vendor_missing,
        fmt::format("{} is `{}`, and the loader does not find {}", variable, name, library),
        is_ours ? "sudo ldconfig, then `cairn enable` again"
                : fmt::format("unset {}, where it is set", variable));
}

// The variables that replace libEGL's own search.
void check_lists(const Examined &examined, Findings &findings) {
    const bool by_files = environment_variable(kFilenamesEnv).has_value();
    const char *variable = by_files ? kFilenamesEnv : kDirsEnv;
    const auto list = environment_variable(variable);
    if (!list) return;
    const Words standard = split(kGlvndFolders, ':');
    bool has_cairn = false;
    for (const std::string &part : split(*list, ':')) {
        std::error_code error;
        const bool is_there = fs::exists(part, error);
        const bool is_standard = std::ranges::find(standard, part) != standard.end();
        const bool names_cairn = part.find("cairn") != std::string::npos;
        if (is_there) {
            const Words files = by_files ? Words{part} : paths_in(part, ".json");
            has_cairn = has_cairn || std::ranges::any_of(files, [](const std::string &file) {
                            return is_of_cairn(library_of(file));
                        });
        } else if (names_cairn) {
            findings.add(Id::cairn_moved,
                         fmt::format("{} names {}, which is gone: Cairn was moved or removed",
                                     variable, part),
                         "run `cairn enable` (or `cairn disable`), and log in again");
        } else if (!is_standard) {
            findings.add(Id::names_missing,
                         fmt::format("{} names {}, which is not there", variable, part),
                         fmt::format("set {} anew where it is set, or unset it", variable));
        }
    }
    if (has_cairn || !examined.is_enabled() || findings.has(Id::cairn_moved)) return;
    findings.add(Id::left_out, fmt::format("{} is set, and does not name Cairn", variable),
                 fmt::format("unset {0}, or run `cairn enable` again with {0} as it is, and log in "
                             "again",
                             variable));
}

void check_own_libraries(Findings &findings) {
    const std::string list = environment_variable("LD_LIBRARY_PATH").value_or("");
    for (const std::string &folder : split(list, ':')) {
        for (const char *name : {"libEGL.so.1", "libGL.so.1", "libGLX.so.0", "libGLESv2.so.2"}) {
            std::string path = folder;
            path.append("/").append(name);
            if (!read_elf(path) || is_glvnd(path)) continue;
            findings.add(Id::own_libraries,
                         fmt::format("LD_LIBRARY_PATH leads to {}, which is not GLVND's", path),
                         fmt::format("take {} out of LD_LIBRARY_PATH", folder));
        }
    }
}

// Libraries that are known to stand in the way of GL's calls.
constexpr const char *kOverlays[] = {
    "libGL.",       "libEGL.",     "libGLX.",          "libvglfaker",         "libdlfaker",
    "egltrace",     "glxtrace",    "libMangoHud",      "gameoverlayrenderer", "libprimus",
    "librenderdoc", "libstrangle", "libobs_glcapture", "libGLESv2."};

void check_preload(const Examined &examined, Findings &findings) {
    constexpr const char *kFile = "/etc/ld.so.preload";
    const auto look = [&](const std::string &list, const char *where) {
        std::string names = list;
        std::ranges::replace_if(
            names, [](char c) { return c == ' ' || c == '\n' || c == '\t'; }, ':');
        for (const std::string &name : split(names, ':')) {
            const std::string file = fs::path(name).filename().string();
            const bool matters = std::ranges::any_of(
                kOverlays, [&](const char *known) { return file.starts_with(known); });
            // $LIB and $PLATFORM are the loader's.
            const bool is_known = name.find('$') != std::string::npos;
            if (!is_known && name.starts_with('/') && ::access(name.c_str(), R_OK) != 0) {
                findings.add(Id::preload_missing,
                             fmt::format("{} names {}, which is not there", where, name),
                             fmt::format("take it out of {}", where));
            } else if (matters) {
                findings.add(Id::preload, fmt::format("{} names {}", where, name),
                             fmt::format("if programs misbehave, try without {}", where));
            }
        }
    };
    look(environment_variable("LD_PRELOAD").value_or(""), "LD_PRELOAD");
    look(examined.machine.text_of(kFile), kFile);
}

}  // namespace

void check_glvnd(const Examined &examined, Findings &findings) {
    const bool has_glx = check_dispatch(examined, findings);
    check_vendors(examined, findings);
    if (has_glx) check_glx_vendors(examined, findings);
    check_lists(examined, findings);
    check_glx_variable(examined, kGlxVendorEnv, findings);
    check_glx_variable(examined, kGlxRealVendorEnv, findings);
    check_own_libraries(findings);
    check_preload(examined, findings);
}

}  // namespace cairn::cli::doctor
