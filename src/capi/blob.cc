// The calls of cairn.h on blobs, and what needs no cache at all: strings and program keys.
// SPDX-License-Identifier: MIT
#include <cairn/internal/front_end.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "base/guarded.h"
#include "cache/program_key.h"
#include "capi/cache_handle.h"

using namespace cairn;

const void *cairn_blob_data(const cairn_blob *blob) {
    return blob == nullptr ? nullptr : from_handle(blob)->value().data();
}

size_t cairn_blob_size(const cairn_blob *blob) {
    return blob == nullptr ? 0 : from_handle(blob)->value().size();
}

uint32_t cairn_blob_cost_us(const cairn_blob *blob) {
    return blob == nullptr ? 0 : from_handle(blob)->cost_us();
}

int cairn_blob_is_of_pack(const cairn_blob *blob) {
    return blob != nullptr && from_handle(blob)->is_of_pack() ? 1 : 0;
}

void cairn_blob_free(cairn_blob *blob) {
    if (blob != nullptr) from_handle(blob)->release();
}

cairn_blob *cairn_blob_make(const void *key, size_t key_size, const void *value, size_t value_size,
                            uint32_t cost_us) {
    return to_handle(Blob::copy(bytes(key, key_size), bytes(value, value_size), cost_us));
}

const char *cairn_result_string(int result) {
    static constexpr std::pair<int, const char *> kTexts[] = {
        {CAIRN_OK, "success"},
        {CAIRN_MISS, "no such entry"},
        {CAIRN_EXISTS, "the entry exists already"},
        {CAIRN_TOO_SMALL, "the buffer is too small"},
        {CAIRN_KEPT_OUT, "drivers have died with the entry"},
        {CAIRN_LATE, "not known in time"},
        {CAIRN_NOT_CONVERTED, "not converted"},
        {CAIRN_ERROR_INVALID_ARGUMENT, "invalid argument"},
        {CAIRN_ERROR_NO_MEMORY, "out of memory"},
        {CAIRN_ERROR_NO_SPACE, "no space left on the file system, or quota exceeded"},
        {CAIRN_ERROR_FULL, "the cache's limit is reached"},
        {CAIRN_ERROR_TOO_LARGE, "the entry is larger than the cache may become"},
        {CAIRN_ERROR_DENIED, "permission denied, or the directory is not safe to use"},
        {CAIRN_ERROR_READ_ONLY, "the cache is open for reading only"},
        {CAIRN_ERROR_BUSY,
         "in use by another process, in another version or for a change; try again"},
        {CAIRN_ERROR_IO, "input/output error"},
        {CAIRN_ERROR_UNSUPPORTED, "not supported by this file system or build"},
        {CAIRN_ERROR_NOT_FOUND, "no such cache"},
    };
    for (const auto &[each, text] : kTexts) {
        if (each == result) return text;
    }
    return "unknown result";
}

// The header, which is installed as it is, and CMakeLists.txt have the same.
#define CAIRN_TEXT_OF(number) #number
#define CAIRN_VERSION_OF(major, minor, patch) \
    CAIRN_TEXT_OF(major) "." CAIRN_TEXT_OF(minor) "." CAIRN_TEXT_OF(patch)
static_assert(std::string_view(CAIRN_VERSION) ==
              CAIRN_VERSION_OF(CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR, CAIRN_VERSION_PATCH));

const char *cairn_version_string(void) {
    return CAIRN_VERSION;
}

struct cairn_key_builder {
    ProgramKey key;
};

cairn_key_builder *cairn_key_begin(const char *domain) {
    const std::string_view name = domain == nullptr ? std::string_view() : domain;
    return guarded([&] { return new cairn_key_builder{ProgramKey(name)}; }, nullptr);
}

void cairn_key_add(cairn_key_builder *builder, uint32_t tag, const void *data, size_t size) {
    if (builder != nullptr) builder->key.add(tag, {static_cast<const std::byte *>(data), size});
}

void cairn_key_add_u64(cairn_key_builder *builder, uint32_t tag, uint64_t number) {
    if (builder != nullptr) builder->key.add(tag, number);
}

void cairn_key_finish(cairn_key_builder *builder, uint8_t key[CAIRN_PROGRAM_KEY_SIZE]) {
    if (builder == nullptr) return;
    const auto digest = builder->key.finish();
    static_assert(sizeof digest == CAIRN_PROGRAM_KEY_SIZE);
    std::memcpy(key, digest.data(), digest.size());
    delete builder;
}
