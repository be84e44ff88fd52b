// SPDX-License-Identifier: MIT
#include "os/configuration.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "os/environment.h"
#include "os/file.h"

namespace cairn {
namespace {

constexpr std::size_t kSizeMax = 65536;
constexpr const char *kVariable = "CAIRN_DEVELOPER_MODE";
constexpr std::string_view kDeveloperMode = "developer_mode";
constexpr std::string_view kLimit = "limit";
constexpr std::string_view kEnabled = "enabled";
constexpr std::string_view kCompress = "compress";
constexpr std::string_view kLog = "log";
constexpr std::string_view kRecord = "record";
constexpr std::string_view kRecipes = "recipes";
constexpr std::string_view kDriverCache = "driver_cache";
constexpr std::string_view kShare = "share";
constexpr std::string_view kAsk = "ask_ms";
constexpr std::string_view kShared = "shared";
constexpr std::string_view kApplication = "application ";
constexpr std::string_view kD3d12 = "d3d12 ";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// 1 or 0.
std::optional<std::uint64_t> truth(std::string_view value) {
    if (value == "1" || value == "true" || value == "yes" || value == "on") return 1;
    if (value == "0" || value == "false" || value == "no" || value == "off") return 0;
    return std::nullopt;
}

std::optional<std::uint64_t> milliseconds(std::string_view text) {
    std::uint64_t number = 0;
    const char *const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    const bool is_one = read.ec == std::errc() && read.ptr == end;
    return is_one && number <= Configuration::kAskMsMax ? std::optional(number) : std::nullopt;
}

std::optional<bool> as_truth(std::optional<std::uint64_t> value) {
    return value ? std::optional<bool>(*value != 0) : std::nullopt;
}

// All settings: their sections, their names, and how their values are read.
struct Known {
    std::string_view section;  // its first word, with the space behind it
    std::string_view name;
    std::optional<std::uint64_t> (*value)(std::string_view text);
};
constexpr Known kKnown[] = {{"", kDeveloperMode, truth},
                            {"", kLimit, size_from_text},
                            {"", kEnabled, truth},
                            {"", kCompress, truth},
                            {"", kLog, truth},
                            {"", kRecord, truth},
                            {"", kRecipes, truth},
                            {"", kDriverCache, truth},
                            {"", kShare, truth},
                            {"", kAsk, milliseconds},
                            {kApplication, kLimit, size_from_text},
                            {kApplication, kEnabled, truth},
                            {kApplication, kCompress, truth},
                            {kApplication, kLog, truth},
                            {kApplication, kRecord, truth},
                            {kApplication, kRecipes, truth},
                            {kApplication, kDriverCache, truth},
                            {kApplication, kShare, truth},
                            {kApplication, kAsk, milliseconds},
                            {kD3d12, kShared, truth}};

const Known *known_setting(std::string_view section, std::string_view name) {
    const std::string_view first = section.substr(0, section.find(' ') + 1);  // "" without a blank
    const auto *found = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known &known) {
        return known.section == first && known.name == name;
    });
    return found == std::end(kKnown) ? nullptr : found;
}

bool is_known_elsewhere(std::string_view name) {
    return std::ranges::any_of(kKnown, [&](const Known &known) { return known.name == name; });
}

// "application NAME" as it is written, and "d3d12 GUID" as is_d3d12_shared wants it; nullopt: there
// is no such section.
std::optional<std::string> section_name(std::string_view header) {
    const std::size_t blank = header.find_first_of(" \t");
    if (blank == std::string_view::npos) return std::nullopt;
    std::string name(header.substr(0, blank));
    std::string_view argument = trimmed(header.substr(blank));
    name.push_back(' ');
    if (name == kApplication) return name.append(argument);
    if (name != kD3d12) return std::nullopt;
    if (argument.starts_with('{') && argument.ends_with('}')) {
        argument = argument.substr(1, argument.size() - 2);
    }
    for (const char c : argument) {
        name.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return name;
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
    std::string text(static_cast<std::size_t>(info->size_bytes), '\0');
    const auto size =
        file.value().read_at(0, {reinterpret_cast<std::byte *>(text.data()), text.size()});
    if (!size.ok()) return std::nullopt;
    text.resize(size.value());
    return text;
}

}  // namespace

std::optional<std::string> configuration_path() {
    auto home = xdg_directory("XDG_CONFIG_HOME", "/.config");
    if (home) home->append("/cairn/config");
    return home;
}

std::optional<std::uint64_t> size_from_text(std::string_view text) {
    constexpr std::string_view kUnits = "KMGT";
    double number = 0;
    const char *end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (read.ec != std::errc() || !(number >= 0)) return std::nullopt;
    std::string_view unit = trimmed({read.ptr, static_cast<std::size_t>(end - read.ptr)});
    if (!unit.empty()) {
        const char letter = unit[0] >= 'a' ? static_cast<char>(unit[0] - 'a' + 'A') : unit[0];
        const std::size_t power = kUnits.find(letter);
        if (power != std::string_view::npos) {
            number = std::ldexp(number, 10 * (static_cast<int>(power) + 1));
            unit.remove_prefix(1);
            if (unit.starts_with('i')) unit.remove_prefix(1);
        }
        if (!unit.empty() && unit != "B") return std::nullopt;
    }
    constexpr double kMax = 18446744073709551616.0;  // 2^64
    if (!(number < kMax)) return std::nullopt;
    return static_cast<std::uint64_t>(number);
}

