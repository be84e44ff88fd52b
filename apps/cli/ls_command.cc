// SPDX-License-Identifier: MIT
// `cairn ls`: the caches, or the entries of one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "output.h"
#include "text.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Without CACHE: one cache per line. With CACHE: its entries, newest first: the beginning of the key,
the size of the value, what making it cost, and when it was stored.

Examples:
  cairn ls
  cairn ls egl-0123456789abcdef
  cairn ls --full-keys CACHE | sort

Exit codes: 0 listed (there may be nothing), 1 the cache does not exist or cannot be read, 2 wrong usage.)";

constexpr size_t kKeyBytesShown = 8;

struct Entry {
    std::string key;
    uint64_t value_size;
    uint64_t stored_at_ms;
    uint32_t cost_us;
    bool pinned;
};

struct Collection {
    std::vector<Entry> entries;
    size_t key_bytes_shown;
};

int collect(void *user, const cairn_entry *entry) {
    auto &collection = *static_cast<Collection *>(user);
    collection.entries.push_back(
        {format_key(entry->key, entry->key_size, collection.key_bytes_shown), entry->value_size,
         entry->stored_at_ms, entry->cost_us, (entry->flags & CAIRN_PUT_PINNED) != 0});
    return 0;
}

void list_entries(const std::string &root, const std::string &identifier, bool full_keys) {
    const CacheHandle cache = open_cache(root, identifier, Access::read);
    Collection collection = {{}, full_keys ? CAIRN_KEY_SIZE_MAX : kKeyBytesShown};
    require_ok(cache, cairn_enumerate(cache.get(), collect, &collection),
               fmt::format("list `{}`", identifier));
    auto &entries = collection.entries;
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        return std::tie(b.stored_at_ms, a.key) < std::tie(a.stored_at_ms, b.key);
    });
    for (const Entry &entry : entries) {
        print_line(fmt::format(
            "{:<18}  {:>10}  {:>9}  {}{}", entry.key, format_bytes(entry.value_size),
            entry.cost_us == 0 ? "-" : format_duration_ns(uint64_t{entry.cost_us} * 1000),
            format_time(entry.stored_at_ms), entry.pinned ? "  pinned" : ""));
    }
}

int list_all(const std::string &root) {
    int exit_code = kExitOk;
    for (const std::string &identifier : list_caches(root)) {
        try {
            const cairn_stats stats = cache_stats(open_cache(root, identifier, Access::read));
            print_line(fmt::format("{}  {}  {}  {}", identifier,
                                   format_count(stats.entries, "entry", "entries"),
                                   format_bytes(stats.disk_bytes), about_cache(root, identifier)));
        } catch (const Failure &failure) {
            complain(failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

}  // namespace

void add_ls_command(CLI::App &app, int &exit_code) {
    struct Options {
        std::string dir;
        std::string cache;
        bool full_keys = false;
    };
    CLI::App *command = app.add_subcommand("ls", "List the caches, or the entries of one");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    command->add_option("CACHE", options->cache, "Identifier of a cache, as `cairn ls` shows it")
        ->type_name("");
    command->add_flag("--full-keys", options->full_keys, "Print whole keys");
    add_dir_option(*command, options->dir);
    command->callback([options, &exit_code] {
        const std::string root = resolve_root(options->dir);
        require_usable_root(root);
        if (options->cache.empty()) {
            exit_code = list_all(root);
        } else {
            list_entries(root, options->cache, options->full_keys);
        }
    });
}

}  // namespace cairn::cli
