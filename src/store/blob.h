// An immutable value in memory, shared by reference counting.
// SPDX-License-Identifier: MIT
//
// Thread safety: the count is atomic; the bytes are constant once a blob is shared.
// Ownership: one allocation holds the object and, behind it, a buffer. A record is read into the
// buffer and its value stays there.
// Failure: allocate() returns a null BlobRef without memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/bytes.h"

namespace cairn {

class BlobRef;

class alignas(64) Blob {
  public:
    static BlobRef allocate(std::size_t capacity);
    // A new blob with a key and a value.
    static BlobRef copy(Bytes key, Bytes value, std::uint32_t cost_us);

    MutableBytes buffer() {
        return {reinterpret_cast<std::byte *>(this) + sizeof(Blob), capacity_};
    }
    Bytes key() const { return {bytes() + key_offset_, key_size_}; }
    Bytes value() const { return {bytes() + value_offset_, value_size_}; }
    std::uint32_t cost_us() const { return cost_us_; }
    std::size_t footprint() const { return sizeof(Blob) + capacity_; }

    // Says where key and value are in the buffer. REQUIRES: not shared yet.
    void describe(std::size_t key_offset, std::size_t key_size, std::size_t value_offset,
                  std::size_t value_size, std::uint32_t cost_us);

    // Whether it was read from a pack. REQUIRES for setting: not shared yet.
    bool is_of_pack() const { return is_of_pack_; }
    void set_of_pack() { is_of_pack_ = true; }

    // A number for a memory level. REQUIRES for setting: not shared yet, or the same number again.
    std::uint64_t place() const { return place_; }
    void set_place(std::uint64_t place) {
        if (place_ != place) place_ = place;
    }

    void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release();

  private:
    explicit Blob(std::size_t capacity) : capacity_(capacity) {}
    const std::byte *bytes() const {
        return reinterpret_cast<const std::byte *>(this) + sizeof(Blob);
    }

    std::atomic<std::uint32_t> references_ = 1;
    std::uint32_t cost_us_ = 0;
    std::size_t capacity_;
    std::size_t key_offset_ = 0;
    std::size_t key_size_ = 0;
    std::size_t value_offset_ = 0;
    std::size_t value_size_ = 0;
    std::uint64_t place_ = 0;
    bool is_of_pack_ = false;
};
static_assert(sizeof(Blob) == 64);

// Owns one reference to a Blob, or none.
class BlobRef {
  public:
    BlobRef() = default;
    static BlobRef adopt(Blob *blob) {
        BlobRef ref;
        ref.blob_ = blob;
        return ref;
    }
    BlobRef(const BlobRef &other) : blob_(other.blob_) {
        if (blob_ != nullptr) blob_->retain();
    }
    BlobRef(BlobRef &&other) noexcept : blob_(std::exchange(other.blob_, nullptr)) {}
    BlobRef &operator=(BlobRef other) noexcept {
        std::swap(blob_, other.blob_);
        return *this;
    }
    ~BlobRef() {
        if (blob_ != nullptr) blob_->release();
    }

    explicit operator bool() const { return blob_ != nullptr; }
    Blob *get() const { return blob_; }
    Blob *operator->() const { return blob_; }
    Blob *release() { return std::exchange(blob_, nullptr); }

  private:
    Blob *blob_ = nullptr;
};

}  // namespace cairn
