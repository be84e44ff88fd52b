// A cache behind a broker: look-ups in lent files, stores as messages.
// SPDX-License-Identifier: MIT
//
// Thread safety, ownership and failure: as BrokerClient's. Other changes are unsupported.
#pragma once

#include <memory>

#include "cache/broker_client.h"
#include "cache/disk_cache.h"

namespace cairn {

class BrokeredCache final : public Cache {
  public:
    // Uses nothing but the connection and what comes by it.
    static Result<std::unique_ptr<BrokeredCache>> open(const BrokerOptions &options,
                                                       Socket connected,
                                                       std::uint64_t memory_bytes);

    Result<BlobRef> get(Bytes key) override { return lent_->get(key); }
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override {
        return lent_->get_into(key, buffer);
    }
    Result<bool> contains(Bytes key) override { return lent_->contains(key); }
    // Taken into the queue. That exactly one of several finds the key absent does not hold.
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    Status flush(std::uint64_t patience_us) override;
    Status sync() override { return Error::unsupported; }
    Status compress() override { return Error::unsupported; }
    CacheStats stats() override;
    void enumerate(const Visit &visit) override { lent_->enumerate(visit); }

  private:
    BrokeredCache(std::unique_ptr<BrokerClient> client, std::unique_ptr<DiskCache> lent)
        : client_(std::move(client)), lent_(std::move(lent)) {}

    const std::unique_ptr<BrokerClient> client_;
    const std::unique_ptr<DiskCache> lent_;  // last: the client lends it its files
};

}  // namespace cairn
