// The calls of cairn.h on caches: arguments are checked here, and only here.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <cairn/internal/front_end.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "cache/agent_notice.h"
#include "cache/asking_cache.h"
#include "cache/disk_cache.h"
#include "cache/generations.h"
#include "cache/layered_cache.h"
#include "cache/memory_cache.h"
#include "capi/cache_handle.h"
#include "os/environment.h"

namespace cairn {

int result_code(Error error) {
    switch (error) {
        case Error::none:
            return CAIRN_OK;
        case Error::invalid_argument:
            return CAIRN_ERROR_INVALID_ARGUMENT;
        case Error::not_found:
            return CAIRN_ERROR_NOT_FOUND;
        case Error::no_memory:
            return CAIRN_ERROR_NO_MEMORY;
        case Error::no_space:
            return CAIRN_ERROR_NO_SPACE;
        case Error::full:
            return CAIRN_ERROR_FULL;
        case Error::too_large:
            return CAIRN_ERROR_TOO_LARGE;
        case Error::denied:
            return CAIRN_ERROR_DENIED;
        case Error::read_only:
            return CAIRN_ERROR_READ_ONLY;
        case Error::busy:
            return CAIRN_ERROR_BUSY;
        case Error::unsupported:
            return CAIRN_ERROR_UNSUPPORTED;
        case Error::exists:  // handled where it can occur
        case Error::corrupt:
        case Error::io:
            break;
    }
    return CAIRN_ERROR_IO;
}

int result_code(PutOutcome outcome) {
    switch (outcome) {
        case PutOutcome::stored:
            return CAIRN_OK;
        case PutOutcome::exists:
            return CAIRN_EXISTS;
        case PutOutcome::kept_out:
            return CAIRN_KEPT_OUT;
    }
    return CAIRN_ERROR_IO;
}

int find_root(const char *given, std::string &root) {
    if (given != nullptr) {
        root = given;
    } else if (auto found = default_root()) {
        root = *found;
    } else {
        return CAIRN_ERROR_DENIED;
    }
    // With a slash at its end, a symbolic link would be followed.
    while (root.size() > 1 && root.back() == '/') root.pop_back();
    return root.empty() ? CAIRN_ERROR_INVALID_ARGUMENT : CAIRN_OK;
}

int write_text(const std::optional<std::string> &text, char *buffer, std::size_t capacity) {
    if (buffer == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (!text) return CAIRN_ERROR_NOT_FOUND;
    if (text->size() + 1 > capacity) return CAIRN_TOO_SMALL;
    std::memcpy(buffer, text->c_str(), text->size() + 1);
    return CAIRN_OK;
}

int result_code(const Result<std::uint64_t> &number, std::uint64_t *written) {
    if (!number.ok()) return result_code(number.error());
    if (written != nullptr) *written = number.value();
    return CAIRN_OK;
}

namespace {

constexpr std::uint32_t kOpenFlags =
    CAIRN_OPEN_READ_ONLY | CAIRN_OPEN_EXISTING | CAIRN_OPEN_SYNC_ON_CLOSE | CAIRN_OPEN_ANY_VERSION |
    CAIRN_OPEN_REFUSE_WHEN_FULL | CAIRN_OPEN_COMPRESS | CAIRN_OPEN_COUNT_VALUES_ONLY |
    CAIRN_OPEN_NOTICE_DELETION | CAIRN_OPEN_NO_LAYERS;
constexpr std::uint32_t kPutFlags = CAIRN_PUT_IF_ABSENT | CAIRN_PUT_PINNED;

// The smallest struct sizes that were ever published; a caller's smaller one is an error, a larger
// one is read as far as known.
constexpr std::size_t kOptionsSizeMin = offsetof(cairn_options, log_user) + sizeof(void *);
constexpr std::size_t kPutOptionsSizeMin = sizeof(cairn_put_options);
constexpr std::size_t kStatsSizeMin = offsetof(cairn_stats, check_bytes_left) + sizeof(uint64_t);

std::uint32_t code_of(FateKind kind) {
    switch (kind) {
        case FateKind::unknown:
            return CAIRN_FATE_UNKNOWN;
        case FateKind::evicted:
            return CAIRN_FATE_EVICTED;
        case FateKind::damaged:
            return CAIRN_FATE_DAMAGED;
        case FateKind::crashed:
            return CAIRN_FATE_CRASHED;
        case FateKind::kept_out:
            return CAIRN_FATE_KEPT_OUT;
        case FateKind::cleared:
            return CAIRN_FATE_CLEARED;
        case FateKind::late:
            return CAIRN_FATE_LATE;
    }
    return CAIRN_FATE_UNKNOWN;
}

// Null: there is none of that name.
const Policy *policy_of(const cairn_options &options) {
    const std::size_t end = offsetof(cairn_options, policy) + sizeof options.policy;
    const bool is_given = options.size >= end && options.policy != nullptr;
    return is_given ? policy_by_name(options.policy) : &default_policy();
}

bool has_layers(const cairn_options &options) {
    const std::size_t end = offsetof(cairn_options, layer_count) + sizeof options.layer_count;
    return options.size >= end && options.layer_count != 0;
}

// The paths that are given; nullopt: one is NULL.
std::optional<std::vector<std::string>> layers_of(const cairn_options &options) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; has_layers(options) && i < options.layer_count; ++i) {
        if (options.layers == nullptr || options.layers[i] == nullptr) return std::nullopt;
        paths.emplace_back(options.layers[i]);
    }
    return paths;
}

Result<Directory> open_directory(const std::string &root, const std::string &identifier) {
    TRY_ASSIGN(const Directory opened, open_root(root, Create::no, Log()));
    return opened.open_directory(identifier);
}

// The cache as packs know it. Only a generation has a file that says more than its identifier.
LayeredSubject subject_at(const std::string &root, const std::string &identifier,
                          std::uint64_t version) {
    const LayeredSubject plain = {identifier, identifier, version, ""};
    if (!may_be_generation(identifier)) return plain;
    const auto directory = open_directory(root, identifier);
    return directory.ok() ? subject_of(directory.value(), identifier, version) : plain;
}

// A cache on disk, with what lies under it.
Result<std::unique_ptr<Cache>> open_disk(const StoreOptions &options, bool with_layers,
                                         const std::vector<std::string> &paths) {
    auto disk = DiskCache::open(options);
    if (!disk.ok()) {
        std::unique_ptr<Cache> alone;
        if (with_layers) {
            MemoryCache::Options memory;
            memory.limit_bytes = options.limit_bytes;
            memory.limit_entries = options.limit_entries;
            memory.version = options.version;
            memory.policy = options.policy;
            alone = layers_alone(disk.error(), options.root,
                                 {options.identifier, options.identifier, options.version, ""},
                                 paths, memory, options.log);
        }
        return alone != nullptr ? std::move(alone) : Result<std::unique_ptr<Cache>>(disk.error());
    }
    const std::uint64_t version = disk.value()->version();
    std::unique_ptr<Cache> cache = std::move(disk.value());
    if (!with_layers) return cache;
    if (options.access == Access::read_write) tell_agent(options.root, options.identifier);
    const LayeredSubject subject = subject_at(options.root, options.identifier, version);
    // Who only reads changes nothing here, and has nothing fetched.
    const Wishes wishes =
        options.access == Access::read_write ? wishes_for(subject.name, options.log) : Wishes();
    cache = add_layers(std::move(cache), options.root, subject, paths, options.access, options.log,
                       wishes.shares ? LatePacks::yes : LatePacks::no);
    return add_questions(std::move(cache), options.root, subject, wishes.ask_ms);
}

int to_store_options(const cairn_options &options, StoreOptions &store) {
    const int found = find_root(options.root, store.root);
    if (found != CAIRN_OK) return found;
    store.identifier = options.identifier;
    store.version = options.version;
    store.any_version = (options.flags & CAIRN_OPEN_ANY_VERSION) != 0;
    store.access = access_of(options.flags);
    store.create = (options.flags & CAIRN_OPEN_EXISTING) != 0 ? Create::no : Create::yes;
    store.limit_bytes = std::max<std::uint64_t>(
        or_default(options.limit_bytes, CAIRN_LIMIT_BYTES_DEFAULT), CAIRN_LIMIT_BYTES_MIN);
    store.limit_entries = options.limit_entries;
    store.memory_bytes = memory_bytes_of(options.memory_bytes, store.limit_bytes);
    store.refuse_when_full = (options.flags & CAIRN_OPEN_REFUSE_WHEN_FULL) != 0;
    store.compress = (options.flags & CAIRN_OPEN_COMPRESS) != 0;
    store.notice_deletion = (options.flags & CAIRN_OPEN_NOTICE_DELETION) != 0;
    store.sync_on_close = (options.flags & CAIRN_OPEN_SYNC_ON_CLOSE) != 0;
    if (options.about != nullptr) store.about = options.about;
    store.policy = policy_of(options);
    store.log = Log(options.log, options.log_user);
    return CAIRN_OK;
}

MemoryCache::Options to_memory_options(const cairn_options &options) {
    MemoryCache::Options memory;
    memory.limit_bytes = or_default(options.limit_bytes, CAIRN_LIMIT_BYTES_DEFAULT);
    memory.limit_entries = options.limit_entries;
    memory.version = options.version;
    memory.policy = policy_of(options);
    memory.refuse_when_full = (options.flags & CAIRN_OPEN_REFUSE_WHEN_FULL) != 0;
    if ((options.flags & CAIRN_OPEN_COUNT_VALUES_ONLY) != 0) memory.charge = Charge::value;
    return memory;
}

bool is_valid(const cairn_options *options) {
    if (options == nullptr || options->size < kOptionsSizeMin ||
        (options->flags & ~kOpenFlags) != 0) {
        return false;
    }
    const bool is_disk = options->mode == CAIRN_MODE_DISK;
    return (is_disk || options->mode == CAIRN_MODE_MEMORY) && options->identifier != nullptr &&
           valid_identifier(options->identifier) &&
           !(is_disk && (options->flags & CAIRN_OPEN_COUNT_VALUES_ONLY) != 0) &&
           policy_of(*options) != nullptr;
}

bool is_valid(const cairn_put_options *options) {
    return options == nullptr ||
           (options->size >= kPutOptionsSizeMin && (options->flags & ~kPutFlags) == 0);
}

}  // namespace
}  // namespace cairn

