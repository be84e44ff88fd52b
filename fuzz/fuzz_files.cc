// A cache whose files have been written to by somebody else: it opens, finds the right bytes or
// nothing, and takes new entries. An input is a list of patches: which file, where, what.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "cairn/cairn.h"
#include "support/files.h"
#include "support/temp_directory.h"

namespace {

namespace fs = std::filesystem;
using cairn_test::TempDirectory;

constexpr int kEntryCount = 24;

[[noreturn]] void fail(const char *what, int result) {
    std::fprintf(stderr, "%s: %s\n", what, cairn_result_string(result));
    std::abort();
}

std::string key_of(int number) {
    return "key " + std::to_string(number);
}

std::string value_of(int number) {
    return std::string(static_cast<std::size_t>(number) * 137, static_cast<char>('a' + number));
}

cairn_cache *open_cache(const std::string &root) {
    cairn_options options{};
    options.size = sizeof(options);
    options.root = root.c_str();
    options.identifier = "files";
    options.memory_bytes = CAIRN_NONE;
    cairn_cache *cache = nullptr;
    if (const int result = cairn_open(&options, &cache); result != CAIRN_OK) fail("open", result);
    return cache;
}

void put(cairn_cache *cache, int number) {
    const std::string key = key_of(number), value = value_of(number);
    const int result =
        cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr);
    if (result != CAIRN_OK) fail("put", result);
}

// Whether the entry is there. Aborts when it is there with other bytes.
bool check(cairn_cache *cache, int number) {
    const std::string key = key_of(number), value = value_of(number);
    cairn_blob *blob = nullptr;
    const int result = cairn_get(cache, key.data(), key.size(), &blob);
    if (result == CAIRN_MISS) return false;
    if (result != CAIRN_OK) fail("get", result);
    if (cairn_blob_size(blob) != value.size() ||
        std::memcmp(cairn_blob_data(blob), value.data(), value.size()) != 0) {
        fail("get: wrong bytes", result);
    }
    cairn_blob_free(blob);
    return true;
}

struct FileContent {
    std::string name;
    std::vector<char> bytes;
};

// The files of a cache that holds all entries, made once.
const std::vector<FileContent> &intact_files() {
    static const std::vector<FileContent> files = [] {
        const TempDirectory root;
        cairn_cache *cache = open_cache(root.path());
        for (int i = 0; i < kEntryCount; i++) put(cache, i);
        cairn_close(cache);
        std::vector<FileContent> made;
        for (const auto &entry : fs::directory_iterator(cairn_test::store_files(root / "files"))) {
            std::ifstream stream(entry.path(), std::ios::binary);
            made.push_back(
                {entry.path().filename().string(), {std::istreambuf_iterator<char>(stream), {}}});
        }
        std::sort(made.begin(), made.end(),
                  [](const auto &one, const auto &other) { return one.name < other.name; });
        return made;
    }();
    return files;
}

// Each patch: file, three bytes of offset, length and kind, then its bytes.
void damage(std::vector<FileContent> &files, const uint8_t *data, std::size_t size) {
    while (size >= 6) {
        auto &bytes = files[data[0] % files.size()].bytes;
        const std::size_t offset = data[1] | std::size_t{data[2]} << 8 | std::size_t{data[3]} << 16;
        const std::size_t length = std::min<std::size_t>(data[4], size - 6);
        const bool cut = data[5] == 255;
        data += 6;
        size -= 6;
        if (bytes.empty()) continue;
        const std::size_t place = offset % bytes.size();
        if (cut) {
            bytes.resize(place);
        } else {
            for (std::size_t i = 0; i < length && place + i < bytes.size(); i++) {
                bytes[place + i] = static_cast<char>(data[i]);
            }
        }
        data += length;
        size -= length;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    auto files = intact_files();
    damage(files, data, size);
    const TempDirectory root;
    const fs::path folder = cairn_test::store_files(root / "files");
    fs::create_directories(folder);
    fs::permissions(folder.parent_path(), fs::perms::owner_all);
    fs::permissions(folder, fs::perms::owner_all);
    for (const auto &file : files) {
        std::ofstream(folder / file.name, std::ios::binary)
            .write(file.bytes.data(), static_cast<std::streamsize>(file.bytes.size()));
    }

    cairn_cache *cache = open_cache(root.path());
    int found = 0;
    for (int i = 0; i < kEntryCount; i++) found += check(cache, i) ? 1 : 0;
    if (size < 6 && found != kEntryCount) fail("an undamaged cache", CAIRN_MISS);
    for (int i = 0; i < kEntryCount; i++) put(cache, i);
    for (int i = 0; i < kEntryCount; i++) {
        if (!check(cache, i)) fail("what was just put", CAIRN_MISS);
    }
    cairn_close(cache);
    return 0;
}
