// The calls of cairn.h on blobs, and what needs no cache at all: strings and program keys.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>

#include <cstring>
#include <string_view>

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

void cairn_blob_free(cairn_blob *blob) {
    if (blob != nullptr) from_handle(blob)->release();
}

const char *cairn_result_string(int result) {
    switch (result) {
        case CAIRN_OK:
            return "success";
        case CAIRN_MISS:
            return "no such entry";
        case CAIRN_EXISTS:
            return "the entry exists already";
        case CAIRN_TOO_SMALL:
            return "the buffer is too small";
        case CAIRN_KEPT_OUT:
            return "drivers have died with the entry";
        case CAIRN_LATE:
            return "not known in time";
        case CAIRN_NOT_CONVERTED:
            return "not converted";
        case CAIRN_ERROR_INVALID_ARGUMENT:
            return "invalid argument";
        case CAIRN_ERROR_NO_MEMORY:
            return "out of memory";
        case CAIRN_ERROR_NO_SPACE:
            return "no space left on the file system, or quota exceeded";
        case CAIRN_ERROR_FULL:
            return "the cache's limit is reached";
        case CAIRN_ERROR_TOO_LARGE:
            return "the entry is larger than the cache may become";
        case CAIRN_ERROR_DENIED:
            return "permission denied, or the directory is not safe to use";
        case CAIRN_ERROR_READ_ONLY:
            return "the cache is open for reading only";
        case CAIRN_ERROR_BUSY:
            return "in use by another process, in another version or for a change; try again";
        case CAIRN_ERROR_IO:
            return "input/output error";
        case CAIRN_ERROR_UNSUPPORTED:
            return "not supported by this file system or build";
        case CAIRN_ERROR_NOT_FOUND:
            return "no such cache";
        default:
            return "unknown result";
    }
}

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
