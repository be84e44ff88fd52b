// SPDX-License-Identifier: MIT
#include "pack/entry_hash.h"

#include "base/hash.h"

namespace cairn {

std::uint64_t entry_hash(const PackIdentity &identity, Bytes key) {
    Blake2b hash;
    hash.add(as_bytes("cairn-fleet-key/1"));
    hash.add(identity);
    hash.add(key);
    return get_le<std::uint64_t>(hash.finish(), 0);
}

}  // namespace cairn
