// SPDX-License-Identifier: MIT
// `cairn enable`: switches the front ends on for the user's sessions, or one application on again.
#include <algorithm>
#include <filesystem>

#include "caches.h"
#include "command.h"
#include "manifest.h"
#include "os/helper_process.h"
#include "output.h"
#include "session.h"
#include "session_state.h"
#include "switches.h"
#include "warm_units.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFooter =
    R"(Without APP it writes ~/.config/environment.d/50-cairn.conf, and a block in ~/.xsessionrc. From the
next log-in, all GL programs of the session use Cairn, and where systemd starts it, `cairn warm` runs by
itself after an update of the driver. `cairn disable` undoes it, `cairn status` shows how things are.

Examples:
  cairn enable
  cairn enable chromium    serve it, although it was switched off, by the user or after two crashes;
                           that alone does not make sessions use Cairn

Exit codes: 0 done, also where GLX cannot be switched on and EGL is; 1 failed, 2 wrong usage.)";

FileText environment_file(const std::string &path, const SessionVariables &variables) {
    const auto before = read_user_file(path);
    if (before && !before->empty() && !is_environment_text(*before)) {
        throw Failure(kExitFailure, "{} was not written by `cairn enable`; move it out of the way",
                      path);
    }
    return {path, environment_text(variables)};
}

// Whether the front end's library lies beside that for EGL. The loader may know that folder, and
// not yet what is in it.
bool is_glx_installed(const std::string &manifest) {
    const fs::path folder = fs::path(library_of(manifest)).parent_path();
    return folder.is_absolute() && fs::exists(folder / kGlxLibrary);
}

void enable_warming(const WarmUnits &units) {
    const std::string obstacle = units.obstacle();
    if (!obstacle.empty()) {
        say(fmt::format("After an update of the driver, `cairn warm` will not run by itself: {}.",
                        obstacle));
        return;
    }
    say(fmt::format(
        "{}: {}", units.folder(),
        units.enable() ? "cairn-warm.path and cairn-warm.timer are enabled" : "is so already"));
}

int enable_session() {
    const Manifest manifest = find_manifest(canonical_path("/proc/self/exe"));
    if (manifest.path.empty()) {
        throw Failure(kExitFailure, "{}; `cairn doctor` tells more", manifest.problem);
    }
    const std::string glx_library = find_glx_library();
    const SessionVariables variables = session_variables(manifest.path, glx_library);
    const SessionFiles files = session_files();
    require_own(files.environment);
    const WarmUnits units(own_home(), canonical_path("/proc/self/exe"));
    if (units.obstacle().empty()) require_own(units.folder());
    const FolderLock lock(own_home());
    std::vector<FileText> changed = {
        environment_file(files.environment, variables),
        {files.shell, with_block(read_user_file(files.shell), variables)}};
    std::erase_if(changed,
                  [](const FileText &file) { return read_user_file(file.path) == file.text; });
    write_user_files(changed);
    for (const std::string &path : {files.environment, files.shell}) {
        const bool is_changed = std::ranges::find(changed, path, &FileText::path) != changed.end();
        say(fmt::format("{}: {}", path, is_changed ? "written" : "is so already"));
    }
    enable_warming(units);
    say(fmt::format("From the next log-in, programs that use {} find Cairn.",
                    glx_library.empty() ? "EGL" : "EGL or GLX"));
    if (glx_library.empty()) {
        complain(
            "GLX is not switched on: the system's loader does not find {}, and GLVND takes no "
            "path for it; {}install Cairn where the loader looks (cmake "
            "-DCMAKE_INSTALL_PREFIX=/usr), or name its folder in a file of /etc/ld.so.conf.d "
            "and run `sudo ldconfig`; then `cairn enable` again",
            kGlxLibrary,
            is_glx_installed(manifest.path)
                ? "run `sudo ldconfig` and `cairn enable` again; if that does not help, "
                : "");
    }
    return kExitOk;
}

Run define(Arguments &take) {
    auto applications = std::make_shared<Words>();
    take.values("APP", *applications, "Applications, by the names of their programs");
    take.dir();
    take.quiet();
    return [applications] {
        if (applications->empty() && !chosen_root().empty()) {
            throw Failure(kExitUsage,
                          "--dir is for `cairn enable APP`, which forgives APP the crashes that "
                          "are noted there; sessions use the directory that CAIRN_DIR names");
        }
        if (applications->empty()) return enable_session();
        switch_applications(*applications, Switch::on);
        const std::vector<Source> sources = find_sources();
        if (!find_egl().is_on() && !find_glx().is_on() &&
            std::ranges::none_of(sources, &Source::is_on)) {
            say("Your sessions do not use Cairn; `cairn enable` without APP switches it on.");
        }
        return kExitOk;
    };
}

}  // namespace

const Command enable_command = {"enable", "Use Cairn for all GL programs of your sessions", kFooter,
                                define};

}  // namespace cairn::cli
