// SPDX-License-Identifier: MIT
#include "cache/cache.h"

#include <algorithm>
#include <atomic>

namespace cairn {
namespace {

std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

}  // namespace

Cache::Cache() : serial_(next_serial()) {}

std::optional<std::uint64_t> Cache::copy_value(const BlobRef &entry, MutableBytes buffer) {
    if (!entry) return std::nullopt;
    const Bytes value = entry->value();
    if (value.size() <= buffer.size()) std::copy(value.begin(), value.end(), buffer.begin());
    return value.size();
}

}  // namespace cairn
