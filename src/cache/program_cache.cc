// SPDX-License-Identifier: MIT
#include "cache/program_cache.h"

#include <algorithm>

#include "cache/agent_notice.h"
#include "cache/asking_cache.h"
#include "cache/disk_cache.h"
#include "cache/generations.h"
#include "cache/layered_cache.h"
#include "cache/memory_cache.h"
#include "cache/queued_cache.h"
#include "cache/tiered_cache.h"
#include "os/root.h"

namespace cairn {
namespace {

// For a process that cannot open the cache.
class NoCache final : public Cache {
  public:
    Result<BlobRef> get(Bytes) override { return BlobRef(); }
    Result<PutOutcome> put(Bytes, Bytes, const PutOptions &) override { return Error::io; }
    Result<bool> remove(Bytes) override { return Error::io; }
    Status clear() override { return Error::io; }
    Result<std::uint64_t> clear_range(std::uint64_t, std::uint64_t) override { return Error::io; }
    Result<std::uint64_t> trim(std::uint64_t) override { return std::uint64_t{0}; }
    Status sync() override { return Error::io; }
    Status compress() override { return Error::io; }
};

// What a process that has no disk stores in memory.
constexpr std::uint64_t kMemoryWithoutDisk = 32u << 20;

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

MemoryCache::Options memory_level(std::uint64_t limit_bytes, std::uint64_t version) {
    MemoryCache::Options level;
    level.limit_bytes = limit_bytes;
    level.version = version;
    level.policy = policy_by_name("lru");
    return level;
}

}  // namespace

void ProgramCache::Options::share_limit(std::optional<std::uint64_t> given, std::uint64_t percent,
                                        std::uint64_t otherwise) {
    application_bytes = given;
    const std::uint64_t all = application_bytes.value_or(otherwise);
    store.limit_bytes = all / 100 * percent + all % 100 * percent / 100;
}

ProgramCache::~ProgramCache() {
    upkeep_stops_ = true;
}

Result<std::unique_ptr<ProgramCache>> ProgramCache::open(const Options &options) {
    Options named = options;
    named.store.identifier = identifier_of(options.generation);
    std::unique_ptr<ProgramCache> cache(new ProgramCache(named));
    Own &own = cache->own_.get();
    TRY_ASSIGN(std::unique_ptr<Parts> parts, cache->compose());
    const bool is_recorded = parts->recorder != nullptr;
    own.parts = parts.release();
    cache->start_upkeep();
    // Here, and not where the parts are made: a forked child is no start of an application.
    if (is_recorded && named.with_layers) tell_agent(named.store.root, named.store.identifier);
    return cache;
}

Result<std::unique_ptr<ProgramCache::Parts>> ProgramCache::compose() const {
    auto disk = open_disk(options_.store);
    if (!disk.ok()) {
        auto alone = compose_without_disk(disk.error());
        return alone != nullptr ? std::move(alone) : Result<std::unique_ptr<Parts>>(disk.error());
    }
    std::unique_ptr<Cache> cache = std::move(disk.value());
    TRY_ASSIGN(const Directory root, open_root(options_.store.root, Create::no, Log()));
    TRY_ASSIGN(Directory directory, root.open_directory(options_.store.identifier));
    Cache &own = *cache;  // lives as long as what will stand in front of it
    if (options_.store.access == Access::read_write) claim(directory, options_.generation);
    if (options_.with_layers) {
        cache = add_layers(std::move(cache), options_.store.root, subject(), options_.layers,
                           options_.store.access, options_.store.log,
                           options_.shares ? LatePacks::yes : LatePacks::no);
    }
    const bool may_write = options_.store.access == Access::read_write;
    const bool has_memory = options_.memory_bytes != 0;
    auto parts = std::make_unique<Parts>();
    if (may_write) {
        parts->crashes = open_crash_memory(directory, *cache, options_.store);
        if (options_.records) {
            parts->recorder = std::make_unique<StartRecorder>(std::move(directory), options_.times,
                                                              [&own] { return own.clears(); });
        }
    }
    if (may_write && options_.queue_bytes != 0) {
        cache =
            std::make_unique<QueuedCache>(std::move(cache), options_.queue_bytes, &queue_watcher_);
    }
    if (has_memory) {
        cache = std::make_unique<TieredCache>(std::make_unique<MemoryCache>(memory_level(
                                                  options_.memory_bytes, options_.store.version)),
                                              std::move(cache), TieredCache::Home::lower);
    }
    parts->cache = std::move(cache);
    parts->loader = std::make_unique<Loader>(
        *parts->cache, has_memory && options_.load ? Loader::Ahead::yes : Loader::Ahead::no,
        [own = parts.get()](Bytes key) { own->note_use(key); });
    // The loader does not ask: others wait for it meanwhile.
    const bool asks = parts->recorder != nullptr && options_.with_layers;
    parts->cache = add_questions(std::move(parts->cache), options_.store.root, subject(),
                                 asks ? options_.ask_ms : 0);
    return parts;
}

LayeredSubject ProgramCache::subject() const {
    const Generation &generation = options_.generation;
    return {generation.application, options_.store.identifier, options_.store.version,
            describe(generation)};
}

// Packs need no disk that can be written. Null: there are none.
std::unique_ptr<ProgramCache::Parts> ProgramCache::compose_without_disk(Error failure) const {
    if (!options_.with_layers) return nullptr;
    auto parts = std::make_unique<Parts>();
    parts->cache = layers_alone(
        failure, options_.store.root, subject(), options_.layers,
        memory_level(std::max(options_.memory_bytes, kMemoryWithoutDisk), options_.store.version),
        options_.store.log);
    if (parts->cache == nullptr) return nullptr;
    options_.store.log.write(Severity::warning, "cache %s: there are only its packs, and memory",
                             options_.store.identifier.c_str());
    parts->loader = std::make_unique<Loader>(*parts->cache, Loader::Ahead::no, [](Bytes) {});
    return parts;
}

void ProgramCache::start_upkeep() {
    if (options_.store.access == Access::read_only) return;
    const auto root = open_root(options_.store.root, Create::no, Log());
    if (!root.ok()) return;
    const auto directory = root->open_directory(options_.store.identifier);
    const bool has_other_limit =
        directory.ok() && record_limit(directory.value(), options_.application_bytes);
    if (!is_upkeep_due(root.value(), options_.store.identifier) && !has_other_limit) return;
    (void)upkeep_.wake();  // without a thread, another process does it
}

ProgramCache::Parts &ProgramCache::no_parts() {
    // Destroyed never: handlers of exit may call.
    static auto *const none = new Parts{std::make_unique<NoCache>(), {}, {}, {}};
    return *none;
}

ProgramCache::Parts &ProgramCache::make_parts() {
    Own &own = own_.get();
    const MutexLock lock(own.mutex);
    if (own.parts.load() == nullptr) {
        auto made = compose();
        if (!made.ok()) return no_parts();
        own.parts.store(made.value().release(), std::memory_order_release);
    }
    return *own.parts.load();
}

Result<BlobRef> ProgramCache::get(Bytes key) {
    Parts &own = parts();
    if (own.keeps_out(key)) return BlobRef();
    auto found = own.cache->get(key);
    if (found.ok() && *found) own.note_use(key);
    return found;
}

Result<std::optional<BlobRef>> ProgramCache::get_within(Bytes key, std::uint64_t patience_us) {
    Parts &own = parts();
    if (own.loader == nullptr || own.keeps_out(key)) return std::optional(BlobRef());
    if (BlobRef cached = own.cache->get_cached(key)) {
        own.note_use(key);
        return std::optional(std::move(cached));
    }
    auto found = own.loader->get_within(key, patience_us);
    if (found.ok() && *found && **found) own.note_use(key);
    return found;
}

Result<std::optional<std::uint64_t>> ProgramCache::get_into(Bytes key, MutableBytes buffer) {
    Parts &own = parts();
    if (own.keeps_out(key)) return std::optional<std::uint64_t>();
    auto found = own.cache->get_into(key, buffer);
    if (found.ok() && *found) own.note_use(key);
    return found;
}

Result<bool> ProgramCache::contains(Bytes key) {
    Parts &own = parts();
    return own.keeps_out(key) ? false : own.cache->contains(key);
}

// Dropping an entry after a crash forgets what became of it before. So where the cache remembers an
// eviction, or damage, the entry was stored again after the crash.
Fate ProgramCache::fate_of(Bytes key) {
    Parts &own = parts();
    if (own.keeps_out(key)) return {FateKind::kept_out, 0};
    const Fate fate = own.cache->fate_of(key);
    const bool is_certain = fate.kind != FateKind::unknown && fate.kind != FateKind::cleared;
    if (is_certain || own.crashes == nullptr || !own.crashes->was_dropped(key)) return fate;
    return {FateKind::crashed, 0};
}

Result<PutOutcome> ProgramCache::put(Bytes key, Bytes value, const PutOptions &options) {
    Parts &own = parts();
    if (own.keeps_out(key)) return PutOutcome::kept_out;
    auto outcome = own.cache->put(key, value, options);
    if (outcome.ok()) own.note_use(key);
    return outcome;
}

Result<PutOutcome> ProgramCache::put_blob(BlobRef entry, const PutOptions &options) {
    Parts &own = parts();
    const BlobRef kept = entry;  // its key is needed afterwards
    if (own.keeps_out(kept->key())) return PutOutcome::kept_out;
    auto outcome = own.cache->put_blob(std::move(entry), options);
    if (outcome.ok()) own.note_use(kept->key());
    return outcome;
}

// The order of the start goes with the entries: the file, and what is noted.
Status ProgramCache::clear() {
    Parts &own = parts();
    TRY(own.cache->clear());
    if (own.recorder != nullptr) own.recorder->clear();
    return {};
}

CacheStats ProgramCache::stats() {
    Parts &own = parts();
    CacheStats stats = own.cache->stats();
    if (own.loader == nullptr) return stats;  // there is no cache
    ProgramStats &program = stats.program ? *stats.program : stats.program.emplace();
    const CrashCounts crashes = own.crashes == nullptr ? CrashCounts() : own.crashes->counts();
    program.crashes_dropped = crashes.dropped;
    program.crashes_kept_out = crashes.kept_out;
    if (own.recorder != nullptr) program.start_keys = own.recorder->count();
    own.loader->add_stats(program);
    return stats;
}

std::uint32_t ProgramCache::begin_use(Bytes key) {
    Parts &own = parts();
    return own.crashes == nullptr ? kNoTicket : own.crashes->begin_use(key);
}

Result<std::uint64_t> ProgramCache::trim(std::uint64_t bytes) {
    return existing_parts().cache->trim(bytes);
}

Status ProgramCache::flush(std::uint64_t patience_us) {
    Parts &own = existing_parts();
    TRY(own.cache->flush(patience_us));
    if (own.recorder != nullptr) own.recorder->flush();
    return {};
}

void ProgramCache::end_use(std::uint32_t ticket) {
    Parts *const own = existing();  // makes nothing, as nothing may be thrown here
    if (own != nullptr && own->crashes != nullptr) own->crashes->end_use(ticket);
}

}  // namespace cairn
