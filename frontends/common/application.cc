// SPDX-License-Identifier: MIT
#include "common/application.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "common/interpreter.h"
#include "common/words.h"
#include "os/environment.h"
#include "recipe/player.h"

namespace cairn {
namespace {

constexpr std::string_view kNameless = "program";
// Each runs the next: the loader, an emulator, an interpreter.
constexpr int kInterpretersMax = 4;

bool may_be_in_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool is_temporary(std::string_view path) {
    constexpr std::string_view kFolders[] = {"/tmp/", "/var/tmp/", "/dev/shm/", "/run/user/"};
    return starts_with_any(path, kFolders);
}

// The last part of the path of a file, or of a folder that holds a program; "" where that says
// nothing.
std::string_view last_name(std::string_view path, const std::string &folder) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const std::string_view name = file_name(path);
    if (name == ".") return file_name(folder);
    return name == ".." ? "" : name;
}

// The same for what Electron runs, whose own files have common names: then that of the folder which
// they are in, but for one that the next start will not have.
std::string_view electron_program(std::string_view path, const std::string &folder) {
    constexpr std::string_view kCommon[] = {"app.asar", "app", "resources", "main.js", "index.js"};
    const size_t size = path.size();
    while (std::ranges::find(kCommon, file_name(path)) != std::end(kCommon)) {
        path = path.substr(0, path.size() - file_name(path).size());
        path.remove_suffix(path.empty() ? 0 : 1);
    }
    return path.size() < size && is_temporary(path) ? "" : last_name(path, folder);
}

// Electron's processes overwrite their arguments, but say which folder of settings they were given.
// It is the application's.
std::string_view settings_folder(std::span<const std::string> arguments) {
    constexpr std::string_view kOption = "--user-data-dir=";
    for (const std::string_view argument : arguments) {
        const size_t at = argument.find(kOption);
        if (at == std::string_view::npos) continue;
        const std::string_view value = argument.substr(at + kOption.size());
        return value.substr(0, value.find(" --"));
    }
    return "";
}

std::string_view electron_name(const ProcessStart &start, std::string_view program) {
    std::string_view name;
    if (start.has_app) {
        const std::string_view own_folder(start.file.data(), start.file.rfind('/'));
        name = is_temporary(own_folder) ? "" : file_name(own_folder);
    }
    const std::string_view settings = settings_folder(start.arguments);
    if (name.empty() && !is_temporary(settings)) name = last_name(settings, start.folder);
    if (name.empty()) name = electron_program(program, start.folder);
    return name;
}

// The program's name for people; "" where nothing tells it.
std::string program_name(const ProcessStart &start) {
    if (!start.app_image.empty()) return std::string(file_name(start.app_image));
    if (!start.called.empty()) return std::string(file_name(start.called));
    std::string name(file_name(start.file));
    std::span<const std::string> arguments = start.arguments;
    for (int i = 0; i < kInterpretersMax; ++i) {
        const Interpreter *interpreter = find_interpreter(name);
        if (interpreter == nullptr) break;
        const Interpreted next = interpreted(*interpreter, arguments);
        const std::string_view found = interpreter->is_electron
                                           ? electron_name(start, next.program)
                                           : last_name(next.program, start.folder);
        if (found.empty()) break;
        name = found;
        arguments = next.arguments;
    }
    return name;
}

std::string identifier_from(std::string name) {
    const std::string whole = name;
    name.erase(0, name.find_first_not_of('.'));
    std::ranges::replace_if(
        name, [](char c) { return !may_be_in_identifier(c); }, '_');
    if (name.empty()) return std::string(kNameless);
    if (name.size() <= kApplicationNameMax) return name;
    std::array<std::byte, 8> hash = {};
    put_le(MutableBytes(hash), 0, keyed_hash(as_bytes(whole), HashSeed{}));
    // Written so that GCC 12 does not take the strings for overlapping ones at -O3.
    std::string digits = "-";
    digits += hexadecimal(Bytes(hash).first(4));
    return name.substr(0, kApplicationNameMax - digits.size()) + digits;
}

// A library's constructors get the arguments of its program.
const std::string &remembered(int count, char **arguments) {
    static const auto *name = new std::string(
        is_player() ? identifier_from(environment_variable(recipe::kWarmVariable).value_or(""))
                    : application_of(own_start(count, arguments)));
    return *name;
}

__attribute__((constructor)) void remember_application(int count, char **arguments) {
    remembered(count, arguments);
}

}  // namespace

std::string application_of(const ProcessStart &start) {
    return identifier_from(program_name(start));
}

bool is_player() {
    static const bool is = !environment_variable(recipe::kWarmVariable).value_or("").empty();
    return is;
}

std::string application_executable() {
    return is_player() ? environment_variable(recipe::kWarmExecutableVariable).value_or("")
                       : executable_path();
}

const std::string &application_name() {
    return remembered(0, nullptr);
}

}  // namespace cairn
