// SPDX-License-Identifier: MIT
#include "opening.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/environment.h"
#include "os/file.h"
#include "spawning.h"

namespace cairn::dashboard {
namespace {

bool has_display() {
    return environment_variable("DISPLAY").has_value() ||
           environment_variable("WAYLAND_DISPLAY").has_value();
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
    pid_t browser = -1;
    return start_program("xdg-open", {"xdg-open", path}, -1, browser) == 0;
}

}  // namespace cairn::dashboard
