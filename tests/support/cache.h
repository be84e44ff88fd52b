// The public C interface with owners for what it hands out, for tests.
// SPDX-License-Identifier: MIT
//
// Thread safety: as the C interface; open() and close() are externally synchronised.
// Ownership: Cache closes its handle, Blob frees its blob.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn_test {

using ByteView = std::span<const std::uint8_t>;
using ByteVector = std::vector<std::uint8_t>;

inline ByteView as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}
inline std::string as_string(ByteView bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// Collects log lines of all threads.
class LogLines {
  public:
    static void receive(void *self, int severity, const char *line);
    std::vector<std::pair<int, std::string>> lines() const;
    // Lines of severity error or warning.
    std::vector<std::string> complaints() const;

  private:
    mutable std::mutex mutex_;
    std::vector<std::pair<int, std::string>> lines_;
};

struct CacheOptions {
    std::string root;
    std::string identifier = "test";
    std::uint64_t version = 1;
    std::uint32_t mode = CAIRN_MODE_DISK;
    std::uint32_t flags = 0;
    std::uint64_t limit_bytes = 0;
    std::uint64_t limit_entries = 0;
    std::uint64_t memory_bytes = 0;
    LogLines *log = nullptr;
};

class Blob {
  public:
    explicit Blob(cairn_blob *blob) : blob_(blob) {}
    ~Blob() { cairn_blob_free(blob_); }
    Blob(Blob &&other) noexcept : blob_(std::exchange(other.blob_, nullptr)) {}
    Blob &operator=(Blob &&other) noexcept {
        std::swap(blob_, other.blob_);
        return *this;
    }

    ByteView bytes() const {
        return {static_cast<const std::uint8_t *>(cairn_blob_data(blob_)), cairn_blob_size(blob_)};
    }
    std::uint32_t cost_us() const { return cairn_blob_cost_us(blob_); }

  private:
    cairn_blob *blob_;
};

class Cache {
  public:
    Cache() = default;
    explicit Cache(const CacheOptions &options) { open(options); }
    ~Cache() { close(); }
    Cache(Cache &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)),
          result_(other.result_),
          index_file_(std::move(other.index_file_)) {}
    Cache &operator=(Cache &&other) noexcept;

    int open(const CacheOptions &options);
    void close();
    bool is_open() const { return handle_ != nullptr; }
    // Of the latest open().
    int result() const { return result_; }
    cairn_cache *handle() const { return handle_; }

    int put(ByteView key, ByteView value, std::uint32_t flags = 0, std::uint32_t cost_us = 0);
    // The value, or nullopt with `*result` set.
    std::optional<Blob> get(ByteView key, int *result = nullptr);
    std::optional<ByteVector> get_into(ByteView key, std::size_t capacity, int *result = nullptr);
    int contains(ByteView key) { return cairn_contains(handle_, key.data(), key.size()); }
    int remove(ByteView key) { return cairn_remove(handle_, key.data(), key.size()); }
    int clear() { return cairn_clear(handle_); }
    int sync() { return cairn_sync(handle_); }
    int compress() { return cairn_compress(handle_); }
    // Says in the index on disk that a part of it was lost, as who meets damage does: from the next
    // miss on the segments are searched, while everybody goes on.
    void ask_for_rebuild() const;
    bool rebuild_is_due() const;
    // Another index takes the name, as after damage. False: none did.
    bool make_index_anew();
    cairn_stats stats();

  private:
    cairn_cache *handle_ = nullptr;
    int result_ = CAIRN_OK;
    std::string index_file_;  // empty: there is none
};

}  // namespace cairn_test