using namespace cairn;

int cairn_root_resolve(char *buffer, size_t capacity) {
    return result_of([&] { return write_text(default_root(), buffer, capacity); });
}

int cairn_open(const cairn_options *options, cairn_cache **cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *cache = nullptr;
        if (!is_valid(options)) return CAIRN_ERROR_INVALID_ARGUMENT;
        const Access access = access_of(options->flags);
        if (options->mode == CAIRN_MODE_MEMORY) {
            *cache =
                new cairn_cache(std::make_unique<MemoryCache>(to_memory_options(*options)), access);
            return CAIRN_OK;
        }
        StoreOptions store;
        const int result = to_store_options(*options, store);
        if (result != CAIRN_OK) return result;
        const auto layers = layers_of(*options);
        if (!layers) return CAIRN_ERROR_INVALID_ARGUMENT;
        const bool with_layers = (options->flags & CAIRN_OPEN_NO_LAYERS) == 0;
        return make_handle(open_disk(store, with_layers, *layers), access, cache);
    });
}

void cairn_close(cairn_cache *cache) {
    delete cache;
}

int cairn_get(cairn_cache *cache, const void *key, size_t key_size, cairn_blob **blob) {
    return call(cache, valid_key(key, key_size) && blob != nullptr,
                [&](Cache &own) { return result_code(own.get(bytes(key, key_size)), blob); });
}

