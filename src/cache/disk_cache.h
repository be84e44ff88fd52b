// A cache on disk, shared by processes: a Store.
// SPDX-License-Identifier: MIT
//
// Thread safety, ownership and failure: as the store's. After fork() both processes may go on.
#pragma once

#include <memory>

#include "cache/cache.h"
#include "os/file.h"

namespace cairn {

class DiskCache final : public Cache {
  public:
    // Errors as Store::open().
    static Result<std::unique_ptr<DiskCache>> open(const StoreOptions &options) {
        TRY_ASSIGN(std::unique_ptr<Store> store, Store::open(options));
        return std::unique_ptr<DiskCache>(new DiskCache(std::move(store)));
    }

    Result<BlobRef> get(Bytes key) override { return store_->get(key); }
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override {
        return store_->get_into(key, buffer);
    }
    Result<bool> contains(Bytes key) override { return store_->contains(key); }
    BlobRef get_cached(Bytes key) override { return store_->get_cached(key); }
    Fate fate_of(Bytes key) override;
    BlobRef peek(Bytes key) override { return store_->peek(key); }
    void visit_newest(const std::function<bool(Bytes key)> &visit) override {
        constexpr std::size_t kPlacesMax = 1'000'000;  // known at once
        for (const Location location : store_->newest(kPlacesMax)) {
            const BlobRef entry = store_->key_at(location);
            if (entry && !visit(entry->key())) return;
        }
    }
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override {
        return store_->put(key, value, options);
    }
    Result<bool> remove(Bytes key) override { return store_->remove(key); }
    // These hide what layers have, too, and forget what starts used.
    Status clear() override;
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override;
    std::uint64_t clears() const override { return store_->clears(); }
    Status sync() override { return store_->sync(); }
    Status compress() override { return store_->compress(); }
    CacheStats stats() override { return {store_->stats(), {}, {}}; }
    std::uint64_t evicted() override { return store_->evicted(); }
    std::uint64_t disk_limit() override { return store_->limit_bytes(); }
    void enumerate(const Visit &visit) override { store_->enumerate(visit); }
    const CachePlace *place() const override { return &place_; }
    std::uint64_t version() const { return store_->version(); }

  private:
    explicit DiskCache(std::unique_ptr<Store> store)
        : store_(std::move(store)), place_{store_->root(), store_->identifier()} {}

    Result<Directory> directory() const;

    const std::unique_ptr<Store> store_;
    const CachePlace place_;
};

}  // namespace cairn
