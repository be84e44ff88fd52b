// The calls of cairn.h on leases.
// SPDX-License-Identifier: MIT
#include "cache/lease.h"

#include <cairn/cairn.h>

#include "capi/cache_handle.h"

struct cairn_lease {
    cairn_cache *cache;
    std::unique_ptr<cairn::Lease> lease;
};

namespace cairn {
namespace {

constexpr std::uint64_t kWritePatienceUs = 100'000;

LeasePlace place_of(const cairn_cache &cache) {
    if (cache.memory != nullptr) return {{}, {}, cache.serial};
    if (cache.store != nullptr) return {cache.store->root(), cache.store->identifier()};
    return {cache.programs->root(), cache.programs->identifier()};
}

}  // namespace
}  // namespace cairn

using namespace cairn;

int cairn_lease_acquire(cairn_cache *cache, const void *key, size_t key_size, uint32_t patience_ms,
                        cairn_lease **lease) {
    return result_of([&]() -> int {
        if (lease == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        if (cache == nullptr || key == nullptr || key_size == 0 || key_size > CAIRN_KEY_SIZE_MAX) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        if (cache->broker != nullptr) return CAIRN_ERROR_UNSUPPORTED;
        if (cache->read_only) return CAIRN_ERROR_READ_ONLY;
        std::unique_ptr<cairn_lease> made(new (std::nothrow) cairn_lease{cache, nullptr});
        if (made == nullptr) return CAIRN_ERROR_NO_MEMORY;
        const auto is_there = [&] { return cairn_contains(cache, key, key_size) == CAIRN_OK; };
        auto acquired = Lease::acquire(place_of(*cache), bytes(key, key_size),
                                       std::uint64_t{patience_ms} * 1000, is_there);
        if (!acquired.ok()) return result_code(acquired.error());
        if (acquired.value() == nullptr) return CAIRN_EXISTS;
        made->lease = std::move(acquired.value());
        *lease = made.release();
        return CAIRN_OK;
    });
}

void cairn_lease_release(cairn_lease *lease) {
    if (lease == nullptr) return;
    if (ProgramCache *programs = lease->cache->programs.get()) {
        (void)guarded([&] { return programs->flush(kWritePatienceUs); });
    }
    delete lease;
}