int cairn_get_into(cairn_cache *cache, const void *key, size_t key_size, void *buffer,
                   size_t capacity, size_t *value_size) {
    const bool is_valid =
        valid_key(key, key_size) && value_size != nullptr && (buffer != nullptr || capacity == 0);
    return call(cache, is_valid, [&](Cache &own) -> int {
        // The kernel takes no larger piece, and no value needs one.
        const std::size_t usable = std::min<std::size_t>(capacity, CAIRN_VALUE_SIZE_MAX);
        const auto size =
            own.get_into(bytes(key, key_size), {static_cast<std::byte *>(buffer), usable});
        if (!size.ok()) return result_code(size.error());
        if (!size.value()) return CAIRN_MISS;
        *value_size = static_cast<std::size_t>(*size.value());
        return *value_size <= capacity ? CAIRN_OK : CAIRN_TOO_SMALL;
    });
}

int cairn_contains(cairn_cache *cache, const void *key, size_t key_size) {
    return call(cache, valid_key(key, key_size),
                [&](Cache &own) { return own.contains(bytes(key, key_size)); });
}

int cairn_fate(cairn_cache *cache, const void *key, size_t key_size, uint32_t *fate,
               uint64_t *when_s) {
    const bool is_valid = valid_key(key, key_size) && fate != nullptr && when_s != nullptr;
    return call(cache, is_valid, [&](Cache &own) -> int {
        const Fate found = own.fate_of(bytes(key, key_size));
        *fate = code_of(found.kind);
        *when_s = found.when_s;
        return CAIRN_OK;
    });
}

