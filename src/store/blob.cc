// SPDX-License-Identifier: MIT
#include "store/blob.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace cairn {

BlobRef Blob::allocate(std::size_t capacity) {
    const std::size_t size = align_up(sizeof(Blob) + capacity, alignof(Blob));
    void *memory = std::aligned_alloc(alignof(Blob), size);
    if (memory == nullptr) return {};
    return BlobRef::adopt(new (memory) Blob(capacity));
}

BlobRef Blob::copy(Bytes key, Bytes value, std::uint32_t cost_us) {
    const std::size_t value_offset = align_up(key.size(), 16);
    BlobRef blob = allocate(value_offset + value.size());
    if (!blob) return blob;
    std::ranges::copy(key, blob->buffer().begin());
    std::ranges::copy(value, blob->buffer().begin() + static_cast<std::ptrdiff_t>(value_offset));
    blob->describe(0, key.size(), value_offset, value.size(), cost_us);
    return blob;
}

void Blob::describe(std::size_t key_offset, std::size_t key_size, std::size_t value_offset,
                    std::size_t value_size, std::uint32_t cost_us) {
    assert(key_offset + key_size <= capacity_ && value_offset + value_size <= capacity_);
    key_offset_ = key_offset;
    key_size_ = key_size;
    value_offset_ = value_offset;
    value_size_ = value_size;
    cost_us_ = cost_us;
}

void Blob::release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->~Blob();
    std::free(this);
}

}  // namespace cairn