Configuration::Configuration(std::string_view text, const char *name, const Log &log) {
    std::string section;
    for (unsigned number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view whole = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
        const char *problem = line.empty() ? nullptr : take_line(line, section);
        if (problem == nullptr) continue;
        log.write(Severity::warning, "%s:%u: `%s`: %s", name, number, printable(line).c_str(),
                  problem);
    }
}

// What is wrong with it; null: nothing. Lines below a section that is not understood count for
// nothing.
const char *Configuration::take_line(std::string_view line, std::string &section) {
    constexpr const char *kUnknownSection = "? ";
    if (line.starts_with('[')) {
        const auto found = line.ends_with(']')
                               ? section_name(trimmed(line.substr(1, line.size() - 2)))
                               : std::nullopt;
        section = found.value_or(kUnknownSection);
        return found ? nullptr
                     : "there is no such section; write [application NAME] or [d3d12 GUID]";
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return "a line is NAME = VALUE or [SECTION]";
    const std::string_view name = trimmed(line.substr(0, equals));
    const Known *known = known_setting(section, name);
    if (known == nullptr) {
        return section == kUnknownSection ? "it stands below a section that is not known"
               : is_known_elsewhere(name) ? "it does not belong into this section"
                                          : "there is no setting of this name";
    }
    const auto value = known->value(trimmed(line.substr(equals + 1)));
    if (!value) {
        return known->value == truth          ? "the value is 1 or 0"
               : known->value == milliseconds ? "the value is a number from 0 to 1000"
                                              : "the value is a size, such as 4G";
    }
    settings_.push_back({section, known->name, *value});
    return nullptr;
}

Configuration Configuration::read(const Log &log) {
    const auto path = configuration_path();
    const auto text = path ? read_configuration(*path, log) : std::nullopt;
    return text ? Configuration(*text, path->c_str(), log) : Configuration();
}

std::optional<std::uint64_t> Configuration::find(std::string_view section,
                                                 std::string_view name) const {
    const auto found = std::find_if(settings_.rbegin(), settings_.rend(), [&](const Setting &it) {
        return it.section == section && it.name == name;
    });
    return found == settings_.rend() ? std::nullopt : std::optional<std::uint64_t>(found->value);
}

bool Configuration::developer_mode() const {
    return find("", kDeveloperMode).value_or(0) != 0;
}

std::optional<std::uint64_t> Configuration::find_of(std::string_view application,
                                                    std::string_view name) const {
    const auto own = find(std::string(kApplication).append(application), name);
    return own ? own : find("", name);
}

std::optional<bool> Configuration::enabled() const {
    return as_truth(find("", kEnabled));
}

std::optional<bool> Configuration::enabled(std::string_view application) const {
    return as_truth(find(std::string(kApplication).append(application), kEnabled));
}

std::vector<std::string> Configuration::applications() const {
    std::vector<std::string> names;
    for (const Setting &setting : settings_) {
        if (!setting.section.starts_with(kApplication)) continue;
        std::string name = setting.section.substr(kApplication.size());
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

std::vector<std::string> Configuration::disabled_applications() const {
    std::vector<std::string> names = applications();
    std::erase_if(names, [&](const std::string &name) { return enabled(name).value_or(true); });
    return names;
}

std::optional<bool> Configuration::compress(std::string_view application) const {
    return as_truth(find_of(application, kCompress));
}

std::optional<bool> Configuration::driver_cache(std::string_view application) const {
    return as_truth(find_of(application, kDriverCache));
}

std::optional<bool> Configuration::record(std::string_view application) const {
    return as_truth(find_of(application, kRecord));
}

std::optional<bool> Configuration::recipes(std::string_view application) const {
    return as_truth(find_of(application, kRecipes));
}

std::optional<bool> Configuration::share(std::string_view application) const {
    return as_truth(find_of(application, kShare));
}

std::optional<bool> Configuration::log(std::string_view application) const {
    return as_truth(find_of(application, kLog));
}

std::optional<std::uint64_t> Configuration::ask_ms(std::string_view application) const {
    return find_of(application, kAsk);
}

std::optional<std::uint64_t> Configuration::limit_bytes(std::string_view application) const {
    return find_of(application, kLimit);
}

bool Configuration::is_d3d12_shared(std::string_view guid) const {
    return find(std::string(kD3d12).append(guid), kShared).value_or(0) != 0;
}

bool is_developer_mode(const Log &log) {
    if (const auto variable = environment_variable(kVariable); variable && !variable->empty()) {
        if (const auto value = truth(*variable)) return *value != 0;
        log.write(Severity::warning, "%s is `%s`, which is neither 1 nor 0: it counts for nothing",
                  kVariable, printable(*variable).c_str());
    }
    return Configuration::read(log).developer_mode();
}

}  // namespace cairn
