// SPDX-License-Identifier: MIT
#include "registry.h"

#include <map>
#include <mutex>
#include <vector>

namespace cairn::d3d12 {

struct SharedCache {
    std::mutex mutex;
    // Guarded by mutex
    std::unique_ptr<Cache> cache;
    unsigned shares = 0;
};

namespace {

struct Registry {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<SharedCache>> caches;  // guarded by mutex
};

Registry &registry() {
    static auto *the_registry = new Registry;
    return *the_registry;
}

std::shared_ptr<SharedCache> shared_cache(const std::string &identity) {
    const std::lock_guard lock(registry().mutex);
    std::shared_ptr<SharedCache> &shared = registry().caches[identity];
    if (shared == nullptr) {
        shared = std::make_shared<SharedCache>();
    }
    return shared;
}

// Gives up a reference, and the entry of the registry with the last but its own.
void forget(const std::string &identity, std::shared_ptr<SharedCache> &shared) {
    const std::lock_guard lock(registry().mutex);
    shared.reset();
    const auto found = registry().caches.find(identity);
    // References are only taken with the mutex held: nobody can be about to.
    if (found != registry().caches.end() && found->second.use_count() == 1) {
        registry().caches.erase(found);
    }
}

}  // namespace

Outcome CacheShare::join(const std::string &identity, const Cache::Options &options,
                         cairn_log_fn log, void *user) {
    std::shared_ptr<SharedCache> shared = shared_cache(identity);
    Outcome outcome = Outcome::ok;
    {
        const std::lock_guard lock(shared->mutex);
        if (shared->cache == nullptr) {
            outcome = Cache::open(options, log, user, shared->cache);
        } else if (shared->cache->disabled()) {
            outcome = Outcome::disabled;
        } else if (shared->cache->version() != options.version) {
            outcome = Outcome::other_version;
        }
        if (outcome == Outcome::ok) {
            ++shared->shares;
            cache_ = shared->cache.get();
            cache_->listeners().add(log, user);
        }
    }
    if (outcome != Outcome::ok) {
        forget(identity, shared);
        return outcome;
    }
    identity_ = identity;
    shared_ = std::move(shared);
    log_ = log;
    user_ = user;
    return Outcome::ok;
}

CacheShare::~CacheShare() {
    if (shared_ == nullptr) {
        return;
    }
    {
        const std::lock_guard lock(shared_->mutex);
        const bool is_last = --shared_->shares == 0;
        if (is_last) {
            // Lines about its end are still heard.
            std::unique_ptr<Cache> cache = std::move(shared_->cache);
            cache->close();
            cache->listeners().remove(log_, user_);
        } else {
            cache_->listeners().remove(log_, user_);
        }
    }
    forget(identity_, shared_);
}

void for_each_cache(const std::function<void(Cache &)> &visit) {
    std::vector<std::pair<std::string, std::shared_ptr<SharedCache>>> all;
    {
        const std::lock_guard lock(registry().mutex);
        all.assign(registry().caches.begin(), registry().caches.end());
    }
    for (auto &[identity, shared] : all) {
        {
            const std::lock_guard lock(shared->mutex);
            if (shared->cache != nullptr) {
                visit(*shared->cache);
            }
        }
        forget(identity, shared);
    }
}

}  // namespace cairn::d3d12
