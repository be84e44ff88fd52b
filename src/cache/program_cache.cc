// SPDX-License-Identifier: MIT
#include "cache/program_cache.h"

#include <algorithm>

#include "cache/crash_guard.h"
#include "cache/disk_cache.h"
#include "cache/limit.h"
#include "cache/loading_cache.h"
#include "cache/memory_cache.h"
#include "cache/queued_cache.h"
#include "cache/tiered_cache.h"
#include "store/root.h"

namespace cairn {
namespace {

// For a process that cannot open the cache.
class NoCache final : public Cache {
  public:
    Result<BlobRef> get(Bytes) override { return BlobRef(); }
    Result<std::optional<BlobRef>> get_within(Bytes, std::uint64_t) override {
        return std::optional(BlobRef());
    }
    Result<PutOutcome> put(Bytes, Bytes, const PutOptions &) override { return Error::io; }
    Result<bool> remove(Bytes) override { return Error::io; }
    Status clear() override { return Error::io; }
    Result<std::uint64_t> clear_range(std::uint64_t, std::uint64_t) override { return Error::io; }
    Result<std::uint64_t> trim(std::uint64_t) override { return std::uint64_t{0}; }
    Status sync() override { return Error::io; }
    Status compress() override { return Error::io; }
};

Cache &no_cache() {
    static NoCache none;
    return none;
}

std::string beginning_in_hex(Bytes key) {
    return hexadecimal(key.first(std::min<std::size_t>(key.size(), 20)));
}

// Another process may be removing the generation at this moment: then it is made anew.
Result<std::unique_ptr<Cache>> open_disk(const StoreOptions &options) {
    constexpr unsigned kAttempts = 4;
    const bool may_make = options.access == Access::read_write && options.create == Create::yes;
    auto disk = DiskCache::open(options);
    for (unsigned i = 1; i < kAttempts && may_make; ++i) {
        if (disk.error() != Error::not_found && disk.error() != Error::busy) break;
        disk = DiskCache::open(options);
    }
    if (!disk.ok()) return disk.error();
    return std::unique_ptr<Cache>(std::move(disk.value()));
}

// Null: nothing is remembered.
std::unique_ptr<CrashMemory> open_crash_memory(const Directory &directory, Cache &disk,
                                               const StoreOptions &options) {
    const char *const identifier = options.identifier.c_str();
    auto crashes = CrashMemory::open(directory);
    if (!crashes.ok()) {
        options.log.write(Severity::warning, "cache %s: crashes of drivers are not remembered: %s",
                          identifier, error_name(crashes.error()));
        return nullptr;
    }
    crashes.value()->settle([&](Bytes key, bool is_last) {
        (void)disk.remove(key);
        options.log.write(
            Severity::warning,
            "cache %s: a process died while the driver took entry %s: it is dropped%s", identifier,
            beginning_in_hex(key).c_str(), is_last ? ", and kept out from now on" : "");
    });
    return std::move(crashes.value());
}

}  // namespace

ProgramCache::~ProgramCache() {
    upkeep_stops_ = true;
}

Result<std::unique_ptr<ProgramCache>> ProgramCache::open(const Options &options) {
    Options named = options;
    named.store.identifier = identifier_of(options.generation);
    named.store.about = options.generation.identity;
    std::unique_ptr<ProgramCache> cache(new ProgramCache(named));
    Own &own = cache->own_.get();
    TRY_ASSIGN(std::unique_ptr<Cache> composed, cache->compose());
    own.cache = composed.release();
    cache->start_upkeep();
    return cache;
}

Result<std::unique_ptr<Cache>> ProgramCache::compose() const {
    TRY_ASSIGN(std::unique_ptr<Cache> cache, open_disk(options_.store));
    TRY_ASSIGN(const Directory root, open_root(options_.store.root, Create::no, Log()));
    TRY_ASSIGN(Directory directory, root.open_directory(options_.store.identifier));
    TRY(claim_generation(directory, *cache));
    const bool may_write = options_.store.access == Access::read_write;
    const bool has_memory = options_.memory_bytes != 0;
    std::unique_ptr<CrashMemory> crashes;
    if (may_write) crashes = open_crash_memory(directory, *cache, options_.store);
    if (may_write && options_.queue_bytes != 0) {
        cache = std::make_unique<QueuedCache>(std::move(cache), options_.queue_bytes);
    }
    if (has_memory) {
        MemoryCache::Options level;
        level.limit_bytes = options_.memory_bytes;
        level.version = options_.store.version;
        cache = std::make_unique<TieredCache>(std::make_unique<MemoryCache>(level),
                                              std::move(cache), TieredCache::Home::lower);
    }
    if (crashes != nullptr) {
        cache = std::make_unique<CrashGuard>(std::move(cache), std::move(crashes));
    }
    if (may_write) {
        cache =
            std::make_unique<StartRecorder>(std::move(cache), std::move(directory), options_.times);
    }
    const auto ahead =
        has_memory && options_.load ? LoadingCache::Ahead::yes : LoadingCache::Ahead::no;
    return std::unique_ptr<Cache>(std::make_unique<LoadingCache>(std::move(cache), ahead));
}

Status ProgramCache::claim_generation(const Directory &directory, Cache &disk) const {
    if (options_.store.access == Access::read_only) {
        TRY_ASSIGN(const bool is_anothers, is_of_another(directory, options_.generation));
        return is_anothers ? Status(Error::not_found) : Status();
    }
    return claim(directory, options_.generation, [&] {
        options_.store.log.write(Severity::warning, "cache %s was another generation's: emptied",
                                 options_.store.identifier.c_str());
        return disk.clear();
    });
}

void ProgramCache::start_upkeep() {
    if (options_.store.access == Access::read_only) return;
    const auto root = open_root(options_.store.root, Create::no, Log());
    if (!root.ok()) return;
    const auto directory = root->open_directory(options_.store.identifier);
    const bool has_other_limit =
        directory.ok() && record_limit(directory.value(), options_.application_bytes);
    if (!is_upkeep_due(root.value()) && !has_other_limit) return;
    (void)upkeep_.wake();  // without a thread, another process does it
}

Cache &ProgramCache::find_inner() const {
    Own &own = own_.get();
    if (Cache *found = own.cache.load(std::memory_order_acquire)) return *found;
    const MutexLock lock(own.mutex);
    if (own.cache.load() == nullptr) {
        auto made = compose();
        if (!made.ok()) return no_cache();
        own.cache.store(made.value().release(), std::memory_order_release);
    }
    return *own.cache.load();
}

Cache &ProgramCache::composed() const {
    const Own *own = own_.existing();
    Cache *found = own == nullptr ? nullptr : own->cache.load(std::memory_order_acquire);
    return found != nullptr ? *found : no_cache();
}

Result<std::uint64_t> ProgramCache::trim(std::uint64_t bytes) {
    return composed().trim(bytes);
}

Status ProgramCache::flush(std::uint64_t patience_us) {
    return composed().flush(patience_us);
}

void ProgramCache::end_use(std::uint32_t ticket) {
    composed().end_use(ticket);
}

}  // namespace cairn
