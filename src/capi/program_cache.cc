// The calls of cairn_program_cache.h.
// SPDX-License-Identifier: MIT
#include "cache/program_cache.h"

#include <cairn/cairn_program_cache.h>
#include <cairn/internal/front_end.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cache/crash_memory.h"
#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "capi/cache_handle.h"

namespace cairn {
namespace {

constexpr std::uint32_t kFlags =
    CAIRN_OPEN_READ_ONLY | CAIRN_OPEN_EXISTING | CAIRN_OPEN_SYNC_ON_CLOSE | CAIRN_OPEN_COMPRESS |
    CAIRN_OPEN_NO_LAYERS | CAIRN_PROGRAM_CACHE_NO_LOADING | CAIRN_PROGRAM_CACHE_NO_RECORD;
// A caller's larger ones are read and filled as far as known.
constexpr std::size_t kOptionsSizeMin =
    offsetof(cairn_program_cache_options, limit_percent) + sizeof(std::uint32_t);
constexpr std::size_t kStatsSizeMin = sizeof(cairn_program_cache_stats);
static_assert(CAIRN_USED_KEY_SIZE_MAX == CrashMemory::kKeyMax);

constexpr std::uint32_t kPercentMax = 100;

bool is_line(std::string_view text) {
    return text.find('\n') == std::string_view::npos;
}

bool is_valid(const cairn_program_cache_options *options) {
    return options != nullptr && options->size >= kOptionsSizeMin &&
           (options->flags & ~kFlags) == 0 && options->application != nullptr &&
           valid_application(options->application) && options->identity != nullptr &&
           options->identity[0] != '\0' &&
           std::strlen(options->identity) <= CAIRN_IDENTITY_SIZE_MAX &&
           options->limit_percent <= kPercentMax &&
           (options->build == nullptr ||
            (std::strlen(options->build) <= CAIRN_IDENTITY_SIZE_MAX && is_line(options->build)));
}

ProgramCache::Options to_options(const cairn_program_cache_options &options) {
    ProgramCache::Options own;
    own.store.log = Log(options.log, options.log_user);
    own.generation.application = options.application;
    own.generation.build = options.build == nullptr ? "" : options.build;
    own.generation.identity = options.identity;
    own.store.limit_bytes = options.limit_bytes;
    const Wishes wishes = wishes_for(own.generation.application, own.store.log);
    if (options.limit_bytes == 0) {
        own.share_limit(wishes.limit_bytes, or_default(options.limit_percent, kPercentMax),
                        CAIRN_LIMIT_BYTES_DEFAULT);
    }
    own.memory_bytes = memory_bytes_of(options.memory_bytes, own.store.limit_bytes);
    own.queue_bytes = bytes_or(options.queue_bytes, CAIRN_QUEUE_BYTES_DEFAULT);
    constexpr std::uint64_t kDayNs = 24 * 3600'000'000'000u;
    constexpr std::uint32_t kUnusedDays = 30;
    const std::uint64_t days = or_default(options.unused_days, kUnusedDays);
    own.upkeep.unused_max_ns = days > UINT64_MAX / kDayNs ? UINT64_MAX : days * kDayNs;
    own.upkeep.total_bytes = or_default(options.total_bytes, CAIRN_LIMIT_BYTES_DEFAULT);
    own.store.version = options.version;
    own.store.access = access_of(options.flags);
    own.store.create = (options.flags & CAIRN_OPEN_EXISTING) != 0 ? Create::no : Create::yes;
    own.store.sync_on_close = (options.flags & CAIRN_OPEN_SYNC_ON_CLOSE) != 0;
    own.store.compress = wishes.compress.value_or((options.flags & CAIRN_OPEN_COMPRESS) != 0);
    own.store.limit_bytes = std::max<std::uint64_t>(own.store.limit_bytes, CAIRN_LIMIT_BYTES_MIN);
    own.shares = wishes.shares;
    own.ask_ms = wishes.ask_ms;
    own.records = wishes.records && (options.flags & CAIRN_PROGRAM_CACHE_NO_RECORD) == 0;
    own.with_layers = (options.flags & CAIRN_OPEN_NO_LAYERS) == 0;
    own.load = (options.flags & CAIRN_PROGRAM_CACHE_NO_LOADING) == 0;
    return own;
}

// False: a path is NULL.
bool add_paths(const cairn_program_cache_options &options, std::vector<std::string> &paths) {
    const std::size_t end =
        offsetof(cairn_program_cache_options, layer_count) + sizeof options.layer_count;
    if (options.size < end) return true;
    for (std::size_t i = 0; i < options.layer_count; ++i) {
        if (options.layers == nullptr || options.layers[i] == nullptr) return false;
        paths.emplace_back(options.layers[i]);
    }
    return true;
}

}  // namespace
}  // namespace cairn

using namespace cairn;

