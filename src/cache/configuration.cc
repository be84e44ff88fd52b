// SPDX-License-Identifier: MIT
#include "cache/configuration.h"

#include <algorithm>

#include "os/environment.h"
#include "os/file.h"

namespace cairn {
namespace {

constexpr std::size_t kSizeMax = 65536;
constexpr const char *kVariable = "CAIRN_DEVELOPER_MODE";
constexpr std::string_view kSetting = "developer_mode";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<bool> truth(std::string_view value) {
    if (value == "1" || value == "true" || value == "yes" || value == "on") return true;
    if (value == "0" || value == "false" || value == "no" || value == "off") return false;
    return std::nullopt;
}

// The log is for people: a file must not be able to steer their terminal.
std::string printable(std::string_view text) {
    std::string line(text.substr(0, 60));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return line;
}

std::optional<std::string> read_configuration(const std::string &path, const Log &log) {
    const auto file = File::open_configuration(path);
    if (!file.ok()) {
        if (file.error() != Error::not_found) {
            log.write(Severity::warning, "cannot read %s: it is not followed", path.c_str());
        }
        return std::nullopt;
    }
    const auto info = file.value().info();
    const bool is_own = info.ok() && (info->owner == effective_user() || info->owner == 0);
    if (!is_own || info->writable_by_others || info->size_bytes > kSizeMax) {
        log.write(Severity::warning,
                  "%s is not followed: it must be yours, not writable by others (chmod go-w), and "
                  "have at most 64 KiB",
                  path.c_str());
        return std::nullopt;
    }
    std::string text(info->size_bytes, '\0');
    const auto size =
        file.value().read_at(0, {reinterpret_cast<std::byte *>(text.data()), text.size()});
    if (!size.ok()) return std::nullopt;
    text.resize(size.value());
    return text;
}

}  // namespace

std::optional<std::string> configuration_path() {
    auto home = configuration_home();
    if (home) home->append("/cairn/config");
    return home;
}

std::optional<bool> developer_mode_in(std::string_view text, const char *name, const Log &log) {
    std::optional<bool> found;
    for (unsigned number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view whole = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
        if (line.empty()) continue;
        const std::size_t equals = line.find('=');
        const bool is_known =
            equals != std::string_view::npos && trimmed(line.substr(0, equals)) == kSetting;
        const auto value = is_known ? truth(trimmed(line.substr(equals + 1))) : std::nullopt;
        if (value) {
            found = value;
        } else {
            log.write(Severity::warning, "%s:%u: `%s` is not understood; write: developer_mode = 1",
                      name, number, printable(line).c_str());
        }
    }
    return found;
}

bool is_developer_mode(const Log &log) {
    if (const auto variable = environment_variable(kVariable); variable && !variable->empty()) {
        if (const auto value = truth(*variable)) return *value;
        log.write(Severity::warning, "%s is `%s`, which is neither 1 nor 0: it counts for nothing",
                  kVariable, printable(*variable).c_str());
    }
    const auto path = configuration_path();
    const auto text = path ? read_configuration(*path, log) : std::nullopt;
    return text && developer_mode_in(*text, path->c_str(), log).value_or(false);
}

}  // namespace cairn
