// A cache that neither gives out nor takes an entry that drivers died with twice: crash_memory.h.
// SPDX-License-Identifier: MIT
//
// Thread safety, ownership and failure: as the cache beneath.
#pragma once

#include "cache/cache_layer.h"
#include "cache/crash_memory.h"

namespace cairn {

class CrashGuard final : public CacheLayer {
  public:
    CrashGuard(std::unique_ptr<Cache> inner, std::unique_ptr<CrashMemory> crashes)
        : CacheLayer(std::move(inner)), crashes_(std::move(crashes)) {}

    Result<BlobRef> get(Bytes key) override {
        if (crashes_->is_kept_out(key)) return BlobRef();
        return inner().get(key);
    }
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override {
        if (crashes_->is_kept_out(key)) return std::optional<std::uint64_t>();
        return inner().get_into(key, buffer);
    }
    Result<bool> contains(Bytes key) override {
        if (crashes_->is_kept_out(key)) return false;
        return inner().contains(key);
    }
    BlobRef get_cached(Bytes key) override {
        return crashes_->is_kept_out(key) ? BlobRef() : inner().get_cached(key);
    }
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override {
        if (crashes_->is_kept_out(key)) return PutOutcome::kept_out;
        return inner().put(key, value, options);
    }
    Result<PutOutcome> put_blob(BlobRef entry, const PutOptions &options) override {
        if (crashes_->is_kept_out(entry->key())) return PutOutcome::kept_out;
        return inner().put_blob(std::move(entry), options);
    }
    std::uint32_t begin_use(Bytes key) override { return crashes_->begin_use(key); }
    void end_use(std::uint32_t ticket) override { crashes_->end_use(ticket); }
    CacheStats stats() override {
        CacheStats stats = inner().stats();
        if (!stats.program) stats.program.emplace();
        const CrashCounts counts = crashes_->counts();
        stats.program->crashes_dropped = counts.dropped;
        stats.program->crashes_kept_out = counts.kept_out;
        return stats;
    }

  private:
    const std::unique_ptr<CrashMemory> crashes_;
};

}  // namespace cairn
