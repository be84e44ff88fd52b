// A cache over another one: it passes every call on. Layers change those that they are about.
// SPDX-License-Identifier: MIT
//
// Thread safety, ownership and failure: as the cache beneath.
#pragma once

#include <utility>

#include "cache/cache.h"

namespace cairn {

class CacheLayer : public Cache {
  public:
    Result<BlobRef> get(Bytes key) override { return inner().get(key); }
    Result<std::optional<BlobRef>> get_within(Bytes key, std::uint64_t patience_us) override {
        return inner().get_within(key, patience_us);
    }
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override {
        return inner().get_into(key, buffer);
    }
    Result<bool> contains(Bytes key) override { return inner().contains(key); }
    BlobRef get_cached(Bytes key) override { return inner().get_cached(key); }
    BlobRef peek(Bytes key) override { return inner().peek(key); }
    void visit_newest(const std::function<bool(Bytes key)> &visit) override {
        inner().visit_newest(visit);
    }
    std::uint64_t load_newest(const std::function<bool()> &go_on) override {
        return inner().load_newest(go_on);
    }
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override {
        return inner().put(key, value, options);
    }
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override {
        return inner().put_blob(std::move(entry), options);
    }
    Result<PutOutcome> put_behind(BlobRef entry) override {
        return inner().put_behind(std::move(entry));
    }
    Result<bool> remove(Bytes key) override { return inner().remove(key); }
    Status clear() override { return inner().clear(); }
    Result<std::uint64_t> clear_range(std::uint64_t begin_ns, std::uint64_t end_ns) override {
        return inner().clear_range(begin_ns, end_ns);
    }
    std::uint64_t clears() const override { return inner().clears(); }
    Result<std::uint64_t> trim(std::uint64_t bytes) override { return inner().trim(bytes); }
    Result<std::uint64_t> resize(std::uint64_t limit_bytes, std::uint64_t keep_bytes) override {
        return inner().resize(limit_bytes, keep_bytes);
    }
    Status flush(std::uint64_t patience_us) override { return inner().flush(patience_us); }
    Status sync() override { return inner().sync(); }
    Status compress() override { return inner().compress(); }
    CacheStats stats() override { return inner().stats(); }
    void enumerate(const Visit &visit) override { inner().enumerate(visit); }
    Result<BlobRef> nth(std::uint64_t index) override { return inner().nth(index); }
    std::uint32_t begin_use(Bytes key) override { return inner().begin_use(key); }
    void end_use(std::uint32_t ticket) override { inner().end_use(ticket); }
    const char *identifier() const override { return inner().identifier(); }
    std::optional<std::string> control_root() const override { return inner().control_root(); }
    Result<LeasePlace> lease_place() const override { return inner().lease_place(); }

  protected:
    explicit CacheLayer(std::unique_ptr<Cache> inner) : inner_(std::move(inner)) {}
    // A layer that owns none overrides find_inner().
    CacheLayer() = default;

    Cache &inner() const { return inner_ != nullptr ? *inner_ : find_inner(); }

  private:
    // May be another one in a forked child.
    virtual Cache &find_inner() const { return *inner_; }

    const std::unique_ptr<Cache> inner_;
};

}  // namespace cairn
