// The calls of cairn_program_cache.h.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cache/limit.h"
#include "capi/cache_handle.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint32_t kFlags = CAIRN_OPEN_READ_ONLY | CAIRN_OPEN_EXISTING |
                                 CAIRN_OPEN_SYNC_ON_CLOSE | CAIRN_OPEN_COMPRESS |
                                 CAIRN_PROGRAM_CACHE_IGNORE_PRESSURE;
// As first published; a caller's larger ones are read and filled as far as known.
constexpr std::size_t kOptionsSizeMin =
    offsetof(cairn_program_cache_options, log_user) + sizeof(void *);
constexpr std::size_t kStatsSizeMin =
    offsetof(cairn_program_cache_stats, crashes_kept_out) + sizeof(std::uint64_t);
constexpr std::uint64_t kUsPerMs = 1000;

static_assert(CAIRN_USED_KEY_SIZE_MAX == CrashMemory::kKeyMax);

constexpr std::uint32_t kPercentMax = 100;

std::uint32_t percent_of(const cairn_program_cache_options &options) {
    constexpr std::size_t kWithPercent =
        offsetof(cairn_program_cache_options, limit_percent) + sizeof(std::uint32_t);
    const std::uint32_t given = options.size < kWithPercent ? 0 : options.limit_percent;
    return given == 0 ? kPercentMax : given;
}

bool is_line(std::string_view text) {
    return text.find('\n') == std::string_view::npos;
}

bool is_valid(const cairn_program_cache_options *options) {
    return options != nullptr && options->size >= kOptionsSizeMin &&
           (options->flags & ~kFlags) == 0 && options->application != nullptr &&
           valid_application(options->application) && options->identity != nullptr &&
           options->identity[0] != '\0' &&
           std::strlen(options->identity) <= CAIRN_IDENTITY_SIZE_MAX &&
           percent_of(*options) <= kPercentMax &&
           (options->build == nullptr ||
            (std::strlen(options->build) <= CAIRN_IDENTITY_SIZE_MAX && is_line(options->build)));
}

std::uint64_t or_default(std::uint64_t given, std::uint64_t otherwise) {
    return given == 0 ? otherwise : given == CAIRN_NONE ? 0 : given;
}

// A limit of the caller's own is none of the user's.
std::uint64_t set_limit(const cairn_program_cache_options &options, ProgramCache::Options &own) {
    if (options.limit_bytes != 0) return options.limit_bytes;
    own.application_bytes = configured_limit(options.application, own.store.log);
    const std::uint64_t all = own.application_bytes.value_or(CAIRN_LIMIT_BYTES_DEFAULT);
    const std::uint64_t percent = percent_of(options);
    return all / kPercentMax * percent + all % kPercentMax * percent / kPercentMax;
}

ProgramCache::Options to_options(const cairn_program_cache_options &options) {
    ProgramCache::Options own;
    own.store.log = Log(options.log, options.log_user);
    own.generation.application = options.application;
    own.generation.build = options.build == nullptr ? "" : options.build;
    own.generation.identity = options.identity;
    const std::uint64_t limit = set_limit(options, own);
    own.memory_bytes = memory_level_bytes(options.memory_bytes, limit);
    own.queue_bytes = or_default(options.queue_bytes, CAIRN_QUEUE_BYTES_DEFAULT);
    constexpr std::uint64_t kDayNs = 24 * 3600'000'000'000u;
    constexpr std::uint32_t kUnusedDays = 30;
    const std::uint32_t days = options.unused_days == 0 ? kUnusedDays : options.unused_days;
    own.upkeep.unused_max_ns = days > UINT64_MAX / kDayNs ? UINT64_MAX : days * kDayNs;
    own.upkeep.total_bytes =
        options.total_bytes == 0 ? CAIRN_LIMIT_BYTES_DEFAULT : options.total_bytes;
    own.store.version = options.version;
    own.store.access =
        (options.flags & CAIRN_OPEN_READ_ONLY) != 0 ? Access::read_only : Access::read_write;
    own.store.create = (options.flags & CAIRN_OPEN_EXISTING) != 0 ? Create::no : Create::yes;
    own.store.sync_on_close = (options.flags & CAIRN_OPEN_SYNC_ON_CLOSE) != 0;
    own.store.compress = (options.flags & CAIRN_OPEN_COMPRESS) != 0;
    own.store.limit_bytes = std::max<std::uint64_t>(limit, CAIRN_LIMIT_BYTES_MIN);
    constexpr std::size_t kWithLoading =
        offsetof(cairn_program_cache_options, load_bytes_per_second) + sizeof(std::uint64_t);
    const std::uint64_t rate = options.size < kWithLoading ? 0 : options.load_bytes_per_second;
    own.loader.bytes_per_second = or_default(rate, CAIRN_LOAD_BYTES_PER_SECOND_DEFAULT);
    own.loader.pressure.watch = (options.flags & CAIRN_PROGRAM_CACHE_IGNORE_PRESSURE) == 0;
    return own;
}

