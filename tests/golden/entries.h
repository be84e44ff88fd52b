// The entries of the caches that are kept here, as write_golden makes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/cairn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace cairn_test {

// The cache has entry `i`, with its value and cost.
inline void expect_entry(cairn_cache *cache, int i) {
    const std::string key = "key " + std::to_string(i);
    const std::string expected(static_cast<std::size_t>(i) * 37, static_cast<char>('a' + i));
    cairn_blob *blob = nullptr;
    ASSERT_EQ(cairn_get(cache, key.data(), key.size(), &blob), CAIRN_OK) << key;
    const std::string value(static_cast<const char *>(cairn_blob_data(blob)),
                            cairn_blob_size(blob));
    EXPECT_EQ(value, expected);
    EXPECT_EQ(cairn_blob_cost_us(blob), static_cast<std::uint32_t>(i));
    cairn_blob_free(blob);
}

}  // namespace cairn_test
