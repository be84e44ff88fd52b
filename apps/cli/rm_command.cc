// SPDX-License-Identifier: MIT
// `cairn rm`: removes caches with their directories, and single entries, also while applications
// use them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "cache/generations.h"
#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "selection.h"
#include "store/root.h"
#include "store/space.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(CACHE removes a cache with its directory; CACHE/KEY one of its entries, by its key in hexadecimal digits or
as many of them as tell it from the others. Applications that are running keep working; what they need
next is compiled again. `cairn clear` empties a cache and leaves its directory.

Examples:
  cairn rm egl-game-0123456789abcdef
  cairn rm egl-game-0123456789abcdef/6b65792d31
  cairn rm --application game
  cairn rm --all --yes

Exit codes: 0 removed, 1 a cache or an entry is not there or could not be removed, or the answer was no,
2 wrong usage.)";

Failure cannot_remove(const std::string &name, Error error) {
    return {kExitFailure, fmt::format("cannot remove `{}`: {}", name, error_name(error))};
}

// Processes that have it open find nothing from here on, and its blocks are free. A cache that
// cannot be opened is removed all the same.
void empty(const std::string &root, const std::string &identifier) {
    try {
        const CacheHandle cache = open_cache(root, identifier, Access::write);
        (void)cairn_clear(cache.get());
    } catch (const Failure &) {
    }
}

std::string remove_whole(const std::string &root, const std::string &identifier) {
    const std::vector<std::string> known = list_caches(root);
    if (std::find(known.begin(), known.end(), identifier) == known.end()) {
        throw no_such_cache(root, identifier);
    }
    const auto directory = Directory::open(root);
    if (!directory.ok()) {
        throw cannot_remove(identifier, directory.error());
    }
    const auto cache = directory->open_directory(identifier);
    const auto use = cache.ok() ? measure_disk_use(cache.value()) : Result<DiskUse>(cache.error());
    empty(root, identifier);
    if (const Status removed = remove_cache(directory.value(), identifier); !removed.ok()) {
        throw cannot_remove(identifier, removed.error());
    }
    return fmt::format("Removed {}, gave back {}", identifier,
                       format_bytes(use.ok() ? use->bytes : 0));
}

struct Search {
    std::string digits;
    size_t found = 0;
    std::string key;  // the whole one, or the last one found
    bool is_whole = false;
};

int look_at_key(void *user, const cairn_entry *entry) {
    auto &search = *static_cast<Search *>(user);
    const std::string digits = format_key(entry->key, entry->key_size, entry->key_size);
    if (!digits.starts_with(search.digits)) {
        return 0;
    }
    ++search.found;
    search.key.assign(static_cast<const char *>(entry->key), entry->key_size);
    search.is_whole = digits.size() == search.digits.size();
    return search.is_whole ? 1 : 0;
}

// As `cairn ls` prints it, with ".." where it goes on.
std::string digits_of(std::string text) {
    if (text.ends_with("..")) {
        text.resize(text.size() - 2);
    }
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char digit) { return static_cast<char>(std::tolower(digit)); });
    if (text.empty() || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw Failure(kExitFailure,
                      fmt::format("`{}` is no key: write its hexadecimal digits, as `cairn ls "
                                  "CACHE` prints them",
                                  text));
    }
    return text;
}

std::string remove_entry(const std::string &root, const std::string &identifier,
                         const std::string &key) {
    Search search;
    search.digits = digits_of(key);
    const CacheHandle cache = open_cache(root, identifier, Access::write);
    require_ok(cache, cairn_enumerate(cache.get(), look_at_key, &search),
               fmt::format("list `{}`", identifier));
    if (search.found > 1 && !search.is_whole) {
        throw Failure(kExitFailure,
                      fmt::format("{} keys of `{}` begin with {}; `cairn ls --full-keys` prints "
                                  "whole keys",
                                  search.found, identifier, search.digits));
    }
    const int result = search.found == 0
                           ? int{CAIRN_MISS}
                           : cairn_remove(cache.get(), search.key.data(), search.key.size());
    if (result == CAIRN_MISS) {
        throw Failure(kExitFailure,
                      fmt::format("the cache `{}` has no entry {}", identifier, search.digits));
    }
    require_ok(cache, result, fmt::format("remove {} of `{}`", search.digits, identifier));
    return fmt::format("Removed {} of {}",
                       format_key(search.key.data(), search.key.size(), search.key.size()),
                       identifier);
}

std::string remove_named(const std::string &root, const std::string &name, Quiet quiet) {
    const Progress progress("Removing " + name, quiet);
    const size_t slash = name.find('/');
    return slash == std::string::npos
               ? remove_whole(root, name)
               : remove_entry(root, name.substr(0, slash), name.substr(slash + 1));
}

}  // namespace

void add_rm_command(CLI::App &app, int &exit_code) {
    CLI::App *command =
        app.add_subcommand("rm", "Remove caches with their directories, or entries");
    auto selection = std::make_shared<Selection>();
    command->footer(kFooter);
    add_selection(*command, *selection,
                  "Caches as `cairn ls` shows them, or entries, as CACHE/KEY");
    add_yes_option(*command, *selection);
    command->callback([selection, &exit_code] {
        exit_code =
            change_selected(*selection, {"remove", Change::Asks::about_all,
                                         [&](const std::string &root, const std::string &name) {
                                             return remove_named(root, name, selection->quiet);
                                         }});
    });
}

}  // namespace cairn::cli
