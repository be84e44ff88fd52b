// SPDX-License-Identifier: MIT
// Keys, values and folders of the smaller benchmarks.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>

namespace bench {

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

// A new folder, which is gone at the end.
struct Folder {
    explicit Folder(const std::string &parent = std::filesystem::temp_directory_path())
        : path(parent + "/cairn-bench-XXXXXX") {
        if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    std::string path;
};

}  // namespace bench
