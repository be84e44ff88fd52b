// SPDX-License-Identifier: MIT
#include "registry.h"

#include <map>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/mutex.h"
#include "os/per_process.h"

namespace cairn::d3d12 {
namespace {

struct SharedCache {
    explicit SharedCache(const std::string &name) : identity(name) {}

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
    ~Registries() {}
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
