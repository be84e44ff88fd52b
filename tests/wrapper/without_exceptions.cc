// The wrapper where exceptions and RTTI are off: enumerating, the one place that differs.
// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cairn/cairn.hpp"

int main() {
    auto [cache, status] = cairn::Cache::open({.identifier = "quiet", .mode = cairn::Mode::memory});
    cache.put(cairn::bytes("one"), cairn::bytes("1"));
    cache.put(cairn::bytes("two"), cairn::bytes("22"));
    std::size_t seen = 0;
    std::size_t bytes = 0;
    const auto all = cache.enumerate([&](const cairn::Entry &entry) { bytes += entry.value_size; });
    const auto first = cache.enumerate([&](const cairn::Entry &) {
        seen++;
        return false;
    });
    const bool good =
        all == cairn::Status::ok && first == cairn::Status::ok && bytes == 3 && seen == 1;
    if (!good) std::printf("%s: %zu bytes, %zu seen\n", cairn::describe(status), bytes, seen);
    return good ? 0 : 1;
}
