// The wrapper in C++17, where exceptions and RTTI are off: all that differs from C++20 with both.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>
#include <vector>

#include "cairn/cairn.hpp"

namespace {

// Bytes borrow from what has them.
bool views_are_right() {
    const std::vector<std::byte> one(3);
    const std::array<std::uint32_t, 2> words{1, 2};
    const cairn::Bytes whole = one;
    return whole.data() == one.data() && whole.size() == 3 && cairn::bytes(words).size() == 8 &&
           cairn::bytes("ab")[1] == std::byte{'b'} && cairn::bytes("").empty() &&
           cairn::Bytes().begin() == cairn::Bytes().end();
}

}  // namespace

int main() {
    cairn::Options options;
    options.identifier = "quiet";
    options.mode = cairn::Mode::memory;
    auto [cache, status] = cairn::Cache::open(options);
    cache.put(cairn::bytes("one"), cairn::bytes("1"));
    cache.put(cairn::bytes("two"), cairn::bytes("22"));
    std::size_t seen = 0;
    std::size_t bytes = 0;
    const auto all = cache.enumerate([&](const cairn::Entry &entry) { bytes += entry.value_size; });
    const auto first = cache.enumerate([&](const cairn::Entry &) {
        seen++;
        return false;
    });
    const bool good = all == cairn::Status::ok && first == cairn::Status::ok && bytes == 3 &&
                      seen == 1 && views_are_right() && cairn::KeyBuilder("test/1").finish();
    if (!good) std::printf("%s: %zu bytes, %zu seen\n", cairn::describe(status), bytes, seen);
    return good ? 0 : 1;
}
