// SPDX-License-Identifier: MIT
#include "common/process_start.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>

#include "os/environment.h"
#include "os/file.h"

namespace cairn {
namespace {

constexpr const char *kExecutable = "/proc/self/exe";

std::string without_links(const std::string &path) {
    std::array<char, PATH_MAX> found = {};
    return realpath(path.c_str(), found.data()) == nullptr ? path : std::string(found.data());
}

// The path that was executed. "" where it is only a way to say "this one again".
std::string executed_path() {
    const auto *path = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
    const std::string_view text = path == nullptr ? "" : path;
    return text.starts_with("/proc/") || text.starts_with("/dev/fd/") ? "" : std::string(text);
}

// Where the system executed a script, or what binfmt_misc describes, it says so. The executable's
// own path leads to another file, too, once it was replaced, but to one of the same name.
bool is_another_file(const std::string &path, const std::string &executable) {
    const auto executed = file_info(path);
    const auto running = file_info(kExecutable);
    return executed.ok() && running.ok() &&
           (executed->inode != running->inode || executed->device != running->device) &&
           file_name(without_links(path)) != file_name(executable);
}

// Programs that an AppImage starts have its variables, also programs outside of it.
std::string app_image_of(const std::string &file) {
    const std::string image = environment_variable("APPIMAGE").value_or("");
    const std::string mount = environment_variable("APPDIR").value_or("");
    const bool is_inside = mount.size() > 1 && file.starts_with(without_links(mount) + "/");
    return is_inside ? image : "";
}

// An executable of Electron's own name runs the application beside it.
bool has_app_beside(const std::string &file) {
    const std::string path = file.substr(0, file.rfind('/') + 1) + "resources/app";
    return file_name(file).starts_with("electron") &&
           (file_info(path).ok() || file_info(path + ".asar").ok());
}

// How many of the arguments are where the system put them: between the list and the path that was
// executed, in one piece of memory. A program may have put other texts in their place, and freed
// them.
int count_in_place(int count, char **arguments) {
    const auto begin = reinterpret_cast<std::uintptr_t>(arguments);
    const std::uintptr_t end = getauxval(AT_EXECFN);
    int found = 0;
    for (; found < count && arguments[found] != nullptr; ++found) {
        const auto place = reinterpret_cast<std::uintptr_t>(arguments[found]);
        if (place <= begin || place >= end) break;
    }
    return found;
}

}  // namespace

std::string_view file_name(std::string_view path) {
    return path.substr(path.find_last_of("/\\") + 1);
}

std::vector<std::string> arguments_in_place(int count, char **arguments) {
    std::vector<std::string> found;
    const char *end = nullptr;
    for (int i = 0; i < count && arguments[i] != nullptr; ++i) {
        const char *argument = arguments[i];
        while (end != nullptr && end < argument && *end == '\0') ++end;
        if (end != nullptr && argument != end) break;
        found.emplace_back(argument);
        end = argument + found.back().size() + 1;
    }
    return found;
}

ProcessStart own_start(int count, char **arguments) {
    ProcessStart start;
    start.arguments = arguments_in_place(count_in_place(count, arguments), arguments);
    start.file = executable_path();
    const std::string executed = executed_path();
    if (start.file.empty()) {
        start.file = without_links(executed);
    } else if (!executed.empty() && is_another_file(executed, start.file)) {
        start.called = executed;
    }
    start.folder = working_directory();
    start.app_image = app_image_of(start.file);
    start.has_app = has_app_beside(start.file);
    return start;
}

}  // namespace cairn
