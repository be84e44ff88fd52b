// SPDX-License-Identifier: MIT
#include "entry.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cairn::d3d12 {
namespace {

constexpr std::array<uint8_t, 4> kMagic = {'D', '1', '2', 1};

void put_header(std::byte *to, uint32_t key_size) {
    const std::array<uint8_t, 4> size = {
        static_cast<uint8_t>(key_size), static_cast<uint8_t>(key_size >> 8),
        static_cast<uint8_t>(key_size >> 16), static_cast<uint8_t>(key_size >> 24)};
    std::memcpy(to, kMagic.data(), kMagic.size());
    std::memcpy(to + kMagic.size(), size.data(), size.size());
}

// The size of the key; 0: these bytes are no entry.
size_t key_size_in(Bytes record) {
    if (record.size() <= Entry::kHeaderSize ||
        std::memcmp(record.data(), kMagic.data(), kMagic.size()) != 0) {
        return 0;
    }
    size_t size = 0;
    for (size_t i = 0; i < 4; ++i) {
        size |= static_cast<size_t>(record[kMagic.size() + i]) << (8 * i);
    }
    // The value has at least one byte.
    return size < record.size() - Entry::kHeaderSize ? size : 0;
}

}  // namespace

EntryRef Entry::own(Bytes record, size_t key_size, cairn_blob *blob) {
    return EntryRef(new (std::nothrow) Entry(record, key_size, blob));
}

EntryRef Entry::copy(Bytes key, Bytes value) {
    const size_t size = kHeaderSize + key.size() + value.size();
    auto *record = static_cast<std::byte *>(std::malloc(size));
    if (record == nullptr) {
        return nullptr;
    }
    put_header(record, static_cast<uint32_t>(key.size()));
    std::memcpy(record + kHeaderSize, key.data(), key.size());
    std::memcpy(record + kHeaderSize + key.size(), value.data(), value.size());
    EntryRef entry = own({record, size}, key.size(), nullptr);
    if (entry == nullptr) {
        std::free(record);
    }
    return entry;
}

EntryRef Entry::adopt(cairn_blob *blob) {
    const Bytes record = {static_cast<const std::byte *>(cairn_blob_data(blob)),
                          cairn_blob_size(blob)};
    const size_t key_size = key_size_in(record);
    EntryRef entry = key_size == 0 ? nullptr : own(record, key_size, blob);
    if (entry == nullptr) {
        cairn_blob_free(blob);
    }
    return entry;
}

Entry::~Entry() {
    if (blob_ != nullptr) {
        cairn_blob_free(blob_);
    } else {
        std::free(const_cast<std::byte *>(record_.data()));
    }
}

bool Entry::has_key(Bytes other) const {
    return std::ranges::equal(key(), other);
}

}  // namespace cairn::d3d12
