// SPDX-License-Identifier: MIT
#include "cache/program_cache.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "base/guarded.h"
#include "cache/limit.h"
#include "cache/memory_cache.h"
#include "os/environment.h"
#include "store/root.h"

namespace cairn {
namespace {

// Entries that the loader knows of, when it has read those of the last start.
constexpr std::size_t kNewestMax = 1'000'000;

// Memory is given back in pieces, so that nobody waits long for the level's mutex.
constexpr std::uint64_t kTrimBytes = 1u << 20;

// Closing waits for what is queued as long as that takes; asking for it to be durable, this long.
constexpr std::uint64_t kSyncPatienceUs = 60'000'000;

// Where changes of keys are counted: keys that share a place cost each other a copy in memory.
constexpr std::size_t kChangePlaces = 256;
std::size_t place_of(Bytes key) {
    const std::string_view text(reinterpret_cast<const char *>(key.data()), key.size());
    return std::hash<std::string_view>()(text) % kChangePlaces;
}

std::string beginning_in_hex(Bytes key) {
    return hexadecimal(key.first(std::min<std::size_t>(key.size(), 20)));
}

// Removes generations that have to go, in a thread of its own.
class UpkeepThread {
  public:
    UpkeepThread(const std::string &root, const Upkeep &upkeep, const Log &log)
        : root_(root), upkeep_(upkeep), log_(log) {
        (void)thread_.start(run, this);  // without a thread, another process does it
    }
    ~UpkeepThread() {
        stop_ = true;
        thread_.join();
    }

  private:
    static void *run(void *self) {
        const auto &own = *static_cast<UpkeepThread *>(self);
        remove_superseded(own.root_, own.upkeep_, own.stop_, own.log_);
        return nullptr;
    }

    const std::string root_;
    const Upkeep upkeep_;
    const Log log_;
    std::atomic<bool> stop_ = false;
    Thread thread_;
};

}  // namespace

// What belongs to one process.
struct ProgramCache::Local final : LoadTarget {
    explicit Local(const Options &options) {
        if (options.memory_bytes != 0) {
            MemoryCache::Options level;
            level.limit_bytes = options.memory_bytes;
            level.version = options.store.version;
            memory.emplace(level);
        }
    }

    // Before queue and store are looked into; `keep` is told what this said.
    std::uint64_t changes_of(Bytes key) {
        const MutexLock lock(change_mutex);
        return changes[place_of(key)];
    }
    // Keeps what was read from disk, unless the key has changed since.
    void keep(const BlobRef &entry, std::uint64_t seen_changes) {
        const MutexLock lock(change_mutex);
        if (changes[place_of(entry->key())] != seen_changes) return;
        PutOptions options;
        options.if_absent = true;
        (void)memory->put(entry, options);
    }
    // The same behind all others, without anything going for it.
    Kept keep_behind(const BlobRef &entry, std::uint64_t seen_changes) {
        const MutexLock lock(change_mutex);
        if (changes[place_of(entry->key())] != seen_changes) return Kept::no;
        const auto outcome = memory->put_behind(entry);
        if (!outcome.ok()) return Kept::full;
        return outcome.value() == PutOutcome::stored ? Kept::yes : Kept::no;
    }
    // Whether it was in memory.
    bool drop(Bytes key) {
        const MutexLock lock(change_mutex);
        ++changes[place_of(key)];
        return memory && memory->remove(key);
    }
    void drop_all() {
        const MutexLock lock(change_mutex);
        for (std::uint64_t &count : changes) ++count;
        if (memory) memory->clear();
    }
    // Another process may have cleared the cache.
    void follow_clears() {
        const std::uint64_t now = store->clears();
        if (now == clears_seen.load(std::memory_order_relaxed)) return;
        drop_all();
        clears_seen.store(now, std::memory_order_relaxed);
    }
    bool is_kept_out(Bytes key) const { return crashes != nullptr && crashes->is_kept_out(key); }

