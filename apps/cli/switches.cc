// SPDX-License-Identifier: MIT
#include "switches.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "cache/generations.h"
#include "caches.h"
#include "common/application.h"
#include "common/crash_guard.h"
#include "common/permission.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "output.h"
#include "session.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Whether a line without its comment is the header of the application's section.
bool is_header_of(std::string_view line, std::string_view application) {
    constexpr std::string_view kKind = "application";
    if (!line.starts_with('[') || !line.ends_with(']')) return false;
    const std::string_view inner = trimmed(line.substr(1, line.size() - 2));
    const size_t blank = inner.find_first_of(kBlanks);
    return blank != std::string_view::npos && inner.substr(0, blank) == kKind &&
           trimmed(inner.substr(blank)) == application;
}

// Where the application's lines are in the text.
struct Place {
    size_t header_end = std::string::npos;  // behind the last header
    size_t line = std::string::npos;        // of the setting that counts
    size_t comment = 0;                     // behind the setting, with the blanks before it
};

Place find_place(const std::string &text, const std::string &application,
                 std::string_view setting) {
    Place place;
    bool is_inside = false;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view whole(text.data() + at, end - at);
        const std::string_view code = whole.substr(0, whole.find('#'));
        const std::string_view line = trimmed(code);
        if (line.starts_with('[')) {
            is_inside = is_header_of(line, application);
            if (is_inside) place.header_end = std::min(end + 1, text.size());
        } else if (is_inside && trimmed(line.substr(0, line.find('='))) == setting) {
            place.line = at + code.find_first_not_of(kBlanks);
            place.comment = at + code.find_last_not_of(kBlanks) + 1;
        }
        at = end + 1;
    }
    return place;
}

void require_application_name(const std::string &name) {
    const auto is_known = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    };
    if (!name.empty() && name.size() <= kApplicationNameMax && !name.starts_with('.') &&
        std::ranges::all_of(name, is_known)) {
        return;
    }
    throw Failure(kExitUsage,
                  "`{}` is no application's name; it is that of the program's file, such as "
                  "`chromium` (`cairn ls` shows those with a cache)",
                  name);
}

// Whether the front ends follow this text so, whatever has crashed.
bool is_so(const std::string &text, const std::string &application, Switch to) {
    Circumstances circumstances;
    circumstances.application = application;
    const Configuration configuration(text, "", Log());
    return to == Switch::on ? permission_for(circumstances, configuration).is_served
                            : configuration.enabled(application) == std::optional(false);
}

// The application of this name, or of the cache of this name, as `cairn ls` shows it.
std::string named_application(const std::string &name, const std::string &root) {
    const auto applications = list_applications(root);
    const auto is_application = [&](const std::string &wanted) {
        return std::ranges::any_of(applications, [&](const auto &each) {
            return application_name(each.second) == wanted;
        });
    };
    const auto cache = applications.find(name);
    const std::string plain = application_name(name);
    std::string application = is_application(name)          ? name
                              : cache != applications.end() ? application_name(cache->second)
                              : is_application(plain)       ? plain
                                                            : name;
    require_application_name(application);
    if (!is_application(application)) {
        say(
            fmt::format("{}: no application of this name has a cache yet; `cairn ls` shows those "
                        "that do",
                        application));
    }
    return application;
}

// Cairn would not follow the file, and nothing would be switched.
void require_followed(const std::string &path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 022) != 0) {
        throw Failure(kExitFailure, "others may write {}, so it is not followed; `chmod go-w {}`",
                      path, path);
    }
}

void forgive(const std::string &root, const std::string &application) {
    const Status forgiven = forgive_crashes(root, application);
    if (forgiven.ok() || forgiven.error() == Error::not_found) return;
    throw Failure(kExitFailure,
                  "the crashes of {} are noted in {}/{}{}, which cannot be changed; remove it",
                  application, root, kCrashGuardPrefix, application);
}

// The text with a line for a setting in the application's section, see with_switch().
std::string with_line(const std::string &text, const std::string &application,
                      std::string_view setting, const std::string &value) {
    const std::string line = fmt::format("{} = {}", setting, value);
    const Place place = find_place(text, application, setting);
    if (place.line != std::string::npos) {
        return text.substr(0, place.line) + line + text.substr(place.comment);
    }
    const bool is_new = place.header_end == std::string::npos;
    const size_t at = is_new ? text.size() : place.header_end;
    std::string before = text.substr(0, at);
    if (!before.empty() && !before.ends_with('\n')) before += '\n';
    if (is_new) {
        if (!before.empty()) before += '\n';
        before += "[application " + application + "]\n";
    }
    return before + line + "\n" + text.substr(at);
}

// Where the file is, which may be changed.
std::string own_configuration() {
    const auto path = configuration_path();
    if (!path) throw Failure(kExitFailure, "the user has no home directory; set HOME to yours");
    if (!path_from_environment("XDG_CONFIG_HOME")) (void)own_home();
    require_own(fs::path(*path).parent_path());
    require_followed(*path);
    return *path;
}

void write_configuration(const std::string &path, const std::string &before,
                         const std::string &text) {
    constexpr size_t kConfigurationMax = 65536;
    if (text.size() > kConfigurationMax) {
        throw Failure(kExitFailure, "{} would have more than 64 KiB, and not be followed", path);
    }
    if (text != before) write_user_files({{path, text}});
}

Failure cannot_be_changed(const std::string &path) {
    return {kExitFailure, "{} is written so that it cannot be changed; edit it", path};
}

}  // namespace

std::string with_switch(const std::string &text, const std::string &application, Switch to) {
    return with_line(text, application, "enabled", to == Switch::on ? "1" : "0");
}

std::string with_limit(const std::string &text, const std::string &application,
                       std::uint64_t limit_bytes) {
    return with_line(text, application, "limit", std::to_string(limit_bytes));
}

void switch_applications(const Words &names, Switch to) {
    const std::string path = own_configuration();
    const std::string root = resolve_root();
    Words applications;
    for (const std::string &name : names) applications.push_back(named_application(name, root));
    const FolderLock lock(fs::path(path).parent_path());
    const std::string before = read_user_file(path).value_or("");
    std::string text = before;
    for (const std::string &name : applications) {
        if (is_so(text, name, to)) continue;
        text = with_switch(text, name, to);
        if (!is_so(text, name, to)) {
            throw cannot_be_changed(path);
        }
    }
    write_configuration(path, before, text);
    for (const std::string &name : applications) {
        if (to == Switch::on) forgive(root, name);
        say(fmt::format("{}: {} from its next start", name,
                        to == Switch::on ? "enabled" : "disabled"));
    }
}

void limit_application(const std::string &application, std::uint64_t limit_bytes) {
    require_application_name(application);
    if (limit_bytes < kLimitLeast) {
        throw Failure(kExitUsage, "{} is too little; an application's caches need {} at least",
                      format_bytes(limit_bytes), format_bytes(kLimitLeast));
    }
    const std::string path = own_configuration();
    const FolderLock lock(fs::path(path).parent_path());
    const std::string before = read_user_file(path).value_or("");
    const std::string text = with_limit(before, application, limit_bytes);
    if (Configuration(text, "", Log()).limit_bytes(application) != limit_bytes) {
        throw cannot_be_changed(path);
    }
    write_configuration(path, before, text);
}

}  // namespace cairn::cli
