// The calls of cairn.h on caches: arguments are checked here, and only here.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>

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
        case Error::exists:
            return CAIRN_ERROR_IO;  // handled where it can occur
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
        case Error::corrupt:
            return CAIRN_ERROR_IO;
        case Error::io:
            return CAIRN_ERROR_IO;
        case Error::unsupported:
            return CAIRN_ERROR_UNSUPPORTED;
    }
    return CAIRN_ERROR_IO;
}

std::unique_ptr<cairn_cache> make_handle() {
    static std::atomic<std::uint64_t> last_serial = 0;
    std::unique_ptr<cairn_cache> handle(new (std::nothrow) cairn_cache);
    if (handle != nullptr) handle->serial = ++last_serial;
    return handle;
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

std::uint64_t memory_level_bytes(std::uint64_t given, std::uint64_t limit_bytes) {
    if (given == 0) return std::min<std::uint64_t>(CAIRN_MEMORY_BYTES_DEFAULT, limit_bytes);
    return given == CAIRN_NONE ? 0 : given;
}

namespace {

constexpr std::uint32_t kOpenFlags = CAIRN_OPEN_READ_ONLY | CAIRN_OPEN_EXISTING |
                                     CAIRN_OPEN_SYNC_ON_CLOSE | CAIRN_OPEN_ANY_VERSION |
                                     CAIRN_OPEN_REFUSE_WHEN_FULL | CAIRN_OPEN_COMPRESS |
                                     CAIRN_OPEN_COUNT_VALUES_ONLY | CAIRN_OPEN_NOTICE_DELETION;
constexpr std::uint32_t kPutFlags = CAIRN_PUT_IF_ABSENT | CAIRN_PUT_PINNED;

// The smallest struct sizes that were ever published; a caller's smaller one is an error, a larger
// one is read as far as known.
constexpr std::size_t kOptionsSizeMin = offsetof(cairn_options, log_user) + sizeof(void *);
constexpr std::size_t kPutOptionsSizeMin = sizeof(cairn_put_options);
constexpr std::size_t kStatsSizeMin = offsetof(cairn_stats, check_bytes_left) + sizeof(uint64_t);

bool has_policy(const cairn_options &options) {
    const std::size_t end = offsetof(cairn_options, policy) + sizeof options.policy;
    return options.size >= end && options.policy != nullptr;
}

std::uint64_t limit_of(const cairn_options &options) {
    return options.limit_bytes == 0 ? CAIRN_LIMIT_BYTES_DEFAULT : options.limit_bytes;
}

int open_disk(const cairn_options &options, cairn_cache &cache) {
    StoreOptions store;
    const int found = find_root(options.root, store.root);
    if (found != CAIRN_OK) return found;
    store.identifier = options.identifier;
    store.version = options.version;
    store.any_version = (options.flags & CAIRN_OPEN_ANY_VERSION) != 0;
    store.access = cache.read_only ? Access::read_only : Access::read_write;
    store.create = (options.flags & CAIRN_OPEN_EXISTING) != 0 ? Create::no : Create::yes;
    store.limit_bytes = std::max<std::uint64_t>(limit_of(options), CAIRN_LIMIT_BYTES_MIN);
    store.limit_entries = options.limit_entries;
    store.memory_bytes = memory_level_bytes(options.memory_bytes, store.limit_bytes);
    store.refuse_when_full = (options.flags & CAIRN_OPEN_REFUSE_WHEN_FULL) != 0;
    store.compress = (options.flags & CAIRN_OPEN_COMPRESS) != 0;
    store.notice_deletion = (options.flags & CAIRN_OPEN_NOTICE_DELETION) != 0;
    store.sync_on_close = (options.flags & CAIRN_OPEN_SYNC_ON_CLOSE) != 0;
    if (options.about != nullptr) store.about = options.about;
    if (has_policy(options)) {
        store.policy = policy_by_name(options.policy);
        if (store.policy == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    store.log = Log(options.log, options.log_user);
    auto opened = Store::open(store);
    if (!opened.ok()) return result_code(opened.error());
    cache.store = std::move(opened.value());
    return CAIRN_OK;
}

int open_memory(const cairn_options &options, cairn_cache &cache) {
    if (has_policy(options) && policy_by_name(options.policy) == nullptr) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    MemoryCache::Options memory;
    memory.limit_bytes = limit_of(options);
    memory.limit_entries = options.limit_entries;
    memory.version = options.version;
    memory.refuse_when_full = (options.flags & CAIRN_OPEN_REFUSE_WHEN_FULL) != 0;
    if ((options.flags & CAIRN_OPEN_COUNT_VALUES_ONLY) != 0) memory.charge = Charge::value;
    cache.memory.reset(new (std::nothrow) MemoryCache(memory));
    return cache.memory != nullptr ? CAIRN_OK : CAIRN_ERROR_NO_MEMORY;
}

// Behind a broker: taken into the queue, or what is there already is left.
Result<PutOutcome> put_to_broker(cairn_cache &cache, Bytes key, Bytes value,
                                 const PutOptions &options) {
    if (options.if_absent) {
        TRY_ASSIGN(const bool there, cache.store->contains(key));
        if (there) return PutOutcome::exists;
    }
    TRY(cache.broker->put(key, value, options));
    return PutOutcome::stored;
}

Result<PutOutcome> put_anywhere(cairn_cache &cache, Bytes key, Bytes value,
                                const PutOptions &options) {
    if (cache.memory != nullptr) return cache.memory->put(key, value, options);
    if (cache.broker != nullptr) return put_to_broker(cache, key, value, options);
    if (cache.programs != nullptr) return cache.programs->put(key, value, options);
    return cache.store->put(key, value, options);
}

int get_blob(cairn_cache *cache, const void *key, size_t key_size, BlobRef &blob) {
    if (cache == nullptr || !valid_key(key, key_size)) return CAIRN_ERROR_INVALID_ARGUMENT;
    if (cache->memory != nullptr) {
        blob = cache->memory->get(bytes(key, key_size));
    } else {
        auto found =
            cache->programs != nullptr
                ? cache->programs->get(bytes(key, key_size))
                : cache->store->get(bytes(key, key_size), MemoryLevel::Admission::second_use);
        if (!found.ok()) return result_code(found.error());
        blob = std::move(found.value());
    }
    return blob ? CAIRN_OK : CAIRN_MISS;
}

}  // namespace
}  // namespace cairn

using namespace cairn;

int cairn_root_resolve(char *buffer, size_t capacity) {
    return result_of([&]() -> int {
        if (buffer == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        const auto root = default_root();
        if (!root) return CAIRN_ERROR_NOT_FOUND;
        if (root->size() + 1 > capacity) return CAIRN_TOO_SMALL;
        std::memcpy(buffer, root->c_str(), root->size() + 1);
        return CAIRN_OK;
    });
}

int cairn_open(const cairn_options *options, cairn_cache **cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        *cache = nullptr;
        if (options == nullptr || options->size < kOptionsSizeMin)
            return CAIRN_ERROR_INVALID_ARGUMENT;
        if ((options->flags & ~kOpenFlags) != 0) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (options->mode != CAIRN_MODE_DISK && options->mode != CAIRN_MODE_MEMORY) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (options->identifier == nullptr || !valid_identifier(options->identifier)) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if ((options->flags & CAIRN_OPEN_COUNT_VALUES_ONLY) != 0 &&
            options->mode != CAIRN_MODE_MEMORY) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        std::unique_ptr<cairn_cache> handle = make_handle();
        if (handle == nullptr) return CAIRN_ERROR_NO_MEMORY;
        handle->read_only = (options->flags & CAIRN_OPEN_READ_ONLY) != 0;
        const int result = options->mode == CAIRN_MODE_DISK ? open_disk(*options, *handle)
                                                            : open_memory(*options, *handle);
        if (result == CAIRN_OK) *cache = handle.release();
        return result;
    });
}

void cairn_close(cairn_cache *cache) {
    delete cache;
}

int cairn_get(cairn_cache *cache, const void *key, size_t key_size, cairn_blob **blob) {
    return result_of([&]() -> int {
        if (blob == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        BlobRef found;
        const int result = get_blob(cache, key, key_size, found);
        if (result == CAIRN_OK) *blob = to_handle(std::move(found));
        return result;
    });
}

int cairn_get_into(cairn_cache *cache, const void *key, size_t key_size, void *buffer,
                   size_t capacity, size_t *value_size) {
    return result_of([&]() -> int {
        if (value_size == nullptr || (buffer == nullptr && capacity != 0)) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (cache == nullptr || !valid_key(key, key_size)) return CAIRN_ERROR_INVALID_ARGUMENT;
        // The kernel takes no larger piece, and no value needs one.
        const std::size_t usable = std::min<std::size_t>(capacity, CAIRN_VALUE_SIZE_MAX);
        std::optional<std::uint64_t> size;
        const MutableBytes place = {static_cast<std::byte *>(buffer), usable};
        if (cache->memory != nullptr) {
            const BlobRef found = cache->memory->get(bytes(key, key_size));
            if (found) size = found->value().size();
            if (found && !found->value().empty() && *size <= capacity) {
                std::memcpy(buffer, found->value().data(), *size);
            }
        } else {
            const auto found = cache->programs != nullptr
                                   ? cache->programs->get_into(bytes(key, key_size), place)
                                   : cache->store->get_into(bytes(key, key_size), place);
            if (!found.ok()) return result_code(found.error());
            size = found.value();
        }
        if (!size) return CAIRN_MISS;
        *value_size = *size;
        return *size <= capacity ? CAIRN_OK : CAIRN_TOO_SMALL;
    });
}

int cairn_contains(cairn_cache *cache, const void *key, size_t key_size) {
    return result_of([&]() -> int {
        if (cache == nullptr || !valid_key(key, key_size)) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->memory != nullptr) {
            return cache->memory->contains(bytes(key, key_size)) ? CAIRN_OK : CAIRN_MISS;
        }
        const auto there = cache->programs != nullptr
                               ? cache->programs->contains(bytes(key, key_size))
                               : cache->store->contains(bytes(key, key_size));
        if (!there.ok()) return result_code(there.error());
        return there.value() ? CAIRN_OK : CAIRN_MISS;
    });
}

int cairn_put(cairn_cache *cache, const void *key, size_t key_size, const void *value,
              size_t value_size, const cairn_put_options *options) {
    return result_of([&]() -> int {
        if (cache == nullptr || !valid_key(key, key_size)) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (value_size > CAIRN_VALUE_SIZE_MAX || (value == nullptr && value_size != 0)) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        PutOptions put;
        if (options != nullptr) {
            if (options->size < kPutOptionsSizeMin || (options->flags & ~kPutFlags) != 0) {
                return CAIRN_ERROR_INVALID_ARGUMENT;
            }
            put.if_absent = (options->flags & CAIRN_PUT_IF_ABSENT) != 0;
            put.pinned = (options->flags & CAIRN_PUT_PINNED) != 0;
            put.cost_us = options->cost_us;
        }
        if (cache->read_only) return CAIRN_ERROR_READ_ONLY;
        const auto outcome =
            put_anywhere(*cache, bytes(key, key_size), bytes(value, value_size), put);
        if (!outcome.ok()) return result_code(outcome.error());
        switch (outcome.value()) {
            case PutOutcome::stored:
                return CAIRN_OK;
            case PutOutcome::exists:
                return CAIRN_EXISTS;
            case PutOutcome::kept_out:
                return CAIRN_KEPT_OUT;
        }
        return CAIRN_ERROR_IO;
    });
}

int cairn_remove(cairn_cache *cache, const void *key, size_t key_size) {
    return result_of([&]() -> int {
        if (cache == nullptr || !valid_key(key, key_size)) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->broker != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        if (cache->read_only) return CAIRN_ERROR_READ_ONLY;
        if (cache->memory != nullptr) {
            return cache->memory->remove(bytes(key, key_size)) ? CAIRN_OK : CAIRN_MISS;
        }
        const auto removed = cache->programs != nullptr
                                 ? cache->programs->remove(bytes(key, key_size))
                                 : cache->store->remove(bytes(key, key_size));
        if (!removed.ok()) return result_code(removed.error());
        return removed.value() ? CAIRN_OK : CAIRN_MISS;
    });
}

int cairn_clear(cairn_cache *cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->broker != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        if (cache->read_only) return CAIRN_ERROR_READ_ONLY;
        if (cache->memory != nullptr) {
            cache->memory->clear();
            return CAIRN_OK;
        }
        return result_code(cache->programs != nullptr ? cache->programs->clear()
                                                      : cache->store->clear());
    });
}