void fill_loader_stats(const LoaderStats &now, cairn_program_cache_stats &stats) {
    stats.loaded_entries = now.loaded_entries;
    stats.loaded_bytes = now.loaded_bytes;
    stats.load_left = now.left;
    stats.load_done = now.is_done ? 1 : 0;
    stats.start_keys = now.start_keys;
    stats.late = now.late;
    stats.hits_told = now.hits_told;
    stats.pressure_trims = now.trims;
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
        const int found = find_root(options->root, own.store.root);
        if (found != CAIRN_OK) return found;
        std::unique_ptr<cairn_cache> handle = make_handle();
        if (handle == nullptr) return CAIRN_ERROR_NO_MEMORY;
        handle->read_only = own.store.access == Access::read_only;
        auto opened = ProgramCache::open(own);
        if (!opened.ok()) return result_code(opened.error());
        handle->programs = std::move(opened.value());
        *cache = handle.release();
        return CAIRN_OK;
    });
}

const char *cairn_program_cache_identifier(const cairn_cache *cache) {
    if (cache == nullptr || cache->programs == nullptr) return nullptr;
    return cache->programs->identifier().c_str();
}

int cairn_get_within(cairn_cache *cache, const void *key, size_t key_size, uint32_t patience_ms,
                     cairn_blob **blob) {
    return result_of([&]() -> int {
        if (blob == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache != nullptr && cache->memory != nullptr)
            return cairn_get(cache, key, key_size, blob);
        if (cache == nullptr || !valid_key(key, key_size)) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->programs == nullptr) return CAIRN_ERROR_UNSUPPORTED;
        auto found = cache->programs->get_within(bytes(key, key_size), patience_ms * kUsPerMs);
        if (!found.ok()) return result_code(found.error());
        if (!found->has_value()) return CAIRN_LATE;
        if (!**found) return CAIRN_MISS;
        *blob = to_handle(std::move(**found));
        return CAIRN_OK;
    });
}

int cairn_flush(cairn_cache *cache, uint32_t patience_ms) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->broker != nullptr) return result_code(cache->broker->flush(patience_ms));
        if (cache->programs == nullptr) return CAIRN_OK;
        return result_code(cache->programs->flush(patience_ms * kUsPerMs));
    });
}

int cairn_use_begin(cairn_cache *cache, const void *key, size_t key_size, uint32_t *ticket) {
    return result_of([&]() -> int {
        if (ticket == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *ticket = CrashMemory::kNoTicket;
        if (cache == nullptr || key == nullptr || key_size == 0)
            return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->programs != nullptr) *ticket = cache->programs->begin_use(bytes(key, key_size));
        return *ticket == CrashMemory::kNoTicket ? CAIRN_ERROR_UNSUPPORTED : CAIRN_OK;
    });
}

void cairn_use_end(cairn_cache *cache, uint32_t ticket) {
    if (cache == nullptr || cache->programs == nullptr) return;
    cache->programs->end_use(ticket);
}

int cairn_clear_range(cairn_cache *cache, uint64_t begin_ms, uint64_t end_ms, uint64_t *removed) {
    return result_of([&]() -> int {
        if (cache == nullptr || begin_ms > end_ms) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->broker != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        if (cache->read_only) return CAIRN_ERROR_READ_ONLY;
        constexpr std::uint64_t kNsPerMs = 1'000'000;
        const std::uint64_t begin_ns = std::min(begin_ms, UINT64_MAX / kNsPerMs) * kNsPerMs;
        const std::uint64_t end_ns =
            end_ms > UINT64_MAX / kNsPerMs ? UINT64_MAX : end_ms * kNsPerMs;
        Result<std::uint64_t> done =
            cache->memory != nullptr  ? cache->memory->clear_range(begin_ns, end_ns)
            : cache->store != nullptr ? cache->store->clear_range(begin_ns, end_ns)
                                      : cache->programs->clear_range(begin_ns, end_ns);
        if (!done.ok()) return result_code(done.error());
        if (removed != nullptr) *removed = done.value();
        return CAIRN_OK;
    });
}

int cairn_program_cache_stats_get(cairn_cache *cache, cairn_program_cache_stats *stats) {
    return result_of([&]() -> int {
        if (cache == nullptr || stats == nullptr || stats->size < kStatsSizeMin) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (cache->programs == nullptr) return CAIRN_ERROR_UNSUPPORTED;
        const ProgramCacheStats now = cache->programs->own_stats();
        stats->memory_entries = now.memory_entries;
        stats->memory_bytes = now.memory_bytes;
        stats->memory_limit_bytes = now.memory_limit_bytes;
        stats->memory_hits = now.memory_hits;
        stats->queue_entries = now.queue.entries;
        stats->queue_bytes = now.queue.bytes;
        stats->queue_dropped = now.queue.dropped;
        stats->queue_failed = now.queue.failed;
        stats->crashes_dropped = now.crashes.dropped;
        stats->crashes_kept_out = now.crashes.kept_out;
        if (stats->size >= sizeof(cairn_program_cache_stats)) fill_loader_stats(now.loader, *stats);
        return CAIRN_OK;
    });
}
