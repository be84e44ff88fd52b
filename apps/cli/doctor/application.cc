// SPDX-License-Identifier: MIT
// Whether an application would be served, and by which front end.
#include "common/application.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "caches.h"
#include "common/crash_guard.h"
#include "common/permission.h"
#include "common/words.h"
#include "doctor/checks.h"
#include "histories.h"
#include "os/environment.h"
#include "os/helper_process.h"
#include "output.h"
#include "session.h"
#include "text.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

using Libraries = std::map<std::string, std::string>;

bool is_file(const std::string &path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// As a shell finds it. A file that may not be executed is found where nothing else is.
std::string find_executable(const std::string &name) {
    if (name.find('/') != std::string::npos) return is_file(name) ? name : "";
    std::string other;
    const std::string path = environment_variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
    for (const std::string &folder : split(path, ':')) {
        std::string found = folder;
        found.append("/").append(name);
        if (!is_file(found)) continue;
        if (::access(found.c_str(), X_OK) == 0) return found;
        if (other.empty()) other = found;
    }
    return other;
}

bool has(const Libraries &libraries, std::string_view beginning) {
    const auto found = libraries.lower_bound(std::string(beginning));
    return found != libraries.end() && found->first.starts_with(beginning);
}

// Toolkits, and by what they draw, as far as they load GL by themselves when they run.
struct Toolkit {
    const char *library;
    const char *name;
};
constexpr std::array kToolkits = {
    Toolkit{"libSDL2-2.0.so", "SDL 2"},    Toolkit{"libSDL3.so", "SDL 3"},
    Toolkit{"libSDL-1.2.so", "SDL 1.2"},   Toolkit{"libglfw.so", "GLFW"},
    Toolkit{"libgtk-3.so", "GTK 3"},       Toolkit{"libgtk-4.so", "GTK 4"},
    Toolkit{"libepoxy.so", "libepoxy"},    Toolkit{"libQt5Gui.so", "Qt 5"},
    Toolkit{"libQt6Gui.so", "Qt 6"},       Toolkit{"libclutter-1.0.so", "Clutter"},
    Toolkit{"libwebkit2gtk", "WebKitGTK"}, Toolkit{"libgstgl-1.0.so", "GStreamer"},
    Toolkit{"libmpv.so", "mpv"},           Toolkit{"libplacebo.so", "libplacebo"},
    Toolkit{"liballegro.so", "Allegro"},   Toolkit{"libsfml-window.so", "SFML"}};

// Names in the text of a program that loads its libraries when it runs, as Blender or Godot do.
bool names_in_text(const std::string &path, std::string_view name) {
    constexpr std::size_t kTextMax = 64u << 20;
    constexpr std::size_t kPart = 1u << 20;
    std::ifstream file(path, std::ios::binary);
    std::string text;
    for (std::size_t done = 0; done < kTextMax && file; done += kPart) {
        // The end of the part before stays, as a name may begin there.
        text.erase(0, text.size() - std::min(text.size(), name.size()));
        const std::size_t kept = text.size();
        text.resize(kept + kPart);
        file.read(text.data() + kept, kPart);
        text.resize(kept + static_cast<std::size_t>(file.gcount()));
        if (text.find(name) != std::string::npos) return true;
    }
    return false;
}

bool is_browser(const std::string &path) {
    const fs::path folder = fs::path(canonical_path(path)).parent_path();
    std::error_code error;
    for (const char *name : {"chrome_100_percent.pak", "icudtl.dat", "v8_context_snapshot.bin",
                             "libffmpeg.so", "chrome-sandbox"}) {
        if (fs::exists(folder / name, error)) return true;
    }
    return false;
}

// Libraries of GL that it brings itself.
Words own_gl(const std::string &path, const Elf &elf, const Libraries &libraries,
             const Examined &examined) {
    std::set<std::string> found;
    constexpr const char *kNames[] = {"libEGL.so.1", "libEGL.so",      "libGL.so.1",
                                      "libGLX.so.0", "libGLESv2.so.2", "libGLESv2.so"};
    const fs::path folder = fs::path(canonical_path(path)).parent_path();
    Words folders = elf.run_paths;
    folders.push_back(folder.string());
    folders.push_back((folder / "lib").string());
    const auto is_systems = [&](const std::string &file) {
        const std::string place = fs::path(canonical_path(file)).parent_path().string();
        const std::string root =
            canonical_path(examined.machine.root.empty() ? "/" : examined.machine.root);
        return std::ranges::any_of(kLoaderFolders, [&](const char *each) {
            return place == canonical_path(examined.machine.at(each));
        });
    };
    for (const std::string &each : folders) {
        for (const char *name : kNames) {
            std::string file = each;
            file.append("/").append(name);
            if (read_elf(file) && !is_systems(file)) found.insert(canonical_path(file));
        }
    }
    for (const char *name : kNames) {
        const auto needed = libraries.find(name);
        if (needed == libraries.end() || needed->second.empty()) continue;
        const auto library = read_elf(needed->second);
        const bool is_glvnds =
            library && std::ranges::count(library->needed, "libGLdispatch.so.0") != 0;
        if (!is_glvnds) found.insert(canonical_path(needed->second));
    }
    return {found.begin(), found.end()};
}

// By which front end, and how it is known.
void check_drawing(const Examined &examined, const std::string &path, const Elf &elf,
                   const Libraries &libraries, Findings &findings) {
    const bool egl = has(libraries, "libEGL.so");
    const bool glx = has(libraries, "libGLX.so") || has(libraries, "libGL.so");
    const bool gl_alone = has(libraries, "libOpenGL.so") || has(libraries, "libGLESv2.so");
    Words toolkits;
    for (const Toolkit &each : kToolkits) {
        if (has(libraries, each.library)) toolkits.emplace_back(each.name);
    }
    if (is_browser(path)) {
        // Its own libEGL is ANGLE's, which calls the system's.
        findings.add(Id::app_browser, "it is built like Chromium: its GPU process draws by ANGLE",
                     "for a GPU process in its sandbox: CAIRN_EGL_BROKER=1, with cairnd "
                     "(docs/broker.md)");
    } else if (const Words own = own_gl(path, elf, libraries, examined); !own.empty()) {
        findings.add(Id::app_own_gl, fmt::format("it brings {}", fmt::join(own, ", ")),
                     "if `cairn run` says that it is not served: move these files away, for the "
                     "system's to be used");
    }
    const char *glx_off = examined.glx_library.empty() ? ", which is not installed" : "";
    if (egl && glx) {
        findings.add(Id::app_served,
                     fmt::format("it is linked with EGL and GLX: the front end of the one that it "
                                 "uses serves it"));
    } else if (egl || glx) {
        findings.add(
            Id::app_served,
            egl ? std::string("it is linked with EGL: the EGL front end serves it")
                : fmt::format("it is linked with GLX: the GLX front end serves it{}", glx_off));
    } else if (!toolkits.empty() || gl_alone) {
        findings.add(Id::app_toolkit,
                     fmt::format("it uses {}, which loads EGL or GLX when it runs",
                                 toolkits.empty() ? "GL's functions"
                                                  : fmt::format("{}", fmt::join(toolkits, ", "))));
    } else if (names_in_text(path, "libEGL.so") || names_in_text(path, "libGL.so") ||
               names_in_text(path, "libGLX.so")) {
        findings.add(Id::app_toolkit,
                     "it has the names of EGL's or GLX's libraries in it, and "
                     "probably loads them when it runs");
    } else if (has(libraries, "libvulkan.so") || names_in_text(path, "libvulkan.so")) {
        findings.add(Id::app_vulkan, "it draws by Vulkan only, as far as its file tells", "");
    } else {
        findings.add(Id::app_no_gl, "nothing in its file tells that it draws by EGL or GLX", "");
    }
}

bool has_other_rights(const std::string &path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return false;
    const bool is_set = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid();
    const bool is_set_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid();
    return is_set || is_set_group ||
           ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// The front ends for 32-bit programs.
bool has_32_bit_front_ends(const Examined &examined) {
    const fs::path folder = fs::path(examined.manifest.path).parent_path();
    return !examined.manifest.path.empty() &&
           check_manifest((folder / "i386/cairn_egl.json").string()).problem.empty();
}

// Whether its processes can load a front end at all.
bool check_kind(const Examined &examined, const std::string &path, const Elf &elf,
                Findings &findings) {
    if (has_other_rights(path)) {
        findings.add(Id::app_rights, fmt::format("{} runs with another user's rights", path),
                     "nothing: that is how the loader protects such programs");
        return false;
    }
    if (!elf.is_dynamic || !elf.has_interpreter) {
        findings.add(Id::app_static, fmt::format("{} is linked statically", path),
                     "use a build of it that is linked with the system's libraries");
        return false;
    }
    if (elf.fits(examined.own)) return true;
    const bool is_32 = !elf.is_64_bit && elf.machine == EM_386 && examined.own.is_64_bit;
    if (is_32 && has_32_bit_front_ends(examined)) return true;
    findings.add(is_32 ? Id::app_32_bit : Id::app_machine,
                 fmt::format("{} is {}, and Cairn's front ends here are {}", path,
                             machine_name(elf), machine_name(examined.own)),
                 is_32 ? "`make install-i386` in Cairn's sources, or apt install "
                         "libegl-cairn0:i386 libglx-cairn0:i386"
                       : "install Cairn for that kind of processor, beside an emulator's own");
    return false;
}

// A script that starts something else; the first of its lines that says which.
void check_script(const std::string &path, const std::string &text, Findings &findings) {
    const std::string interpreter = text.substr(2, text.find('\n') - 2);
    const auto names = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (names("flatpak run")) {
        findings.add(Id::app_flatpak, fmt::format("{} starts an application of Flatpak's", path),
                     "flatpak override --user, with the options of docs/cli.md (Flatpak)");
    } else if (names("/snap/bin/") || names("snap run")) {
        findings.add(Id::app_snap, fmt::format("{} starts a snap", path),
                     "use the program's Debian package, or its Flatpak with an override");
    } else {
        findings.add(
            Id::app_script,
            fmt::format("{} is a script for {}; what it starts inherits Cairn", path, interpreter),
            "cairn doctor PROGRAM, for the program that it starts");
    }
}

// The application as caches and the configuration know it. True: Cairn has heard of it.
bool check_switches(const Examined &examined, const std::string &name, Findings &findings) {
    const auto record = examined.root.empty() ? Result<CrashRecord>(Error::not_found)
                                              : read_crash_record(examined.root, name);
    Circumstances circumstances;
    circumstances.application = name;
    circumstances.is_off_after_crashes = record.ok() && record->off_since_ns != 0;
    const Permission permission = permission_for(circumstances, examined.configuration);
    if (!permission.is_served) {
        findings.add(Id::app_off, fmt::format("{} is not served: {}", name, permission.reason),
                     fmt::format("cairn enable {}", name));
    }
    if (const auto limit = examined.configuration.limit_bytes(name)) {
        findings.add(Id::app_limit,
                     fmt::format("the configuration gives {} {}", name, format_bytes(*limit)));
    }
    if (examined.root.empty() || findings.has(Id::root_refused)) return record.ok();
    const std::vector<ApplicationRun> runs = read_runs(examined.root, name);
    const auto applications = list_applications(examined.root);
    const bool has_cache = std::ranges::any_of(
        applications, [&](const auto &each) { return is_of_application(each.second, name); });
    if (!runs.empty()) {
        const Numbers &numbers = runs.front().run.numbers;
        findings.add(Id::app_runs,
                     fmt::format("the last run of {}, of {}: {} of {} from the cache", name,
                                 format_time(runs.front().run.start_ns / 1'000'000), numbers.hits(),
                                 format_count(numbers.lookups(), "program", "programs")),
                     fmt::format("cairn why {}", name));
    } else if (!has_cache) {
        findings.add(
            Id::app_never_seen, fmt::format("no cache is {}'s", name),
            fmt::format("cairn run -- {} says at its end what became of its programs", name));
    }
    return record.ok() || has_cache || !runs.empty();
}

void check_missing(const Examined &examined, Findings &findings) {
    Words known;
    if (!examined.root.empty()) {
        for (const auto &[identifier, name] : list_applications(examined.root)) {
            known.push_back(application_name(name));
        }
    }
    findings.add(Id::app_missing,
                 fmt::format("there is no program `{}` in PATH, and no cache of such an "
                             "application{}",
                             examined.application, did_you_mean(examined.application, known)),
                 "name a file, a program in PATH, or an application that `cairn ls` shows");
}

// The bundle, whose runtime mounts what is in it.
bool is_app_image(const std::string &beginning) {
    constexpr std::size_t kMarkAt = 8;
    return beginning.size() > kMarkAt + 2 && beginning.compare(kMarkAt, 2, "AI") == 0;
}

void check_file(const Examined &examined, const std::string &path, Findings &findings) {
    if (::access(path.c_str(), X_OK) != 0) {
        findings.add(Id::app_not_executable, fmt::format("{} may not be executed", path),
                     fmt::format("chmod +x {}", shell_word(path)));
        return;
    }
    const std::string whole = canonical_path(path);
    if (fs::path(whole).filename() == "snap" || path.find("/snap/bin/") != std::string::npos) {
        findings.add(Id::app_snap, fmt::format("{} starts a snap", path),
                     "use the program's Debian package, or its Flatpak with an override");
        return;
    }
    if (path.find("/flatpak/exports/bin/") != std::string::npos) {
        findings.add(Id::app_flatpak, fmt::format("{} starts an application of Flatpak's", path),
                     "flatpak override --user, with the options of docs/cli.md (Flatpak)");
        return;
    }
    if (::access(path.c_str(), R_OK) != 0) {
        findings.add(
            Id::app_no_gl, fmt::format("{} may be started, and not be read", path),
            fmt::format("cairn run -- {} says at its end what was used", shell_word(path)));
        return;
    }
    const std::string beginning = read_beginning(path, 16 << 10).value_or("");
    if (beginning.starts_with("#!")) return check_script(path, beginning, findings);
    const auto elf = read_elf(path);
    if (!elf) {
        findings.add(Id::app_not_executable, fmt::format("{} is no program of Linux", path),
                     "name the program that runs it, such as wine or java");
        return;
    }
    if (is_app_image(beginning)) {
        findings.add(Id::app_image,
                     fmt::format("{} is an AppImage; what is in it inherits Cairn", path),
                     fmt::format("cairn run -- {}", shell_word(path)));
        return;
    }
    if (!check_kind(examined, path, *elf, findings)) return;
    const LibrarySearch search(examined.machine, *elf);
    const Libraries libraries = search.all_of(*elf);
    for (const auto &[name, place] : libraries) {
        if (!place.empty() || name.starts_with("ld-linux") || name.starts_with("linux-")) continue;
        findings.add(Id::app_library,
                     fmt::format("{} needs {}, which the loader does not find", path, name),
                     "install the package that has it: apt-file search, or the program's own "
                     "launcher");
    }
    check_drawing(examined, path, *elf, libraries, findings);
}

}  // namespace

std::string known_name(const std::string &application) {
    const std::string path = application.empty() ? "" : find_executable(application);
    if (path.empty()) return application_name(application);
    ProcessStart start;
    start.file = canonical_path(path);
    if (read_beginning(path, 2).value_or("") == "#!") start.called = path;
    start.arguments = {path};
    return application_of(start);
}

void check_application(const Examined &examined, Findings &findings) {
    if (examined.application.empty()) return;
    const std::string path = find_executable(examined.application);
    if (path.empty()) {
        Findings heard;
        const bool is_name = examined.name.find('/') == std::string::npos;
        if (!is_name || !check_switches(examined, examined.name, heard)) {
            return check_missing(examined, findings);
        }
        for (const Finding &each : heard.all()) findings.add(each.id, each.what, each.mend);
        return;
    }
    check_file(examined, path, findings);
    (void)check_switches(examined, examined.name, findings);
}

}  // namespace cairn::cli::doctor
