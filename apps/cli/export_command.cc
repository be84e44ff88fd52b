// SPDX-License-Identifier: MIT
// `cairn export`: writes a cache's programs to a file, for shipping.
#include <cairn/cairn_egl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "text.h"
#include "warm_set.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(The programs of one driver, as the EGL front end keeps them, with their keys: what
eglProgramCachePopulateANGLE takes. Only this very driver, in this version and configuration, can use
them. An older FILE is replaced.

Examples:
  cairn export egl-0123456789abcdef warm.set
  cairn import warm.set                      on another machine, or after `cairn clear`

Exit codes: 0 written, 1 there is no such cache, it has no programs, or FILE cannot be written, 2 wrong usage.)";

struct Collection {
    cairn_cache *cache;
    WarmSet set;
};

// Shaders and blobs of drivers have other keys, or are no whole entries.
int collect(void *user, const cairn_entry *found) {
    auto &collection = *static_cast<Collection *>(user);
    WarmEntry entry;
    cairn_blob *blob = nullptr;
    if (found->key_size != entry.key.size() ||
        cairn_get(collection.cache, found->key, found->key_size, &blob) != CAIRN_OK) {
        return 0;
    }
    const auto *key = static_cast<const uint8_t *>(found->key);
    std::copy_n(key, entry.key.size(), entry.key.begin());
    entry.cost_us = cairn_blob_cost_us(blob);
    entry.binary.assign(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
    cairn_blob_free(blob);
    if (cairn_egl_check_entry(key, entry.key.size(), entry.binary.data(), entry.binary.size()) ==
        CAIRN_OK) {
        collection.set.entries.push_back(std::move(entry));
    }
    return 0;
}

// Nobody finds half a file: it gets its name when it is whole.
void write_whole(const std::string &path, const std::string &bytes) {
    const std::string unfinished = path + ".part";
    FILE *file = std::fopen(unfinished.c_str(), "wb");
    if (file == nullptr) {
        throw Failure(kExitFailure, fmt::format("cannot write {}: {}", printable_line(unfinished),
                                                error_text(errno)));
    }
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const bool closed = std::fclose(file) == 0;
    if (!written || !closed || std::rename(unfinished.c_str(), path.c_str()) != 0) {
        const int error = errno;
        std::remove(unfinished.c_str());
        throw Failure(kExitFailure,
                      fmt::format("cannot write {}: {}", printable_line(path), error_text(error)));
    }
}

void export_cache(const std::string &root, const std::string &identifier, const std::string &path) {
    const CacheHandle cache = open_cache(root, identifier, Access::read);
    Collection collection = {cache.get(), {}};
    WarmSet &set = collection.set;
    set.identifier = identifier;
    set.version = cache_stats(cache).version;
    set.about = about_text(root, identifier);
    require_ok(cache, cairn_enumerate(cache.get(), collect, &collection),
               fmt::format("read `{}`", identifier));
    if (set.entries.empty()) {
        throw Failure(kExitFailure, fmt::format("the cache `{}` has no programs", identifier));
    }
    const std::string bytes = encode_warm_set(set);
    if (bytes.size() > kWarmSetSizeMax) {
        throw Failure(kExitFailure, "the programs are more than a file may hold (2 GiB)");
    }
    write_whole(path, bytes);
    fmt::print("Exported {} ({}) to {}\n", format_count(set.entries.size(), "program", "programs"),
               format_bytes(bytes.size()), printable_line(path));
}

}  // namespace

void add_export_command(CLI::App &app) {
    struct Options {
        std::string dir;
        std::string cache;
        std::string file;
    };
    CLI::App *command = app.add_subcommand("export", "Write a cache's programs to a file");
    auto options = std::make_shared<Options>();
    command->footer(kFooter);
    command->add_option("CACHE", options->cache, "Identifier of a cache, as `cairn ls` shows it")
        ->type_name("")
        ->required();
    command->add_option("FILE", options->file, "The file to write")->type_name("")->required();
    add_dir_option(*command, options->dir);
    command->callback([options] {
        const std::string root = resolve_root(options->dir);
        require_usable_root(root);
        export_cache(root, options->cache, options->file);
    });
}

}  // namespace cairn::cli
