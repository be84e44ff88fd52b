// SPDX-License-Identifier: MIT
// What stands between this process and the machine: sandboxes, containers, and devices out of reach.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/words.h"
#include "doctor/checks.h"
#include "os/environment.h"
#include "output.h"

namespace cairn::cli::doctor {
namespace {

namespace fs = std::filesystem;

bool is_set(const char *variable) {
    return !environment_variable(variable).value_or("").empty();
}

void check_sandboxes(const Machine &machine, Findings &findings) {
    if (machine.has("/.flatpak-info")) {
        findings.add(Id::flatpak, "this is a sandbox of Flatpak's",
                     "flatpak override --user, with the options of docs/cli.md (Flatpak), outside");
    }
    if (is_set("SNAP") && is_set("SNAP_NAME")) {
        findings.add(
            Id::snap,
            fmt::format("this is the snap {}", environment_variable("SNAP_NAME").value_or("")),
            "use the program's Debian package, or its Flatpak with an override");
    }
    if (machine.has("/run/pressure-vessel") || machine.has("/run/host/container-manager")) {
        findings.add(Id::other_tree, "this is a container of Steam's or the like, by bubblewrap",
                     "put `cairn run -- %command%` into the game's launch options, outside");
    } else if (machine.text_of("/proc/1/comm") == "bwrap\n") {
        findings.add(Id::other_tree, "this is a sandbox by bubblewrap",
                     "let it show Cairn's folders and caches: --ro-bind, --bind");
    }
}

void check_containers(const Machine &machine, Findings &findings) {
    std::string kind = machine.text_of("/run/systemd/container");
    if (machine.has("/.dockerenv")) kind = "docker";
    if (machine.has("/run/.containerenv")) kind = "podman";
    if (kind.empty()) kind = environment_variable("container").value_or("");
    kind = kind.substr(0, kind.find('\n'));
    if (kind.empty() || machine.has("/.flatpak-info")) return;
    findings.add(
        Id::container, fmt::format("this is a container ({})", kind),
        "--volume CACHES:/root/.cache/cairn keeps them, --device /dev/dri gives it the GPU; "
        "or ship a pack in /usr/share/cairn/packs");
}

void check_kernel(const Machine &machine, Findings &findings) {
    const std::string status = machine.text_of("/proc/self/status");
    if (status.empty()) {
        findings.add(Id::no_proc, "/proc cannot be read", "mount -t proc proc /proc");
    }
    if (status.find("\nSeccomp:\t2") != std::string::npos) {
        findings.add(Id::seccomp, "a filter of system calls holds for this process", "");
    }
    struct Switch {
        const char *file;
        const char *off;  // its text
    };
    for (const Switch &each :
         {Switch{"/proc/sys/user/max_user_namespaces", "0"},
          Switch{"/proc/sys/kernel/unprivileged_userns_clone", "0"},
          Switch{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"}}) {
        std::string text = machine.text_of(each.file);
        text = text.substr(0, text.find('\n'));
        if (text != each.off) continue;
        findings.add(Id::no_user_namespaces,
                     fmt::format("{} is {}: users may make no namespaces", each.file, text),
                     "only where you use cairnd: sudo sysctl, for that name");
        break;
    }
    const std::string release = machine.text_of("/proc/sys/kernel/osrelease");
    if (release.find("icrosoft") != std::string::npos) {
        findings.add(Id::wsl, "this is the Windows Subsystem for Linux",
                     "keep caches in Linux's own file system, not below /mnt");
    }
}

void check_home(const Examined &examined, Findings &findings) {
    const auto home = home_directory();
    const auto disk = home ? examined.machine.disk_of(*home) : std::nullopt;
    if (!disk || !disk->is_read_only) return;
    findings.add(Id::read_only_home, fmt::format("{} is on a file system that is read-only", *home),
                 "set CAIRN_DIR to a folder that you may write");
}

bool begins(const std::string &name, const char *beginning) {
    return name.starts_with(beginning);
}

// Names in a folder of the system that begin so.
Words names_in(const Machine &machine, const std::string &folder, const char *beginning) {
    Words names;
    std::error_code error;
    for (fs::directory_iterator entry(machine.at(folder), error), end; !error && entry != end;
         entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (begins(name, beginning) && names.size() < 64) names.push_back(std::move(name));
    }
    return names;
}

std::string group_of(const std::string &device) {
    struct stat status = {};
    if (::stat(device.c_str(), &status) != 0) return "render";
    const struct group *group = ::getgrgid(status.st_gid);
    return group == nullptr ? std::to_string(status.st_gid) : group->gr_name;
}

void check_devices(const Machine &machine, Findings &findings) {
    const Words nodes = names_in(machine, "/dev/dri", "renderD");
    bool may_use = machine.has("/dev/nvidiactl") || machine.has("/dev/dxg") ||
                   machine.has("/dev/mali0") || machine.has("/dev/kgsl-3d0");
    std::string denied;
    for (const std::string &node : nodes) {
        const std::string path = machine.at("/dev/dri/" + node);
        const bool is_open = ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
        may_use = may_use || is_open;
        if (!is_open) denied = path;
    }
    if (may_use) return;
    if (!denied.empty()) {
        findings.add(
            Id::device_denied, fmt::format("{} may not be opened by you", denied),
            fmt::format("sudo usermod -aG {} \"$USER\", and log in again", group_of(denied)));
    } else if (!names_in(machine, "/sys/class/drm", "renderD").empty()) {
        findings.add(Id::no_device, "the machine has a GPU, and there is no /dev/dri/renderD* here",
                     "give the container the device: --device /dev/dri");
    } else {
        findings.add(Id::no_gpu, "there is no device of a GPU", "");
    }
}

}  // namespace

void check_sandbox(const Examined &examined, Findings &findings) {
    check_sandboxes(examined.machine, findings);
    check_containers(examined.machine, findings);
    check_kernel(examined.machine, findings);
    check_home(examined, findings);
    check_devices(examined.machine, findings);
}

}  // namespace cairn::cli::doctor
