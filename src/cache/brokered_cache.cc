// SPDX-License-Identifier: MIT
#include "cache/brokered_cache.h"

#include <new>

namespace cairn {

Result<std::unique_ptr<BrokeredCache>> BrokeredCache::open(const BrokerOptions &options,
                                                           Socket connected,
                                                           std::uint64_t memory_bytes) {
    TRY_ASSIGN(auto client, BrokerClient::open(options, std::move(connected)));
    StoreOptions store;
    store.identifier = client->identifier();
    store.any_version = true;  // the broker has opened the right one
    store.access = Access::read_only;
    store.memory_bytes = memory_bytes;
    store.log = options.log;
    store.lent = client.get();
    auto lent = DiskCache::open(store);
    if (!lent.ok()) return Error::io;
    std::unique_ptr<BrokeredCache> cache(
        new (std::nothrow) BrokeredCache(std::move(client), std::move(lent.value())));
    if (cache == nullptr) return Error::no_memory;
    return cache;
}

Result<PutOutcome> BrokeredCache::put(Bytes key, Bytes value, const PutOptions &options) {
    if (options.if_absent) {
        TRY_ASSIGN(const bool there, lent_->contains(key));
        if (there) return PutOutcome::exists;
    }
    TRY(client_->put(key, value, options));
    return PutOutcome::stored;
}

Status BrokeredCache::flush(std::uint64_t patience_us) {
    return client_->flush(static_cast<unsigned>(patience_us / 1000));
}

CacheStats BrokeredCache::stats() {
    CacheStats stats = lent_->stats();
    stats.broker = client_->stats();
    stats.puts = stats.broker->accepted;
    stats.puts_refused = stats.broker->dropped;
    return stats;
}

}  // namespace cairn