int cairn_resize(cairn_cache *cache, uint64_t limit_bytes, uint64_t keep_bytes,
                 uint64_t *freed_bytes) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->memory == nullptr) return CAIRN_ERROR_UNSUPPORTED;
        const uint64_t freed = cache->memory->resize(limit_bytes, keep_bytes);
        if (freed_bytes != nullptr) *freed_bytes = freed;
        return CAIRN_OK;
    });
}

int cairn_trim(cairn_cache *cache, uint64_t bytes, uint64_t *freed_bytes) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->store != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        const uint64_t freed =
            cache->memory != nullptr ? cache->memory->trim(bytes) : cache->programs->trim(bytes);
        if (freed_bytes != nullptr) *freed_bytes = freed;
        return CAIRN_OK;
    });
}

int cairn_get_nth(cairn_cache *cache, uint64_t index, void *key, size_t key_capacity,
                  size_t *key_size, cairn_blob **blob) {
    return result_of([&]() -> int {
        if (cache == nullptr || key_size == nullptr || blob == nullptr ||
            (key == nullptr && key_capacity != 0)) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (cache->memory == nullptr) return CAIRN_ERROR_UNSUPPORTED;
        BlobRef found = cache->memory->nth(index);
        if (!found) return CAIRN_MISS;
        const Bytes found_key = found->key();
        *key_size = found_key.size();
        if (found_key.size() > key_capacity) return CAIRN_TOO_SMALL;
        std::memcpy(key, found_key.data(), found_key.size());
        *blob = to_handle(std::move(found));
        return CAIRN_OK;
    });
}

