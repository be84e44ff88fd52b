// SPDX-License-Identifier: MIT
#include "registry.h"

#include <map>
#include <new>
#include <vector>

#include "base/mutex.h"
#include "os/per_process.h"

namespace cairn::d3d12 {

struct SharedCache {
    Mutex mutex;
    // Guarded by mutex
    std::unique_ptr<SessionCache> cache;
    unsigned shares = 0;
};

namespace {

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

Registry &registry() {
    return registries.all.get();
}

std::shared_ptr<SharedCache> shared_cache(const std::string &identity) {
    const MutexLock lock(registry().mutex);
    std::shared_ptr<SharedCache> &shared = registry().caches[identity];
    if (shared == nullptr) {
        shared = std::make_shared<SharedCache>();
    }
    return shared;
}

// Gives up a reference, and the entry of the registry with the last but its own.
void forget(const std::string &identity, std::shared_ptr<SharedCache> &shared) {
    const MutexLock lock(registry().mutex);
    shared.reset();
    const auto found = registry().caches.find(identity);
    // References are only taken with the mutex held: nobody can be about to.
    if (found != registry().caches.end() && found->second.use_count() == 1) {
        registry().caches.erase(found);
    }
}

}  // namespace

Outcome CacheShare::join(const std::string &identity, const SessionCache::Options &options,
                         cairn_log_fn log, void *user) {
    identity_ = identity;
    std::shared_ptr<SharedCache> shared = shared_cache(identity);
    Outcome outcome = Outcome::ok;
    try {
        const MutexLock lock(shared->mutex);
        if (shared->cache == nullptr) {
            outcome = SessionCache::open(options, log, user, shared->cache);
        } else if (shared->cache->disabled()) {
            outcome = Outcome::disabled;
        } else if (shared->cache->version() != options.version) {
            outcome = Outcome::other_version;
        }
        if (outcome == Outcome::ok) {
            cache_ = shared->cache.get();
            cache_->listeners().add(log, user);
            ++shared->shares;
        }
    } catch (const std::bad_alloc &) {
        outcome = Outcome::no_memory;
        const MutexLock lock(shared->mutex);
        if (shared->shares == 0) {
            shared->cache.reset();
        }
    }
    if (outcome != Outcome::ok) {
        forget(identity, shared);
        return outcome;
    }
    shared_ = std::move(shared);
    process_ = process_number();
    log_ = log;
    user_ = user;
    return Outcome::ok;
}

CacheShare::~CacheShare() {
    // In a child of fork() the cache is the parent's, and stays as it is: a thread that the child
    // lacks may have been inside it. The registry that was left behind refers to it, too.
    if (shared_ == nullptr || process_ != process_number()) {
        return;
    }
    {
        const MutexLock lock(shared_->mutex);
        const bool is_last = --shared_->shares == 0;
        if (is_last) {
            // Lines about its end are still heard.
            std::unique_ptr<SessionCache> cache = std::move(shared_->cache);
            cache->close();
            cache->listeners().remove(log_, user_);
        } else {
            cache_->listeners().remove(log_, user_);
        }
    }
    forget(identity_, shared_);
}

void for_each_cache(const std::function<void(SessionCache &)> &visit) {
    std::vector<std::pair<std::string, std::shared_ptr<SharedCache>>> all;
    {
        const MutexLock lock(registry().mutex);
        all.assign(registry().caches.begin(), registry().caches.end());
    }
    for (auto &[identity, shared] : all) {
        {
            const MutexLock lock(shared->mutex);
            if (shared->cache != nullptr) {
                visit(*shared->cache);
            }
        }
        forget(identity, shared);
    }
}

}  // namespace cairn::d3d12
