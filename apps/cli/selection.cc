// SPDX-License-Identifier: MIT
#include "selection.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "caches.h"
#include "output.h"

namespace cairn::cli {
namespace {

Words caches_of(const std::string &application, const std::string &root) {
    Words identifiers;
    for (const auto &[identifier, name] : list_applications(root)) {
        if (name == application || application_name(name) == application) {
            identifiers.push_back(identifier);
        }
    }
    return identifiers;
}

Words selected(const Selection &selection, const std::string &root) {
    if (selection.all) return list_caches(root);
    if (!selection.application.empty()) return caches_of(selection.application, root);
    Words names;
    for (const std::string &name : selection.names) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

// Why nothing was selected.
std::string nothing_there(const Selection &selection, const std::string &root) {
    std::set<std::string> known;
    for (const auto &[identifier, name] : list_applications(root)) {
        known.insert(application_name(name));
    }
    if (selection.application.empty()) return fmt::format("no caches in {}", root);
    const Words names(known.begin(), known.end());
    return fmt::format("no caches of `{}` in {}{}; {}", selection.application, root,
                       did_you_mean(selection.application, names),
                       names.empty()
                           ? "there are none of any application"
                           : fmt::format("there are caches of {}", fmt::join(names, ", ")));
}

void ask_about_all(const std::string &root, const char *verb, size_t count) {
    const std::string question =
        fmt::format("{}{} all of {} in {}?", static_cast<char>(std::toupper(*verb)), verb + 1,
                    format_count(count, "cache", "caches"), root);
    if (!is_confirmed(question)) throw Failure(kExitFailure, "nothing was changed");
}

}  // namespace

void add_selection(Arguments &take, Selection &selection, const char *about_names, Asks asks) {
    take.exclusive(
        {take.values("CACHE", selection.names, about_names),
         take.value("--application", selection.application,
                    "Every program cache of an application, as `cairn ls` shows its name", "NAME"),
         take.flag("--all", selection.all, "Every cache in the directory")});
    take.dir(selection.dir);
    take.quiet(selection.quiet);
    selection.asks = asks;
    if (asks == Asks::yes) {
        take.flag("-y,--yes", selection.yes,
                  "With --all: do not ask (without a terminal nobody is asked)");
    }
}

int change_selected(const Selection &selection, const char *verb, const Change &change) {
    if (selection.names.empty() && !selection.all && selection.application.empty()) {
        throw Failure(kExitUsage, "name the cache to {} (`cairn ls` lists them), or use --all",
                      verb);
    }
    const std::string root = usable_root(selection.dir);
    const Words names = selected(selection, root);
    const bool asks = selection.asks == Asks::yes && selection.all && !selection.yes;
    if (asks && !names.empty()) ask_about_all(root, verb, names.size());
    const auto say = [&](const std::string &line) {
        if (selection.quiet == Quiet::no) print_line(line);
    };
    if (names.empty()) say(fmt::format("Nothing to {}: {}", verb, nothing_there(selection, root)));
    int exit_code = kExitOk;
    for (const std::string &name : names) {
        try {
            say(change(root, name));
        } catch (const Failure &failure) {
            complain(failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

}  // namespace cairn::cli
