// Keys and values of the smaller benchmarks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstring>
#include <random>
#include <string>

namespace samples {

inline std::string key_of(std::size_t i) {
    char key[40];
    std::snprintf(key, sizeof key, "program-%012zu", i);
    return key;
}

// Bytes that do not compress, the same for each number.
inline std::string value_of(std::size_t i, std::size_t size) {
    std::string value(size, '\0');
    std::mt19937_64 random(i);
    for (std::size_t j = 0; j + 8 <= value.size(); j += 8) {
        const auto word = random();
        std::memcpy(value.data() + j, &word, 8);
    }
    return value;
}

}  // namespace samples