    void note(Bytes key, UseNotes::Where where) const {
        if (loader != nullptr && memory) loader->note(key, where);
    }
    BlobRef find_queued(Bytes key) { return queue ? queue->find(key) : BlobRef(); }

    // As the loader's thread.
    Loaded load(Bytes key) override;
    Loaded load_at(Location location) override;
    std::vector<Location> newest() override { return store->newest(kNewestMax); }
    Result<BlobRef> look_up(Bytes key) override;
    // The same without waiting for the disk; null: it must be asked.
    BlobRef look_up_cached(Bytes key);
    void note_use(Bytes key) override { store->note_use(key); }
    void trim(Pressure pressure) override;
    std::uint64_t trim_to(std::uint64_t stay);

    std::unique_ptr<Store> store;
    std::unique_ptr<CrashMemory> crashes;  // null: nothing is remembered
    std::optional<MemoryCache> memory;
    std::atomic<std::uint64_t> clears_seen = 0;
    Mutex change_mutex;
    std::array<std::uint64_t, kChangePlaces> changes GUARDED_BY(change_mutex) = {};
    bool has_other_limit = false;  // than the last one to open it
    std::optional<UpkeepThread> upkeep;
    std::optional<WriteQueue> queue;  // it writes to the store until its end
    std::unique_ptr<Loader> loader;   // last: it uses the others; null: nothing is loaded
};

// What is in memory or queued is newer than what is on disk.
LoadTarget::Loaded ProgramCache::Local::load(Bytes key) {
    if (is_kept_out(key)) return {};
    follow_clears();
    if (memory->contains(key)) return {};
    const std::uint64_t seen = changes_of(key);
    if (find_queued(key)) return {};
    const BlobRef found = store->peek(key);
    if (!found) return {};
    return {keep_behind(found, seen), key.size() + found->value().size()};
}

LoadTarget::Loaded ProgramCache::Local::load_at(Location location) {
    const BlobRef found = store->key_at(location);
    return found ? load(found->key()) : Loaded();
}

Result<BlobRef> ProgramCache::Local::look_up(Bytes key) {
    const std::uint64_t seen = memory ? changes_of(key) : 0;
    // The queue last: what is put later is not on disk yet, and newer.
    if (BlobRef queued = find_queued(key)) return queued;
    TRY_ASSIGN(BlobRef found, store->get(key, MemoryLevel::Admission::second_use));
    if (found && memory) keep(found, seen);
    return found;
}

BlobRef ProgramCache::Local::look_up_cached(Bytes key) {
    const std::uint64_t seen = memory ? changes_of(key) : 0;
    if (BlobRef queued = find_queued(key)) return queued;
    BlobRef found = store->get_cached(key);
    if (!found) return found;
    if (memory) keep(found, seen);
    note(key, UseNotes::Where::memory);  // the store has noted no hit
    return found;
}

void ProgramCache::Local::trim(Pressure pressure) {
    if (!memory || pressure == Pressure::none) return;
    (void)trim_to(pressure == Pressure::critical ? 0 : memory->stats().limit_bytes / 4);
}

std::uint64_t ProgramCache::Local::trim_to(std::uint64_t stay) {
    std::uint64_t freed = 0;
    for (std::uint64_t held = memory->stats().memory_bytes; held > stay + kTrimBytes;
         held -= kTrimBytes) {
        freed += memory->trim(held - kTrimBytes);
    }
    return freed + memory->trim(stay);
}

Result<std::unique_ptr<ProgramCache>> ProgramCache::open(const Options &options) {
    Options named = options;
    named.store.identifier = identifier_of(options.generation);
    named.store.about = options.generation.identity;
    static_assert(sizeof(Page) <= 4096);
    TRY_ASSIGN(Mapping page, Mapping::wiped_on_fork(4096));
    std::unique_ptr<ProgramCache> cache(new (std::nothrow) ProgramCache(named, std::move(page)));
    if (cache == nullptr) return Error::no_memory;
    TRY_ASSIGN(std::unique_ptr<Local> local, cache->open_local());
    cache->start_upkeep(*local);
    cache->page().local.store(local.release(), std::memory_order_release);
    return cache;
}

ProgramCache::~ProgramCache() {
    delete page().local.exchange(nullptr);
}

// Another process may be removing the generation at this moment: then it is made anew.
Result<std::unique_ptr<Store>> ProgramCache::open_store() const {
    constexpr unsigned kAttempts = 4;
    const bool may_make =
        options_.store.access == Access::read_write && options_.store.create == Create::yes;
    auto store = Store::open(options_.store);
    for (unsigned i = 1; i < kAttempts && may_make; ++i) {
        if (store.error() != Error::not_found && store.error() != Error::busy) break;
        store = Store::open(options_.store);
    }
    return store;
}

void ProgramCache::start_upkeep(Local &own) const {
    if (options_.store.access == Access::read_only) return;
    const auto root = open_root(options_.store.root, Create::no, Log());
    if (!root.ok() || (!is_upkeep_due(root.value()) && !own.has_other_limit)) return;
    own.upkeep.emplace(options_.store.root, options_.upkeep, options_.store.log);
}

Result<std::unique_ptr<ProgramCache::Local>> ProgramCache::open_local() const {
    std::unique_ptr<Local> made(new (std::nothrow) Local(options_));
    if (made == nullptr) return Error::no_memory;
    TRY_ASSIGN(made->store, open_store());
    Store &store = *made->store;
    made->clears_seen = store.clears();
    TRY_ASSIGN(const Directory root, open_root(options_.store.root, Create::no, Log()));
    TRY_ASSIGN(Directory directory, root.open_directory(options_.store.identifier));
    if (options_.store.access == Access::read_only) {
        TRY_ASSIGN(const bool is_anothers, is_of_another(directory, options_.generation));
        if (is_anothers) return Error::not_found;
    } else {
        if (options_.queue_bytes != 0) made->queue.emplace(store, options_.queue_bytes);
        TRY(claim(directory, options_.generation, [&] {
            options_.store.log.write(Severity::warning,
                                     "cache %s was another generation's: emptied",
                                     options_.store.identifier.c_str());
            return store.clear();
        }));
        made->has_other_limit = record_limit(directory, options_.application_bytes);
        open_crash_memory(*made, directory);
    }
    start_loader(*made, std::move(directory));
    return made;
}

void ProgramCache::open_crash_memory(Local &own, const Directory &directory) const {
    auto crashes = CrashMemory::open(directory);
    if (!crashes.ok()) {
        options_.store.log.write(Severity::warning,
                                 "cache %s: crashes of drivers are not remembered: %s",
                                 options_.store.identifier.c_str(), error_name(crashes.error()));
        return;
    }
    own.crashes = std::move(crashes.value());
    own.crashes->settle([&](Bytes key, bool is_last) {
        (void)own.store->remove(key);
        options_.store.log.write(
            Severity::warning,
            "cache %s: a process died while the driver took entry %s: it is dropped%s",
            options_.store.identifier.c_str(), beginning_in_hex(key).c_str(),
            is_last ? ", and kept out from now on" : "");
    });
}

void ProgramCache::start_loader(Local &own, Directory directory) const {
    Loader::Options options = options_.loader;
    options.has_memory = own.memory.has_value();
    options.may_write = options_.store.access == Access::read_write;
    own.loader = Loader::make(own, std::move(directory), options);
}

ProgramCache::Local *ProgramCache::local() {
    Local *found = page().local.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    const MutexLock lock(page().mutex);
    found = page().local.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    auto made = open_local();
    if (!made.ok()) return nullptr;
    found = made.value().release();
    page().local.store(found, std::memory_order_release);
    return found;
}

BlobRef ProgramCache::find_in_memory(Local &own, Bytes key) {
    if (!own.memory) return {};
    own.follow_clears();
    BlobRef found = own.memory->get(key);
    if (found) own.note(key, UseNotes::Where::memory);
    return found;
}

Result<BlobRef> ProgramCache::get(Bytes key) {
    Local *own = local();
    if (own == nullptr || own->is_kept_out(key)) return BlobRef();
    if (BlobRef found = find_in_memory(*own, key)) return found;
    TRY_ASSIGN(BlobRef found, own->look_up(key));
    if (found) own->note(key, UseNotes::Where::elsewhere);
    return found;
}

Result<std::optional<BlobRef>> ProgramCache::get_within(Bytes key, std::uint64_t patience_us) {
    Local *own = local();
    if (own == nullptr || own->is_kept_out(key)) return std::optional(BlobRef());
    if (BlobRef found = find_in_memory(*own, key)) return std::optional(std::move(found));
    if (BlobRef found = own->look_up_cached(key)) return std::optional(std::move(found));
    if (own->loader == nullptr) return std::optional<BlobRef>();
    TRY_ASSIGN(std::optional<BlobRef> found, own->loader->get(key, patience_us));
    if (found && *found) own->note(key, UseNotes::Where::elsewhere);
    return found;
}

Result<std::optional<std::uint64_t>> ProgramCache::get_into(Bytes key, MutableBytes buffer) {
    std::optional<std::uint64_t> size;
    Local *own = local();
    if (own == nullptr || own->is_kept_out(key)) return size;
    BlobRef found;
    if (own->memory) {
        TRY_ASSIGN(found, get(key));
    } else {
        if (own->queue) found = own->queue->find(key);
        if (!found) return own->store->get_into(key, buffer);
    }
    if (!found) return size;
    const Bytes value = found->value();
    size = value.size();
    if (!value.empty() && value.size() <= buffer.size()) {
        std::copy(value.begin(), value.end(), buffer.begin());
    }
    return size;
}

Result<bool> ProgramCache::contains(Bytes key) {
    Local *own = local();
    if (own == nullptr || own->is_kept_out(key)) return false;
    if (own->memory) own->follow_clears();
    if (own->memory && own->memory->contains(key)) return true;
    if (own->queue && own->queue->find(key)) return true;
    return own->store->contains(key);
}

Result<PutOutcome> ProgramCache::put(Bytes key, Bytes value, const PutOptions &options) {
    Local *own = local();
    if (own == nullptr) return Error::io;
    if (own->is_kept_out(key)) return PutOutcome::kept_out;
    if (own->memory) own->follow_clears();
    const bool is_queued =
        own->queue && !options.if_absent && key.size() + value.size() <= options_.queue_bytes;
    if (!is_queued) {
        // Which of several is the first, and what alone fills the queue, is for the store to say.
        if (own->queue) (void)own->queue->flush(kSyncPatienceUs);
        auto outcome = own->store->put(key, value, options);
        if (outcome.ok() && outcome.value() == PutOutcome::stored) own->drop(key);
        if (outcome.ok()) own->note(key, UseNotes::Where::elsewhere);
        return outcome;
    }
    BlobRef entry = Blob::copy(key, value, options.cost_us);
    if (!entry) return Error::no_memory;
    const MutexLock lock(own->change_mutex);
    if (!own->queue->push(entry, options)) return Error::busy;
    ++own->changes[place_of(key)];
    // It is queued, whatever becomes of this.
    const auto kept = guarded([&]() -> Result<PutOutcome> {
        own->note(key, UseNotes::Where::elsewhere);
        return own->memory ? own->memory->put(entry, options) : PutOutcome::stored;
    });
    if (own->memory && !kept.ok()) own->memory->remove(key);
    return PutOutcome::stored;
}

// First on disk: what is older there must not be found when nothing is above it any more. What is
// being read from there meanwhile is not kept: it is dropped last.
Result<bool> ProgramCache::remove(Bytes key) {
    Local *own = local();
    if (own == nullptr) return false;
    bool was_there = false;
    {
        std::optional<WriteQueue::Pause> pause;
        if (own->queue) pause.emplace(*own->queue);
        TRY_ASSIGN(was_there, own->store->remove(key));
        if (pause && pause->cancel(key)) was_there = true;
    }
    return own->drop(key) || was_there;
}

Status ProgramCache::clear() {
    Local *own = local();
    if (own == nullptr) return Error::io;
    {
        std::optional<WriteQueue::Pause> pause;
        if (own->queue) pause.emplace(*own->queue);
        TRY(own->store->clear());
        if (pause) pause->cancel_all();
    }
    if (own->loader != nullptr) own->loader->forget();
    own->drop_all();
    return {};
}

Result<std::uint64_t> ProgramCache::clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) {
    Local *own = local();
    if (own == nullptr) return Error::io;
    if (own->queue) (void)own->queue->flush(kSyncPatienceUs);
    auto removed = own->store->clear_range(begin_ns, end_ns);
    own->drop_all();
    return removed;
}

