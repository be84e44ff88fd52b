// SPDX-License-Identifier: MIT
// `cairn rm`: removes caches with their directories, and single entries, also while applications
// use them.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "caches.h"
#include "command.h"
#include "os/root.h"
#include "store/formats.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(CACHE removes a cache with its directory; CACHE/KEY one of its entries, by its key in hexadecimal digits or
as many of them as tell it from the others. Applications that are running keep working; what they need
next is compiled again. `cairn clear` empties a cache and leaves its directory.

Examples:
  cairn rm gl-game-0123456789abcdef
  cairn rm gl-game-0123456789abcdef/6b65792d31
  cairn rm --application game
  cairn rm --all --yes

Exit codes: 0 removed, 1 a cache or an entry is not there or could not be removed, or the answer was no,
2 wrong usage.)";

Failure cannot_remove(const std::string &name, Error error) {
    return {kExitFailure, "cannot remove `{}`: {}", name, error_name(error)};
}

// Processes that have it open find nothing from here on, and its blocks are free. A cache that
// cannot be opened is removed all the same.
void empty(const std::string &root, const std::string &identifier) {
    try {
        const CacheHandle cache = open_cache(root, identifier, Access::read_write);
        (void)cairn_clear(cache.get());
    } catch (const Failure &) {
    }
}

std::string remove_whole(const std::string &root, const std::string &identifier) {
    const Words known = list_caches(root);
    if (std::find(known.begin(), known.end(), identifier) == known.end()) {
        throw no_such_cache(root, identifier);
    }
    const auto directory = Directory::open(root);
    if (!directory.ok()) throw cannot_remove(identifier, directory.error());
    const auto cache = directory->open_directory(identifier);
    const auto bytes = cache.ok() ? cache_bytes(cache.value()) : cache.error();
    empty(root, identifier);
    if (const Status removed = remove_cache(directory.value(), identifier); !removed.ok()) {
        throw cannot_remove(identifier, removed.error());
    }
    return fmt::format("Removed {}, gave back {}", identifier,
                       format_bytes(bytes.ok() ? bytes.value() : 0));
}

// The keys whose hexadecimal digits begin so; only the one of just these digits where there is one.
Words find_keys(const CacheHandle &cache, const std::string &identifier,
                const std::string &beginning) {
    Words found;
    for_each_entry(cache, fmt::format("list `{}`", identifier), [&](const cairn_entry &entry) {
        const std::string digits = format_key(entry.key, entry.key_size, entry.key_size);
        const bool is_whole = digits == beginning;
        if (is_whole) found.clear();
        if (digits.starts_with(beginning)) {
            found.emplace_back(static_cast<const char *>(entry.key), entry.key_size);
        }
        return !is_whole;
    });
    return found;
}

// As `cairn ls` prints it, with ".." where it goes on.
std::string digits_of(std::string text) {
    if (text.ends_with("..")) text.resize(text.size() - 2);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char digit) { return static_cast<char>(std::tolower(digit)); });
    if (text.empty() || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        throw Failure(kExitFailure,
                      "`{}` is no key: write its hexadecimal digits, as `cairn ls "
                      "CACHE` prints them",
                      text);
    }
    return text;
}

// Of hexadecimal digits; empty where one is left over.
std::string bytes_of(const std::string &digits) {
    std::string bytes;
    for (std::size_t i = 0; digits.size() % 2 == 0 && i < digits.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

std::string remove_entry(const std::string &root, const std::string &identifier,
                         const std::string &key) {
    const std::string digits = digits_of(key);
    const CacheHandle cache = open_cache(root, identifier, Access::read_write);
    const Words found = find_keys(cache, identifier, digits);
    if (found.size() > 1) {
        throw Failure(kExitFailure,
                      "{} keys of `{}` begin with {}; `cairn ls --full-keys` prints "
                      "whole keys",
                      found.size(), identifier, digits);
    }
    // Packs are not searched for beginnings: only a whole key reaches an entry that only they have.
    const std::string whole = found.empty() ? bytes_of(digits) : found.front();
    const int result =
        whole.empty() ? int{CAIRN_MISS} : cairn_remove(cache.get(), whole.data(), whole.size());
    if (result == CAIRN_MISS) {
        throw Failure(kExitFailure, "the cache `{}` has no entry {}", identifier, digits);
    }
    require_ok(cache, result, fmt::format("remove {} of `{}`", digits, identifier));
    return fmt::format("Removed {} of {}", format_key(whole.data(), whole.size(), whole.size()),
                       identifier);
}

std::string remove_named(const std::string &root, const std::string &name) {
    const Progress progress("Removing " + name);
    const size_t slash = name.find('/');
    return slash == std::string::npos
               ? remove_whole(root, name)
               : remove_entry(root, name.substr(0, slash), name.substr(slash + 1));
}

Run define(Arguments &take) {
    auto selection = std::make_shared<Selection>();
    add_selection(take, *selection, "Caches as `cairn ls` shows them, or entries, as CACHE/KEY",
                  Asks::yes);
    return [selection] {
        const int exit_code = change_selected(*selection, "remove", remove_named);
        change_selected_driver_caches(*selection, remove_driver_caches);
        return exit_code;
    };
}

}  // namespace

const Command rm_command = {"rm", "Remove caches with their directories, or entries", kFooter,
                            define};

}  // namespace cairn::cli