uint64_t cairn_evicted(cairn_cache *cache) {
    return cache == nullptr ? 0 : cache->cache->evicted();
}

uint64_t cairn_disk_limit(cairn_cache *cache) {
    return cache == nullptr ? 0 : cache->cache->disk_limit();
}

int cairn_put(cairn_cache *cache, const void *key, size_t key_size, const void *value,
              size_t value_size, const cairn_put_options *options) {
    const bool has_valid_value =
        value_size <= CAIRN_VALUE_SIZE_MAX && (value != nullptr || value_size == 0);
    const bool is_valid_put = valid_key(key, key_size) && is_valid(options) && has_valid_value;
    return change(cache, is_valid_put, [&](Cache &own) {
        PutOptions put;
        if (options != nullptr) {
            put.if_absent = (options->flags & CAIRN_PUT_IF_ABSENT) != 0;
            put.pinned = (options->flags & CAIRN_PUT_PINNED) != 0;
            put.cost_us = options->cost_us;
        }
        const auto outcome = own.put(bytes(key, key_size), bytes(value, value_size), put);
        return outcome.ok() ? result_code(outcome.value()) : result_code(outcome.error());
    });
}

int cairn_put_blob(cairn_cache *cache, cairn_blob *entry) {
    if (entry == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    Blob *const blob = from_handle(entry);
    const Bytes key = blob->key();
    const bool is_valid =
        valid_key(key.data(), key.size()) && blob->value().size() <= CAIRN_VALUE_SIZE_MAX;
    return change(cache, is_valid, [&](Cache &own) {
        blob->retain();
        PutOptions put;
        put.cost_us = blob->cost_us();
        const auto outcome = own.put_blob(BlobRef::adopt(blob), put);
        return outcome.ok() ? result_code(outcome.value()) : result_code(outcome.error());
    });
}

int cairn_remove(cairn_cache *cache, const void *key, size_t key_size) {
    return change(cache, valid_key(key, key_size),
                  [&](Cache &own) { return own.remove(bytes(key, key_size)); });
}

int cairn_clear(cairn_cache *cache) {
    return change(cache, true, [](Cache &own) { return own.clear(); });
}

int cairn_clear_range(cairn_cache *cache, uint64_t begin_ms, uint64_t end_ms, uint64_t *removed) {
    return change(cache, begin_ms <= end_ms, [&](Cache &own) {
        constexpr std::uint64_t kNsPerMs = 1'000'000;
        const std::uint64_t begin_ns = std::min(begin_ms, UINT64_MAX / kNsPerMs) * kNsPerMs;
        const std::uint64_t end_ns =
            end_ms > UINT64_MAX / kNsPerMs ? UINT64_MAX : end_ms * kNsPerMs;
        return result_code(own.clear_range(begin_ns, end_ns), removed);
    });
}

int cairn_resize(cairn_cache *cache, uint64_t limit_bytes, uint64_t keep_bytes,
                 uint64_t *freed_bytes) {
    return call(cache, true, [&](Cache &own) {
        return result_code(own.resize(limit_bytes, keep_bytes), freed_bytes);
    });
}

int cairn_trim(cairn_cache *cache, uint64_t bytes, uint64_t *freed_bytes) {
    return call(cache, true, [&](Cache &own) { return result_code(own.trim(bytes), freed_bytes); });
}

int cairn_get_nth(cairn_cache *cache, uint64_t index, void *key, size_t key_capacity,
                  size_t *key_size, cairn_blob **blob) {
    const bool is_valid =
        key_size != nullptr && blob != nullptr && (key != nullptr || key_capacity == 0);
    return call(cache, is_valid, [&](Cache &own) -> int {
        auto found = own.nth(index);
        if (!found.ok() || !*found) return result_code(std::move(found), blob);
        const Bytes found_key = (*found)->key();
        *key_size = found_key.size();
        if (found_key.size() > key_capacity) return CAIRN_TOO_SMALL;
        std::ranges::copy(found_key, static_cast<std::byte *>(key));
        return result_code(std::move(found), blob);
    });
}

int cairn_flush(cairn_cache *cache, uint32_t patience_ms) {
    return call(cache, true,
                [&](Cache &own) { return own.flush(std::uint64_t{patience_ms} * 1000); });
}

int cairn_sync(cairn_cache *cache) {
    return call(cache, true, [](Cache &own) { return own.sync(); });
}

int cairn_compress(cairn_cache *cache) {
    return call(cache, true, [](Cache &own) { return own.compress(); });
}

int cairn_stats_get(cairn_cache *cache, cairn_stats *stats) {
    return call(cache, stats != nullptr && stats->size >= kStatsSizeMin, [&](Cache &own) -> int {
        const CacheStats now = own.stats();
        stats->entries = now.entries;
        stats->disk_bytes = now.disk_bytes;
        stats->limit_bytes = now.limit_bytes;
        stats->version = now.version;
        stats->hits = now.hits;
        stats->misses = now.misses;
        stats->puts = now.puts;
        stats->puts_refused = now.puts_refused;
        stats->damaged = now.damaged;
        stats->memory_bytes = now.memory_bytes;
        stats->bytes_read = now.bytes_read;
        stats->bytes_written = now.bytes_written;
        stats->check_bytes_total = now.check_bytes_total;
        stats->check_bytes_left = now.check_bytes_left;
        if (stats->size >= offsetof(cairn_stats, layer_hits) + sizeof stats->layer_hits) {
            stats->layers = now.layers;
            stats->layer_entries = now.layer_entries;
            stats->layer_hits = now.layer_hits;
        }
        return CAIRN_OK;
    });
}

int cairn_enumerate(cairn_cache *cache, cairn_entry_fn fn, void *user) {
    return call(cache, fn != nullptr, [&](Cache &own) -> int {
        own.enumerate([&](const EntryInfo &info) {
            cairn_entry entry = {};
            entry.size = sizeof entry;
            entry.key = info.key.data();
            entry.key_size = info.key.size();
            entry.value_size = static_cast<std::size_t>(info.value_size);
            entry.stored_at_ms = info.stamp_ns / 1'000'000;
            entry.cost_us = info.cost_us;
            if (info.pinned) entry.flags = CAIRN_PUT_PINNED;
            entry.stored_size = static_cast<std::size_t>(info.stored_size);
            return fn(user, &entry) == 0;
        });
        return CAIRN_OK;
    });
}