Status ProgramCache::flush(std::uint64_t patience_us) {
    // A child that has put nothing has nothing to wait for.
    Local *own = page().local.load(std::memory_order_acquire);
    if (own == nullptr || !own->queue || own->queue->flush(patience_us)) return {};
    return Error::busy;
}

Status ProgramCache::sync() {
    TRY(flush(kSyncPatienceUs));
    Local *own = local();
    return own == nullptr ? Status(Error::io) : own->store->sync();
}

Status ProgramCache::compress() {
    TRY(flush(kSyncPatienceUs));
    Local *own = local();
    return own == nullptr ? Status(Error::io) : own->store->compress();
}

std::uint32_t ProgramCache::begin_use(Bytes key) {
    Local *own = local();
    if (own == nullptr || own->crashes == nullptr) return CrashMemory::kNoTicket;
    return own->crashes->begin_use(key);
}

void ProgramCache::end_use(std::uint32_t ticket) {
    Local *own = page().local.load(std::memory_order_acquire);
    if (own != nullptr && own->crashes != nullptr) own->crashes->end_use(ticket);
}

std::uint64_t ProgramCache::trim(std::uint64_t bytes) {
    Local *own = page().local.load(std::memory_order_acquire);
    if (own == nullptr || !own->memory) return 0;
    if (own->loader != nullptr) own->loader->stop_loading();
    return own->trim_to(bytes);
}

StoreStats ProgramCache::stats() {
    Local *own = local();
    if (own == nullptr) return {};
    StoreStats stats = own->store->stats();
    if (own->memory) {
        const StoreStats level = own->memory->stats();
        stats.hits += level.hits;
        stats.bytes_read += level.bytes_read;
        stats.memory_bytes = level.memory_bytes;
    }
    return stats;
}

ProgramCacheStats ProgramCache::own_stats() {
    ProgramCacheStats stats = {};
    Local *own = local();
    if (own == nullptr) return stats;
    if (own->memory) {
        const StoreStats level = own->memory->stats();
        stats.memory_entries = level.entries;
        stats.memory_bytes = level.memory_bytes;
        stats.memory_limit_bytes = level.limit_bytes;
        stats.memory_hits = level.hits;
    }
    if (own->queue) stats.queue = own->queue->stats();
    if (own->crashes != nullptr) stats.crashes = own->crashes->counts();
    if (own->loader != nullptr) stats.loader = own->loader->stats();
    return stats;
}

void ProgramCache::enumerate(const std::function<bool(const EntryInfo &)> &visit) {
    (void)flush(kSyncPatienceUs);
    if (Local *own = local()) own->store->enumerate(visit);
}

}  // namespace cairn
