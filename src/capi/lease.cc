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

}  // namespace
}  // namespace cairn

using namespace cairn;

int cairn_lease_acquire(cairn_cache *cache, const void *key, size_t key_size, uint32_t patience_ms,
                        cairn_lease **lease) {
    return change(cache, valid_key(key, key_size) && lease != nullptr, [&](Cache &own) -> int {
        std::unique_ptr<cairn_lease> made(new (std::nothrow) cairn_lease{cache, nullptr});
        if (made == nullptr) return CAIRN_ERROR_NO_MEMORY;
        const auto is_there = [&] { return cairn_contains(cache, key, key_size) == CAIRN_OK; };
        auto acquired =
            Lease::acquire(own, bytes(key, key_size), std::uint64_t{patience_ms} * 1000, is_there);
        if (!acquired.ok()) return result_code(acquired.error());
        if (acquired.value() == nullptr) return CAIRN_EXISTS;
        made->lease = std::move(acquired.value());
        *lease = made.release();
        return CAIRN_OK;
    });
}

// Entries that were put are written first: others would not find them.
void cairn_lease_release(cairn_lease *lease) {
    if (lease == nullptr) return;
    (void)guarded([&] { return lease->cache->cache->flush(kWritePatienceUs); });
    delete lease;
}
