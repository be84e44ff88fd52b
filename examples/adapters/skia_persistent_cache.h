// Skia's persistent cache of GPU programs (Ganesh) in Cairn. Tested with the headers of Skia m154.
// SPDX-License-Identifier: MIT
//
//   cairn_adapters::SkiaPersistentCache programs(cache);
//   options.fPersistentCache = &programs;   // of GrContextOptions, for GrDirectContexts::Make...
//
// Skia's keys say which program it is and nothing of the driver. So `cache` must be one for this
// driver alone: a program cache whose identity names it, as docs/embedding.md shows.
//
// Threads: those of the cache, any. Skia calls from the thread of the context.
// Lifetime: it outlives the contexts that have it, and the cache outlives it. Data that Skia still
// holds is good after both.
#pragma once

#include <cairn/cairn.h>

#include "include/core/SkData.h"
#include "include/core/SkString.h"
#include "include/gpu/ganesh/GrContextOptions.h"

namespace cairn_adapters {

class SkiaPersistentCache final : public GrContextOptions::PersistentCache {
  public:
    explicit SkiaPersistentCache(cairn_cache *cache) : cache_(cache) {}

    // No copy: Skia reads the bytes where the cache has them.
    sk_sp<SkData> load(const SkData &key) override {
        cairn_blob *blob = nullptr;
        if (cairn_get(cache_, key.data(), key.size(), &blob) != CAIRN_OK) return nullptr;
        const auto release = [](const void * /*data*/, void *of) {
            cairn_blob_free(static_cast<cairn_blob *>(of));
        };
        return SkData::MakeWithProc(cairn_blob_data(blob), cairn_blob_size(blob), release, blob);
    }

    void store(const SkData &key, const SkData &data, const SkString & /*description*/) override {
        if (data.size() == 0) return;
        (void)cairn_put(cache_, key.data(), key.size(), data.data(), data.size(), nullptr);
    }
    using PersistentCache::store;

  private:
    cairn_cache *cache_;
};

}  // namespace cairn_adapters
