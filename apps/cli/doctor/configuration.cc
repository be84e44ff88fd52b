// SPDX-License-Identifier: MIT
// Whether the user's configuration is followed, and keeps Cairn from what it could do.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "doctor/checks.h"
#include "output.h"
#include "text.h"

namespace cairn::cli::doctor {
namespace {

constexpr uint64_t kLimitSmall = 32u << 20;

// Lines of the file are named by `PATH:NUMBER:`.
bool is_about_a_line(const std::string &path, const std::string &line) {
    return line.starts_with(path + ":");
}

// Another user's settings are not to be taken over unread, and nothing that somebody wrote is lost.
std::string mend_refused(const std::string &path) {
    const std::string word = shell_word(path);
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return fmt::format("ls -ld {}", word);
    const bool is_own = status.st_uid == ::geteuid();
    if (!S_ISREG(status.st_mode) || !is_own) return fmt::format("mv {0} {0}.other", word);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return fmt::format("chmod go-w {}", word);
    if ((status.st_mode & S_IRUSR) == 0) return fmt::format("chmod u+r {}", word);
    return fmt::format("write at most 64 KiB into {}", path);
}

void check_lines(const Examined &examined, Findings &findings) {
    const std::string path = configuration_path().value_or("");
    for (const std::string &line : examined.configuration_lines) {
        if (is_about_a_line(path, line)) {
            findings.add(Id::config_mistake, line, fmt::format("edit {}", path));
        } else {
            findings.add(Id::config_refused, line, mend_refused(path));
        }
    }
}

// Whether the file allows some application by its own section.
bool allows_some(const Configuration &configuration) {
    const Words names = configuration.applications();
    return std::ranges::any_of(names, [&](const std::string &name) {
        return configuration.enabled(name).value_or(false);
    });
}

}  // namespace

void check_configuration(const Examined &examined, Findings &findings) {
    check_lines(examined, findings);
    const std::string path = configuration_path().value_or("");
    const Configuration &configuration = examined.configuration;
    if (configuration.enabled() == std::optional(false)) {
        if (allows_some(configuration)) {
            findings.add(Id::only_allowed,
                         fmt::format("{} says `enabled = 0` for all but some", path),
                         "cairn enable APP, for each that is to be served");
        } else {
            findings.add(Id::all_off, fmt::format("{} says `enabled = 0` for all", path),
                         fmt::format("take that line out of {}, or run `cairn enable APP` for one "
                                     "application",
                                     path));
        }
    }
    if (configuration.record("") == std::optional(false)) {
        findings.add(Id::record_off, fmt::format("{} says `record = 0`", path),
                     fmt::format("take that line out of {}, if you want to know", path));
    }
    for (const std::string &application : {std::string(), examined.name}) {
        const auto limit = configuration.limit_bytes(application);
        if (!limit || *limit >= kLimitSmall || findings.has(Id::limit_small)) continue;
        findings.add(Id::limit_small,
                     fmt::format("{} says `limit = {}`, which is little for programs of a game or "
                                 "a browser",
                                 path, format_bytes(*limit)),
                     fmt::format("write a larger one into {}, such as 1G", path));
    }
}

}  // namespace cairn::cli::doctor
