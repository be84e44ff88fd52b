// SPDX-License-Identifier: MIT
#include "session_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "os/environment.h"

namespace cairn::d3d12 {
namespace {

// How often an entry is looked at again that is gone when its key was just there.
constexpr unsigned kAttempts = 3;

Outcome judge(const EntryRef &there, Bytes key, Outcome same) {
    return there->has_key(key) ? same : Outcome::collision;
}

}  // namespace

ControlRef open_control(const std::string &root, uint32_t flags, cairn_log_fn log, void *user) {
    cairn_control_options open = {};
    open.size = sizeof open;
    open.root = root.empty() ? nullptr : root.c_str();
    open.flags = flags;
    open.log = log;
    open.log_user = user;
    cairn_control *control = nullptr;
    (void)cairn_control_open(&open, &control);
    return ControlRef(control);
}

void Listeners::add(cairn_log_fn log, void *user) {
    State &state = state_.get();  // made now: remove() and receive() find it
    if (log == nullptr) return;
    const MutexLock lock(state.mutex);
    ++state.sessions[{log, user}];
}

void Listeners::remove(cairn_log_fn log, void *user) {
    State &state = state_.get();
    const MutexLock lock(state.mutex);
    const auto found = state.sessions.find({log, user});
    if (found != state.sessions.end() && --found->second == 0) {
        state.sessions.erase(found);
    }
}

void Listeners::receive(void *self, int severity, const char *line) {
    State *state = static_cast<Listeners *>(self)->state_.existing();
    if (state == nullptr) return;
    const MutexLock lock(state->mutex);
    for (const auto &[listener, sessions] : state->sessions) {
        listener.first(listener.second, severity, line);
    }
}

SessionCache::SessionCache(const CacheOptions &options)
    : options_(options), memory_(options.memory_bytes, options.memory_entries) {
    options_.log = Listeners::receive;
    options_.log_user = &listeners_;
}

Outcome SessionCache::open(const CacheOptions &options, std::unique_ptr<SessionCache> &cache) {
    cache.reset(new SessionCache(options));
    cache->listeners_.add(options.log, options.log_user);
    // A session that keeps nothing in the root makes nothing there, and hears of changes a tenth of
    // a second later, if it is the first that ever did; but not where this process can make them.
    const auto open = [&](uint32_t flags) {
        const CacheOptions &own = cache->options_;
        cache->control_.reset();
        cache->control_ = open_control(own.control_root, flags, own.log, own.log_user);
    };
    const bool is_there = options.is_on_disk && options.root == options.control_root;
    open(is_there ? 0 : CAIRN_CONTROL_OPEN_READ_ONLY);
    if (!is_there && cairn_control_developer_mode(cache->control_.get()) != 0) {
        open(0);
    }
    cache->clears_seen_ =
        cairn_control_clears(cache->control_.get(), CAIRN_KIND_APPLICATION_MANAGED);
    Outcome outcome = cache->disabled() ? Outcome::disabled : Outcome::ok;
    if (options.is_on_disk && outcome == Outcome::ok) {
        outcome = DiskLevel::open(cache->options_, cache->disk_);
    }
    if (outcome != Outcome::ok) {
        cache.reset();
    }
    return outcome;
}

// A run begins with the first look-up: who only opens sessions leaves none.
SessionAccount &SessionCache::account() {
    if (SessionAccount *const there = account_.load(std::memory_order_acquire)) return *there;
    cairn_cache *const cache = disk_ == nullptr ? nullptr : disk_->visible();
    auto made = std::make_unique<SessionAccount>(options_, cache);
    SessionAccount *there = nullptr;
    return account_.compare_exchange_strong(there, made.get()) ? *made.release() : *there;
}

bool SessionCache::disabled() const {
    return (cairn_control_disabled(control_.get()) & CAIRN_KIND_APPLICATION_MANAGED) != 0;
}

// Another process may have cleared the disk; entries in memory are still there.
void SessionCache::follow_clears() {
    const uint64_t clears = cairn_control_clears(control_.get(), CAIRN_KIND_APPLICATION_MANAGED);
    if (clears != clears_seen_.load(std::memory_order_relaxed)) {
        memory_.clear();
        hold(nullptr);
        clears_seen_.store(clears, std::memory_order_relaxed);
    }
}

Outcome SessionCache::find(Bytes key, Wanted wanted, EntryRef &entry) {
    if (disabled()) {
        account().refused(options_.hash(key), Detail::switched_off);
        return Outcome::disabled;
    }
    follow_clears();
    entry = take_held(key);
    if (entry != nullptr && wanted == Wanted::value) return Outcome::ok;
    const uint64_t start_ns = monotonic_ns();
    const KeyHash hash = options_.hash(key);
    entry = disk_ == nullptr ? memory_.find(hash) : disk_->find(hash);
    if (entry == nullptr) {
        account().missed(hash, start_ns);
        return Outcome::not_found;
    }
    if (!entry->has_key(key)) {
        account().refused(hash, Detail::hash_collision);
        return Outcome::collision;
    }
    account().found(hash, *entry, start_ns);
    return Outcome::ok;
}

// Where another thread is in the way, nothing is held: the entry is read again.
void SessionCache::hold(EntryRef entry) {
    if (disk_ == nullptr || !held_mutex_.try_lock()) return;
    const AdoptedLock lock(held_mutex_);
    held_.swap(entry);
    held_by_ = std::this_thread::get_id();
}

EntryRef SessionCache::take_held(Bytes key) {
    if (disk_ == nullptr || !held_mutex_.try_lock()) return nullptr;
    const AdoptedLock lock(held_mutex_);
    if (held_by_ != std::this_thread::get_id()) return nullptr;
    EntryRef held = std::exchange(held_, nullptr);
    return held != nullptr && held->has_key(key) ? held : nullptr;
}

Outcome SessionCache::store(Bytes key, Bytes value) {
    if (disabled()) return Outcome::disabled;
    follow_clears();
    (void)take_held(key);
    const KeyHash hash = options_.hash(key);
    const uint64_t cost_ns = account().cost_ns(hash);
    const auto cost_us = static_cast<uint32_t>(std::min<uint64_t>(cost_ns / 1000, UINT32_MAX));
    const EntryRef entry = Entry::copy(key, value, cost_us);
    const Outcome outcome = entry == nullptr ? Outcome::no_memory : store(hash, key, entry);
    account().stored(hash, outcome, value.size(), cost_ns);
    return outcome;
}

Outcome SessionCache::store(const KeyHash &hash, Bytes key, const EntryRef &entry) {
    if (disk_ != nullptr) return store_on_disk(hash, key, entry);
    const EntryRef there = memory_.insert(hash, entry);
    return there == nullptr ? Outcome::ok : judge(there, key, Outcome::exists);
}

Outcome SessionCache::store_on_disk(const KeyHash &hash, Bytes key, const EntryRef &entry) {
    for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
        const Outcome outcome = disk_->store(hash, *entry);
        if (outcome == Outcome::ok) return outcome;
        // Whatever stood in the way: a key that is there is there.
        if (const EntryRef there = disk_->find(hash)) return judge(there, key, Outcome::exists);
        if (outcome != Outcome::exists) return outcome;
        // It is damaged, or gone meanwhile.
    }
    return Outcome::busy;
}