int cairn_program_cache_open(const cairn_program_cache_options *options, cairn_cache **cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *cache = nullptr;
        if (!is_valid(options)) return CAIRN_ERROR_INVALID_ARGUMENT;
        ProgramCache::Options own = to_options(*options);
        if (!add_paths(*options, own.layers)) return CAIRN_ERROR_INVALID_ARGUMENT;
        const int found = find_root(options->root, own.store.root);
        if (found != CAIRN_OK) return found;
        return make_handle(ProgramCache::open(own), own.store.access, cache);
    });
}

int cairn_driver_cache_open(const char *application, uint32_t flags, const char *recording,
                            char *path, size_t capacity, cairn_log_fn log, void *log_user) {
    return result_of([&]() -> int {
        std::string root;
        if (application == nullptr || !valid_application(application) || recording == nullptr ||
            path == nullptr) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (find_root(nullptr, root) != CAIRN_OK) return CAIRN_MISS;
        DriverCacheWish wish;
        wish.is_users = (flags & CAIRN_DRIVER_CACHE_OWN) != 0;
        wish.recording = recording;
        if ((flags & CAIRN_DRIVER_CACHE_LOOK) != 0) {
            if (!wants_driver_cache(root, application, wish)) return CAIRN_MISS;
            return write_text(driver_cache_path(root, application), path, capacity);
        }
        const auto found = open_driver_cache(root, application, wish, Log(log, log_user));
        return found ? write_text(found, path, capacity) : int{CAIRN_MISS};
    });
}

int cairn_driver_cache_place(const cairn_program_cache_options *options, uint64_t *placed) {
    return result_of([&]() -> int {
        if (!is_valid(options) || placed == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        const ProgramCache::Options own = to_options(*options);
        std::string root;
        const int found = find_root(options->root, root);
        if (found != CAIRN_OK) return found;
        const LayeredSubject driver =
            driver_subject(own.generation.application, describe(own.generation));
        note_driver(root, driver);
        *placed = own.with_layers ? place_driver_files(root, driver, own.layers, own.store.log) : 0;
        return CAIRN_OK;
    });
}

const char *cairn_program_cache_identifier(const cairn_cache *cache) {
    const CachePlace *place = cache == nullptr ? nullptr : cache->cache->place();
    return place == nullptr || place->is_in_memory() ? nullptr : place->identifier.c_str();
}

int cairn_get_within(cairn_cache *cache, const void *key, size_t key_size, uint32_t patience_ms,
                     cairn_blob **blob) {
    return call(cache, valid_key(key, key_size) && blob != nullptr, [&](Cache &own) -> int {
        auto found = own.get_within(bytes(key, key_size), std::uint64_t{patience_ms} * 1000);
        if (!found.ok()) return result_code(found.error());
        if (!found->has_value()) return CAIRN_LATE;
        return result_code(std::move(**found), blob);
    });
}

int cairn_use_begin(cairn_cache *cache, const void *key, size_t key_size, uint32_t *ticket) {
    if (ticket != nullptr) *ticket = Cache::kNoTicket;
    const bool is_valid = key != nullptr && key_size != 0 && ticket != nullptr;
    return call(cache, is_valid, [&](Cache &own) -> int {
        *ticket = own.begin_use(bytes(key, key_size));
        return *ticket == Cache::kNoTicket ? CAIRN_ERROR_UNSUPPORTED : CAIRN_OK;
    });
}

void cairn_use_end(cairn_cache *cache, uint32_t ticket) {
    if (cache != nullptr) cache->cache->end_use(ticket);
}

int cairn_watch_queue(cairn_cache *cache,
                      void (*told)(void *user, uint64_t entries, uint64_t bytes), void *user) {
    return call(cache, told != nullptr, [&](Cache &own) -> int {
        if (cache->is_watched.exchange(true)) return CAIRN_ERROR_INVALID_ARGUMENT;
        cache->watcher = {told, user};
        own.watch_queue(cache->watcher);
        return CAIRN_OK;
    });
}

int cairn_program_cache_stats_get(cairn_cache *cache, cairn_program_cache_stats *stats) {
    return call(cache, stats != nullptr && stats->size >= kStatsSizeMin, [&](Cache &own) -> int {
        const CacheStats all = own.stats();
        if (!all.program) return CAIRN_ERROR_UNSUPPORTED;
        const ProgramStats &now = *all.program;
        stats->memory_entries = now.memory_entries;
        stats->memory_bytes = all.memory_bytes;
        stats->memory_limit_bytes = now.memory_limit_bytes;
        stats->memory_hits = now.memory_hits;
        stats->queue_entries = now.queue.entries;
        stats->queue_bytes = now.queue.bytes;
        stats->queue_dropped = now.queue.dropped;
        stats->queue_failed = now.queue.failed;
        stats->crashes_dropped = now.crashes_dropped;
        stats->crashes_kept_out = now.crashes_kept_out;
        stats->loaded_entries = now.loaded_entries;
        stats->load_done = now.is_loaded ? 1 : 0;
        stats->start_keys = now.start_keys;
        stats->late = now.late;
        return CAIRN_OK;
    });
}
