// The calls of cairn.h on leases.
// SPDX-License-Identifier: MIT
#include "cache/lease.h"

#include <cairn/cairn.h>

#include "capi/cache_handle.h"

using namespace cairn;

struct cairn_lease {
    std::unique_ptr<Lease> lease;
};

int cairn_lease_acquire(cairn_cache *cache, const void *key, size_t key_size, uint32_t patience_ms,
                        cairn_lease **lease) {
    return change(cache, valid_key(key, key_size) && lease != nullptr, [&](Cache &own) -> int {
        auto acquired =
            Lease::acquire(own, bytes(key, key_size), std::uint64_t{patience_ms} * 1000);
        if (!acquired.ok()) return result_code(acquired.error());
        if (acquired.value() == nullptr) return CAIRN_EXISTS;
        *lease = new cairn_lease{std::move(acquired.value())};
        return CAIRN_OK;
    });
}

void cairn_lease_release(cairn_lease *lease) {
    const std::unique_ptr<cairn_lease> given_back(lease);  // also where the thread is cancelled
    if (lease != nullptr) lease->lease->flush();
}