Outcome SessionCache::clear() {
    memory_.clear();
    hold(nullptr);
    return disk_ == nullptr ? Outcome::ok : disk_->clear();
}

// The registry: the caches that are open in this process, by identity.

namespace {

struct SharedCache {
    explicit SharedCache(std::string name) : identity(std::move(name)) {}

    const std::string identity;
    Mutex mutex;
    // Guarded by mutex
    std::unique_ptr<SessionCache> cache;
    unsigned shares = 0;
};

struct Registry {
    Mutex mutex;
    std::map<std::string, std::shared_ptr<SharedCache>> caches;  // guarded by mutex
};

// Never destroyed: objects may be released until the end of the process. Made without a lock, which
// a child of fork() might find held.
union Registries {
    constexpr Registries() : all() {}
    ~Registries() {}  // NOLINT(modernize-use-equals-default): that would be deleted
    PerProcess<Registry> all;
};
constinit Registries registries;

std::shared_ptr<SharedCache> shared_cache(const std::string &identity) {
    Registry &registry = registries.all.get();
    const MutexLock lock(registry.mutex);
    const auto found = registry.caches.find(identity);
    if (found != registry.caches.end()) return found->second;
    return registry.caches.emplace(identity, std::make_shared<SharedCache>(identity)).first->second;
}

// Gives up a reference, and the entry of the registry with the last but its own.
void forget(std::shared_ptr<SharedCache> &shared) {
    Registry &registry = registries.all.get();
    const MutexLock lock(registry.mutex);
    const auto found = registry.caches.find(shared->identity);
    shared.reset();
    // References are only taken with the mutex held: nobody can be about to.
    if (found != registry.caches.end() && found->second.use_count() == 1) {
        registry.caches.erase(found);
    }
}

// With the cache locked.
Outcome join_shared(SharedCache &shared, const CacheOptions &options) {
    if (shared.cache == nullptr) return SessionCache::open(options, shared.cache);
    if (shared.cache->disabled()) return Outcome::disabled;
    if (shared.cache->options().version != options.version) return Outcome::other_version;
    shared.cache->listeners().add(options.log, options.log_user);
    return Outcome::ok;
}

// Gives up a share that this process got.
void leave(std::shared_ptr<SharedCache> &shared, cairn_log_fn log, void *user) {
    {
        const MutexLock lock(shared->mutex);
        if (--shared->shares == 0) {
            shared->cache.reset();  // lines about its end are still heard
        } else {
            shared->cache->listeners().remove(log, user);
        }
    }
    forget(shared);
}

}  // namespace

