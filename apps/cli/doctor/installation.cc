// SPDX-License-Identifier: MIT
// Whether Cairn's own parts are there, are whole, and belong together.
#include <cairn/cairn.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "child.h"
#include "doctor/checks.h"
#include "os/helper_process.h"
#include "output.h"
#include "session.h"
#include "warm/player.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char *kAgain =
    "install Cairn again: apt install --reinstall cairn libegl-cairn0 "
    "libglx-cairn0, or `sudo make install` in its sources";
constexpr const char *kManifest32 = "i386/cairn_egl.json";

// "0.1.0" of .../libEGL_cairn.so.0.1.0, which a library is by its whole name; "": it has none.
std::string version_of(const std::string &library, std::string_view so_name) {
    const std::string name = fs::path(canonical_path(library)).filename().string();
    std::string beginning(so_name.substr(0, so_name.rfind('.')));
    beginning += '.';
    if (!name.starts_with(beginning)) return "";
    std::string version = name.substr(beginning.size());
    return version.find('.') == std::string::npos ? "" : version;
}

// Of a library by its path; true: it can be used.
bool check_library(const Examined &examined, const std::string &path, Id broken,
                   Findings &findings) {
    const auto elf = read_elf(path);
    if (elf && !elf->fits(examined.own)) {
        findings.add(Id::front_end_bits,
                     fmt::format("{} is {}, and this machine's programs are {}", path,
                                 machine_name(*elf), machine_name(examined.own)),
                     kAgain);
        return false;
    }
    std::string problem = load_problem(path);
    if (problem.empty()) return true;
    Words missing;
    if (elf) {
        for (const auto &[name, place] : examined.libraries.all_of(*elf)) {
            if (place.empty()) missing.push_back(name);
        }
    }
    if (!missing.empty()) problem += fmt::format(" (missing: {})", fmt::join(missing, ", "));
    findings.add(broken, fmt::format("{} cannot be loaded: {}", path, problem), kAgain);
    return false;
}

void check_version(const std::string &path, const char *so_name, Findings &findings) {
    const std::string version = version_of(path, so_name);
    if (version.empty() || version == cairn_version_string()) return;
    findings.add(Id::versions_differ,
                 fmt::format("{} is of version {}, and this command of {}", path, version,
                             cairn_version_string()),
                 kAgain);
}

void check_last(const std::string &manifest, Findings &findings) {
    const std::string last = (fs::path(manifest).parent_path() / kLastManifest).string();
    const Manifest checked = check_manifest(last);
    if (checked.problem.empty()) return;
    findings.add(Id::no_last, checked.problem, kAgain);
}

void check_glx_front_end(const Examined &examined, Findings &findings) {
    const std::string &library = examined.glx_library;
    if (library.empty()) {
        findings.add(Id::no_glx,
                     fmt::format("{} is not installed beside {}", kGlxLibrary,
                                 library_of(examined.manifest.path)),
                     "apt install libglx-cairn0, or install Cairn again");
        return;
    }
    if (check_library(examined, library, Id::glx_broken, findings)) {
        check_version(library, kGlxLibrary, findings);
    }
}

// Whether drivers for 32-bit programs are there.
std::string driver_of_32_bits(const Machine &machine) {
    for (const char *name : {"libEGL_mesa.so.0", "libGLX_mesa.so.0", "libGLX_nvidia.so.0"}) {
        for (const char *folder : {"/usr/lib/i386-linux-gnu", "/usr/lib32", "/usr/lib"}) {
            std::string path = machine.at(folder);
            path.append("/").append(name);
            const auto elf = read_elf(path);
            if (elf && !elf->is_64_bit) return path;
        }
    }
    return "";
}

