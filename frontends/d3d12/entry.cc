// SPDX-License-Identifier: MIT
#include "entry.h"

#include <cairn/internal/front_end.h>

#include <cstdlib>
#include <new>
#include <span>

namespace cairn::d3d12 {
namespace {

constexpr std::string_view kMagic = "D12\x01";

// The size of the key; 0: these bytes are no entry.
size_t key_size_in(Bytes record) {
    if (record.size() <= Entry::kHeaderSize ||
        !same_bytes(record.first(kMagic.size()), as_bytes(kMagic))) {
        return 0;
    }
    const size_t size = get_le<uint32_t>(record, kMagic.size());
    // The value has at least one byte.
    return size < record.size() - Entry::kHeaderSize ? size : 0;
}

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

EntryRef Entry::copy(Bytes key, Bytes value, uint32_t cost_us) {
    const size_t size = kHeaderSize + key.size() + value.size();
    Memory memory(std::malloc(size), std::free);
    if (memory == nullptr) return nullptr;
    const MutableBytes record = {static_cast<std::byte *>(memory.get()), size};
    std::memcpy(record.data(), kMagic.data(), kMagic.size());
    put_le(record, kMagic.size(), static_cast<uint32_t>(key.size()));
    std::memcpy(record.data() + kHeaderSize, key.data(), key.size());
    std::memcpy(record.data() + kHeaderSize + key.size(), value.data(), value.size());
    return EntryRef(new (std::nothrow)
                        Entry(record, key.size(), cost_us, false, std::move(memory)));
}

EntryRef Entry::adopt(cairn_blob *blob) {
    Memory memory(blob, [](void *held) { cairn_blob_free(static_cast<cairn_blob *>(held)); });
    const Bytes record = {static_cast<const std::byte *>(cairn_blob_data(blob)),
                          cairn_blob_size(blob)};
    const size_t key_size = key_size_in(record);
    if (key_size == 0) return nullptr;
    const bool is_of_pack = cairn_blob_is_of_pack(blob) != 0;
    return EntryRef(new (std::nothrow) Entry(record, key_size, cairn_blob_cost_us(blob), is_of_pack,
                                             std::move(memory)));
}

}  // namespace cairn::d3d12
