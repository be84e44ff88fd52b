// SPDX-License-Identifier: MIT
#include "remote_settings.h"

#include <algorithm>
#include <filesystem>

#include "keys.h"
#include "os/configuration.h"
#include "os/environment.h"
#include "os/file.h"
#include "output.h"
#include "remotes/remote.h"
#include "session.h"

namespace cairn::fleet {
namespace {

using cli::Failure;
using cli::kExitFailure;
using cli::kExitUsage;
using cli::Words;

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A comment begins with a `#` at the line's beginning or behind a blank: URLs may have one, too.
std::string_view without_comment(std::string_view line) {
    for (std::size_t at = line.find('#'); at != std::string_view::npos;
         at = line.find('#', at + 1)) {
        if (at == 0 || kBlanks.find(line[at - 1]) != std::string_view::npos) {
            return line.substr(0, at);
        }
    }
    return line;
}

Words words_in(std::string_view text) {
    constexpr std::string_view kBetween = " \t,";
    Words words;
    for (;;) {
        const std::size_t begin = text.find_first_not_of(kBetween);
        if (begin == std::string_view::npos) return words;
        text.remove_prefix(begin);
        const std::size_t size = std::min(text.find_first_of(kBetween), text.size());
        words.emplace_back(text.substr(0, size));
        text.remove_prefix(size);
    }
}

// What is wrong with a value; empty: nothing.
std::string take_value(RemoteSettings &settings, std::string_view name, std::string_view value) {
    if (name == "url") {
        settings.url = value;
    } else if (name == "namespace") {
        if (!remotes::is_object_name_part(value)) return "a namespace has letters, digits, . _ -";
        settings.name_space = value;
    } else if (name == "use") {
        settings.reads = settings.writes = false;
        for (const std::string &word : words_in(value)) {
            if (word != "read" && word != "write") return "write `read`, `write` or both";
            (word == "read" ? settings.reads : settings.writes) = true;
        }
    } else if (name == "trust") {
        settings.trust = words_in(value);
        if (!std::ranges::all_of(settings.trust, cli::is_key_name))
            return "these are no keys' names";
    } else if (name == "sign") {
        if (!cli::is_key_name(value)) return "this is no key's name";
        settings.sign = value;
    } else if (name == "limit") {
        settings.limit_bytes = size_from_text(value);
        if (!settings.limit_bytes) return "write a size such as 20G";
    } else {
        return "there is no such setting; there are url, namespace, use, trust, sign and limit";
    }
    return {};
}

std::string settings_path() {
    const auto path = configuration_path();
    if (!path) throw Failure(kExitFailure, "the user has no home directory; set HOME to yours");
    return std::filesystem::path(*path).parent_path().string() + "/remotes";
}

RemoteSettings named_remote(const std::string &name, const std::vector<RemoteSettings> &known) {
    if (name.find("://") != std::string::npos) {
        RemoteSettings settings;
        settings.name = settings.url = name;
        settings.writes = true;
        return settings;
    }
    const auto found = std::ranges::find(known, name, &RemoteSettings::name);
    if (found != known.end()) return *found;
    Words names;
    for (const RemoteSettings &each : known) names.push_back(each.name);
    throw Failure(kExitUsage,
                  "there is no remote `{}` in {}{}; a URL of a folder is file:///FOLDER", name,
                  settings_path(), cli::did_you_mean(name, names));
}

bool may_be_used(const RemoteSettings &settings, RemoteUse use) {
    return use == RemoteUse::any || (use == RemoteUse::read ? settings.reads : settings.writes);
}

}  // namespace

std::vector<RemoteSettings> remotes_in(std::string_view text, const std::string &path) {
    std::vector<RemoteSettings> all;
    unsigned number = 0;
    const auto wrong = [&](std::string_view what) {
        return Failure(kExitFailure, "{}, line {}: {}", path, number, what);
    };
    while (!text.empty()) {
        ++number;
        const std::size_t size = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(without_comment(text.substr(0, size)));
        text.remove_prefix(std::min(size + 1, text.size()));
        if (line.empty()) continue;
        if (line.front() == '[') {
            const std::string_view name = trimmed(line.substr(1, line.find(']') - 1));
            if (line.back() != ']' || !cli::is_key_name(name)) {
                throw wrong("write [NAME], with letters, digits, . _ -");
            }
            if (std::ranges::find(all, name, &RemoteSettings::name) != all.end()) {
                throw wrong("there is another remote of this name above");
            }
            all.emplace_back().name = name;
            continue;
        }
        const std::size_t sign = line.find('=');
        if (sign == std::string_view::npos || all.empty())
            throw wrong("write NAME = VALUE below [NAME]");
        const std::string problem =
            take_value(all.back(), trimmed(line.substr(0, sign)), trimmed(line.substr(sign + 1)));
        if (!problem.empty()) throw wrong(problem);
    }
    for (const RemoteSettings &each : all) {
        if (each.url.empty()) throw Failure(kExitFailure, "{}: [{}] has no url", path, each.name);
    }
    return all;
}

std::vector<RemoteSettings> configured_remotes() {
    const std::string path = settings_path();
    const auto text = cli::read_user_file(path);
    if (!text) return {};
    const auto info = file_info(path);
    if (!info.ok() || (info->owner != effective_user() && info->owner != 0) ||
        info->writable_by_others) {
        throw Failure(kExitFailure,
                      "{} belongs to another user, or others may write it, so it does not count; "
                      "`chmod go-w {}` once you know that nobody has",
                      path, path);
    }
    return remotes_in(*text, path);
}

void add_remote_options(cli::Arguments &take, RemoteOptions &options, RemoteUse use) {
    take.values("--remote", options.remotes,
                "A remote of ~/.config/cairn/remotes, or a URL; default: all "
                "of the file",
                "REMOTE");
    take.value("--namespace", options.name_space, "Which project's programs there", "NAME");
    if (use != RemoteUse::any) {
        take.values("--trust", options.trust,
                    "Take only what this trusted key has signed (more than once: these keys)",
                    "KEY");
    }
    if (use == RemoteUse::write) {
        take.value("--sign", options.sign, "Sign with this key of yours (`cairn key create`)",
                   "KEY");
    }
}

std::vector<RemoteSettings> choose_remotes(const RemoteOptions &options, RemoteUse use) {
    const std::vector<RemoteSettings> known = configured_remotes();
    std::vector<RemoteSettings> chosen;
    for (const std::string &name : options.remotes) chosen.push_back(named_remote(name, known));
    if (options.remotes.empty()) {
        for (const RemoteSettings &each : known) {
            if (may_be_used(each, use)) chosen.push_back(each);
        }
    }
    if (chosen.empty()) {
        throw Failure(kExitUsage, "no remote is named: say --remote URL, or write one into {}{}",
                      settings_path(), use == RemoteUse::write ? " with `use = write`" : "");
    }
    if (options.name_space && !remotes::is_object_name_part(*options.name_space)) {
        throw Failure(kExitUsage, "--namespace `{}`: it has letters, digits, . _ -",
                      *options.name_space);
    }
    for (RemoteSettings &each : chosen) {
        if (!may_be_used(each, use)) {
            throw Failure(kExitUsage, "the remote `{}` is not to be {}; see `use` in {}", each.name,
                          use == RemoteUse::read ? "read" : "written", settings_path());
        }
        if (options.name_space) each.name_space = *options.name_space;
        if (!options.trust.empty()) each.trust = options.trust;
        if (!options.sign.empty()) each.sign = options.sign;
        if (use == RemoteUse::write && each.sign.empty()) {
            throw Failure(kExitUsage,
                          "{}: nobody takes what is not signed; say --sign KEY (`cairn key create` "
                          "makes one), or write `sign = KEY` into {}",
                          each.name, settings_path());
        }
    }
    return chosen;
}

}  // namespace cairn::fleet
