// SPDX-License-Identifier: MIT
#include "entry.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

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

}  // namespace

EntryRef Entry::copy(Bytes key, Bytes value) {
    const size_t size = kHeaderSize + key.size() + value.size();
    Memory memory(std::malloc(size), std::free);
    if (memory == nullptr) return nullptr;
    const MutableBytes record = {static_cast<std::byte *>(memory.get()), size};
    std::memcpy(record.data(), kMagic.data(), kMagic.size());
    put_le(record, kMagic.size(), static_cast<uint32_t>(key.size()));
    std::memcpy(record.data() + kHeaderSize, key.data(), key.size());
    std::memcpy(record.data() + kHeaderSize + key.size(), value.data(), value.size());
    return EntryRef(new (std::nothrow) Entry(record, key.size(), std::move(memory)));
}

EntryRef Entry::adopt(cairn_blob *blob) {
    Memory memory(blob, [](void *held) { cairn_blob_free(static_cast<cairn_blob *>(held)); });
    const Bytes record = {static_cast<const std::byte *>(cairn_blob_data(blob)),
                          cairn_blob_size(blob)};
    const size_t key_size = key_size_in(record);
    return EntryRef(key_size == 0 ? nullptr
                                  : new (std::nothrow) Entry(record, key_size, std::move(memory)));
}

}  // namespace cairn::d3d12