int cairn_sync(cairn_cache *cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->broker != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        if (cache->memory != nullptr) return CAIRN_OK;
        return result_code(cache->programs != nullptr ? cache->programs->sync()
                                                      : cache->store->sync());
    });
}

int cairn_compress(cairn_cache *cache) {
    return result_of([&]() -> int {
        if (cache == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache->broker != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        if (cache->memory != nullptr) return CAIRN_OK;
        return result_code(cache->programs != nullptr ? cache->programs->compress()
                                                      : cache->store->compress());
    });
}

int cairn_stats_get(cairn_cache *cache, cairn_stats *stats) {
    return result_of([&]() -> int {
        if (cache == nullptr || stats == nullptr || stats->size < kStatsSizeMin) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        const StoreStats now = cache->memory != nullptr     ? cache->memory->stats()
                               : cache->programs != nullptr ? cache->programs->stats()
                                                            : cache->store->stats();
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
        if (cache->broker != nullptr) {
            const BrokerClient::Stats sent = cache->broker->stats();
            stats->puts = sent.accepted;
            stats->puts_refused = sent.dropped;
        }
        return CAIRN_OK;
    });
}

int cairn_enumerate(cairn_cache *cache, cairn_entry_fn fn, void *user) {
    return result_of([&]() -> int {
        if (cache == nullptr || fn == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        const auto visit = [&](const EntryInfo &info) {
            cairn_entry entry = {};
            entry.size = sizeof entry;
            entry.key = info.key.data();
            entry.key_size = info.key.size();
            entry.value_size = info.value_size;
            entry.stored_at_ms = info.stamp_ns / 1'000'000;
            entry.cost_us = info.cost_us;
            if (info.pinned) entry.flags = CAIRN_PUT_PINNED;
            entry.stored_size = info.stored_size;
            return fn(user, &entry) == 0;
        };
        if (cache->memory != nullptr) {
            cache->memory->enumerate(visit);
        } else if (cache->programs != nullptr) {
            cache->programs->enumerate(visit);
        } else {
            cache->store->enumerate(visit);
        }
        return CAIRN_OK;
    });
}
