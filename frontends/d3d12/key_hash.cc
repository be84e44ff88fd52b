// SPDX-License-Identifier: MIT
#include "key_hash.h"

#include <cairn/cairn.h>

#include <span>

#include "base/bytes.h"

namespace cairn::d3d12 {
namespace {

KeyHash hash(const char *domain, const void *data, size_t size) {
    KeyHash result = {};
    static_assert(result.size() == CAIRN_PROGRAM_KEY_SIZE);
    cairn_key_builder *builder = cairn_key_begin(domain);
    if (builder != nullptr) {
        cairn_key_add(builder, 1, data, size);
        cairn_key_finish(builder, result.data());
    }
    return result;
}

}  // namespace

KeyHash hash_key(Bytes key) {
    return hash("d3d12-key/1", key.data(), key.size());
}

std::string short_hash(std::string_view text) {
    const KeyHash hashed = hash("d3d12-name/1", text.data(), text.size());
    return hexadecimal(std::as_bytes(std::span(hashed)).first(kShortHashSize / 2));
}

}  // namespace cairn::d3d12