void check_32_bit(const Examined &examined, Findings &findings) {
    if (!examined.own.is_64_bit) return;
    const fs::path folder = fs::path(examined.manifest.path).parent_path();
    const std::string manifest = (folder / kManifest32).string();
    if (::access(manifest.c_str(), F_OK) != 0) {
        const std::string driver = driver_of_32_bits(examined.machine);
        if (driver.empty()) return;
        findings.add(Id::no_32_bit,
                     fmt::format("there are drivers for 32-bit programs ({}), and Cairn's front "
                                 "ends for these are not installed",
                                 driver),
                     "`make install-i386` in Cairn's sources, or apt install libegl-cairn0:i386 "
                     "libglx-cairn0:i386");
        return;
    }
    const Manifest checked = check_manifest(manifest);
    const std::string library = library_of(manifest);
    const bool is_path = library.find('/') != std::string::npos;
    const auto elf = is_path ? read_elf(library) : std::nullopt;
    if (!checked.problem.empty()) {
        findings.add(Id::broken_32_bit, checked.problem, kAgain);
    } else if (is_path && (!elf || elf->is_64_bit)) {
        findings.add(Id::broken_32_bit, fmt::format("{} is no library of 32 bits", library),
                     kAgain);
    }
}

bool is_there(std::string (*find)()) {
    try {
        return ::access(find().c_str(), X_OK) == 0;
    } catch (const Failure &) {
        return false;
    }
}

void check_parts(const Examined &examined, Findings &findings) {
    const fs::path own = fs::path(examined.machine.executable).parent_path();
    const auto has = [&](std::initializer_list<fs::path> places) {
        std::error_code error;
        for (const fs::path &place : places) {
            if (fs::exists(own / place, error)) return true;
        }
        return false;
    };
    Words missing;
    if (!is_there(find_player)) missing.emplace_back("cairn-warm (`cairn warm`)");
    if (!has({"cairn-agent", "../agent/cairn-agent"})) {
        missing.emplace_back("cairn-agent (`cairn push`, `pull`, `remote`)");
    }
    if (!has({"cairn-dashboard", "../dashboard/cairn-dashboard"})) {
        missing.emplace_back("cairn-dashboard (`cairn dashboard`)");
    }
    if (!has({CAIRN_CONVERT_FROM_BIN, "../convert/cairn-convert"})) {
        missing.emplace_back("cairn-convert (`cairn convert`)");
    }
    if (!has({"cairnd", "../broker/cairnd"})) missing.emplace_back("cairnd (sandboxes)");
    if (missing.empty()) return;
    findings.add(Id::parts_missing, fmt::format("not installed: {}", fmt::join(missing, ", ")),
                 "if you need them, install all of Cairn's packages, or build it with what "
                 "`make` installs");
}

// The one that engines get from the loader.
void check_shared_library(const Examined &examined, Findings &findings) {
    constexpr const char *kLibrary = "libcairn.so.1";
    const std::string path = examined.libraries.find(kLibrary);
    if (path.empty()) return;
    const std::string version = version_of(path, kLibrary);
    // Its first number is that of the interface, the others are the version's.
    const std::string_view own = cairn_version_string();
    std::string expected = "1";
    expected += own.substr(own.find('.'));
    if (version.empty() || version == expected) return;
    findings.add(
        Id::library_differs,
        fmt::format("the loader finds {} ({}), and this command's is {}", path, version, expected),
        "remove the other Cairn, then run `sudo ldconfig`");
}

}  // namespace

void check_installation(const Examined &examined, Findings &findings) {
    check_parts(examined, findings);
    check_shared_library(examined, findings);
    if (examined.manifest.path.empty()) {
        findings.add(Id::no_front_end, examined.manifest.problem, kAgain);
        return;
    }
    const std::string library = library_of(examined.manifest.path);
    const std::string path =
        library.find('/') == std::string::npos ? examined.libraries.find(library) : library;
    if (path.empty()) {
        findings.add(Id::front_end_broken,
                     fmt::format("{} names {}, which the loader does not find",
                                 examined.manifest.path, library),
                     "sudo ldconfig");
    } else if (check_library(examined, path, Id::front_end_broken, findings)) {
        check_version(path, "libEGL_cairn.so.0", findings);
    }
    check_last(examined.manifest.path, findings);
    check_glx_front_end(examined, findings);
    check_32_bit(examined, findings);
}

}  // namespace cairn::cli::doctor