Outcome join_cache(const CacheOptions &options, std::shared_ptr<SessionCache> &cache) {
    std::shared_ptr<SharedCache> shared = shared_cache(options.identity);
    SessionCache *joined = nullptr;
    Outcome outcome;
    {
        const MutexLock lock(shared->mutex);
        outcome = guarded([&] { return join_shared(*shared, options); }, Outcome::no_memory);
        if (outcome == Outcome::ok) {
            joined = shared->cache.get();
            ++shared->shares;
        } else if (shared->shares == 0) {
            shared->cache.reset();
        }
    }
    if (joined == nullptr) {
        forget(shared);
        return outcome;
    }
    // In a child of fork() the cache is the parent's, and stays as it is: a thread that the child
    // lacks may have been inside it. The registry that was left behind refers to it, too.
    cache.reset(joined, [shared = std::move(shared), process = process_number(), log = options.log,
                         user = options.log_user](SessionCache *) mutable {
        if (process == process_number()) {
            leave(shared, log, user);
        }
    });
    return Outcome::ok;
}

Outcome clear_caches(const std::string &control_root) {
    std::vector<std::shared_ptr<SharedCache>> all;
    {
        Registry &registry = registries.all.get();
        const MutexLock lock(registry.mutex);
        for (const auto &[identity, shared] : registry.caches) {
            all.push_back(shared);
        }
    }
    Outcome worst = Outcome::ok;
    for (std::shared_ptr<SharedCache> &shared : all) {
        {
            const MutexLock lock(shared->mutex);
            SessionCache *cache = shared->cache.get();
            if (cache != nullptr && cache->options().control_root == control_root) {
                const Outcome outcome = cache->clear();
                worst = outcome == Outcome::ok ? worst : outcome;
            }
        }
        forget(shared);
    }
    return worst;
}

}  // namespace cairn::d3d12
