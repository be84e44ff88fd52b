// SPDX-License-Identifier: MIT
#include "opening.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "child.h"
#include "os/environment.h"
#include "os/file.h"
#include "text.h"

namespace cairn::dashboard {
namespace {

bool has_display() {
    return environment_variable("DISPLAY").has_value() ||
           environment_variable("WAYLAND_DISPLAY").has_value();
}

bool start_browser(const std::string &file) {
    posix_spawn_file_actions_t actions = {};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes = {};
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    const cli::Words words = {"xdg-open", file};
    pid_t child = -1;
    const int error = ::posix_spawnp(&child, "xdg-open", &actions, &attributes,
                                     cli::argument_pointers(words).data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return error == 0;
}

}  // namespace

Opening::~Opening() {
    if (!file_.empty()) (void)::unlink(file_.c_str());
}

bool Opening::open(const std::string &address, const std::string &folder) {
    if (!has_display()) return false;
    const std::string place = path_from_environment("XDG_RUNTIME_DIR").value_or(folder);
    std::string path = place + "/cairn-dashboard-XXXXXX.html";
    const UniqueFd file(::mkostemps(path.data(), 5, O_CLOEXEC));  // for the user only
    if (!file.valid()) return false;
    file_ = path;
    // The address has only letters, digits and punctuation that mean nothing here.
    const std::string text =
        "<!doctype html><meta charset=\"utf-8\"><title>Cairn</title>"
        "<meta http-equiv=\"refresh\" content=\"0; url=" +
        address + "\"><a href=\"" + address + "\">Cairn</a>\n";
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return false;
    return start_browser(path);
}

}  // namespace cairn::dashboard
