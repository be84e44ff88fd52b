// Cairn for C++17 and later: the C interface (cairn.h) with ownership by type. Header-only.
// SPDX-License-Identifier: MIT
//
// Thread safety: as in cairn.h. Any number of threads may use a Cache at once, and one of them
//   moves or destroys it. Any thread may read a Blob. A KeyBuilder belongs to one thread.
// Lifetime / ownership: each object gives its handle back when it is destroyed. Blobs outlive the
//   cache they come from. Every call copies what it keeps, so keys and values may be reused as soon
//   as it returns.
// Failure: nothing here throws, and exceptions and RTTI may be off. Calls on a Cache that is not
//   open (never opened, or moved from) find nothing and return Status::invalid_argument.
#ifndef CAIRN_CAIRN_HPP
#define CAIRN_CAIRN_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/cairn.h"

namespace cairn {
// The inline namespace keeps these names apart from those of other versions that are linked into
// the same program.
inline namespace v1 {

// Outcomes and errors. Values that a newer library may add are carried unchanged.
enum class Status : int {
    ok = CAIRN_OK,
    miss = CAIRN_MISS,
    exists = CAIRN_EXISTS,
    too_small = CAIRN_TOO_SMALL,
    kept_out = CAIRN_KEPT_OUT,
    late = CAIRN_LATE,
    not_converted = CAIRN_NOT_CONVERTED,
    invalid_argument = CAIRN_ERROR_INVALID_ARGUMENT,
    no_memory = CAIRN_ERROR_NO_MEMORY,
    no_space = CAIRN_ERROR_NO_SPACE,
    full = CAIRN_ERROR_FULL,
    too_large = CAIRN_ERROR_TOO_LARGE,
    denied = CAIRN_ERROR_DENIED,
    read_only = CAIRN_ERROR_READ_ONLY,
    busy = CAIRN_ERROR_BUSY,
    io = CAIRN_ERROR_IO,
    unsupported = CAIRN_ERROR_UNSUPPORTED,
    not_found = CAIRN_ERROR_NOT_FOUND,
};

// A static, lower-case English description, such as "no such entry".
inline const char *describe(Status status) noexcept {
    return cairn_result_string(static_cast<int>(status));
}

// The version of the library in use, such as "0.2.0".
inline const char *version() noexcept {
    return cairn_version_string();
}

// Keys and values, borrowed: std::span<const std::byte> for C++17. In C++20 each converts to the
// other.
class Bytes {
  public:
    constexpr Bytes() noexcept = default;
    constexpr Bytes(const std::byte *data, std::size_t size) noexcept : data_(data), size_(size) {}
    // Of a vector, an array or a span of std::byte.
    template <typename Container,
              typename = std::enable_if_t<std::is_convertible_v<
                  decltype(std::data(std::declval<const Container &>())), const std::byte *>>>
    constexpr Bytes(const Container &container) noexcept
        : Bytes(std::data(container), std::size(container)) {}

    [[nodiscard]] constexpr const std::byte *data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr const std::byte *begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const std::byte *end() const noexcept { return data_ + size_; }
    constexpr const std::byte &operator[](std::size_t index) const noexcept { return data_[index]; }

  private:
    const std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

// The bytes of a text.
inline Bytes bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}
// The bytes of a vector, an array, a span or another contiguous container of trivially copyable
// items.
template <
    typename Container,
    typename Item = std::remove_pointer_t<decltype(std::data(std::declval<const Container &>()))>,
    typename = std::enable_if_t<std::is_trivially_copyable_v<Item> &&
                                !std::is_convertible_v<const Container &, std::string_view>>>
inline Bytes bytes(const Container &items) noexcept {
    return {reinterpret_cast<const std::byte *>(std::data(items)), std::size(items) * sizeof(Item)};
}

// An immutable value, owned.
class Blob {
  public:
    // Takes over a handle that a call of cairn.h has returned.
    explicit Blob(cairn_blob *handle) noexcept : handle_(handle) {}

    // Valid, and aligned to 16 bytes, for as long as the blob is.
    [[nodiscard]] Bytes bytes() const noexcept { return {data(), size()}; }
    [[nodiscard]] const std::byte *data() const noexcept {
        return static_cast<const std::byte *>(cairn_blob_data(handle_.get()));
    }
    [[nodiscard]] std::size_t size() const noexcept { return cairn_blob_size(handle_.get()); }
    // The cost of making the value, in microseconds, as given with the put; 0: unknown.
    [[nodiscard]] std::uint32_t cost_us() const noexcept {
        return cairn_blob_cost_us(handle_.get());
    }

  private:
    struct Free {
        void operator()(cairn_blob *handle) const noexcept { cairn_blob_free(handle); }
    };
    std::unique_ptr<cairn_blob, Free> handle_;
};

enum class Mode : std::uint32_t {
    disk = CAIRN_MODE_DISK,     // persistent, shared by processes
    memory = CAIRN_MODE_MEMORY  // lives in this object only; touches no file
};

// As cairn_options, whose comments hold: an empty root stands for the default one, 0 for a default
// limit.
struct Options {
    std::string identifier;
    std::string root{};
    std::uint64_t version = 0;
    Mode mode = Mode::disk;
    std::uint32_t flags = 0;  // CAIRN_OPEN_...
    std::uint64_t limit_bytes = 0;
    std::uint64_t limit_entries = 0;
    std::uint64_t memory_bytes = 0;
    std::string about{};
    cairn_log_fn log = nullptr;  // must not throw
    void *log_user = nullptr;
    std::vector<std::string> layers{};  // paths of packs under the cache, on disk
    std::string policy{};               // empty: "default"
};

struct PutOptions {
    std::uint32_t flags = 0;    // CAIRN_PUT_...
    std::uint32_t cost_us = 0;  // of making the value again; 0: unknown
};

// One entry of an enumeration; `key` is valid during the call only.
struct Entry {
    Bytes key;
    std::size_t value_size;
    std::size_t stored_size;     // less than value_size where the entry is compressed
    std::uint64_t stored_at_ms;  // since 1970-01-01 UTC
    std::uint32_t cost_us;
    bool pinned;
};

// The right to make an entry, see cairn_lease_acquire; given back when it is destroyed, which is
// before its cache is.
class Lease {
  public:
    // Takes over a handle that a call of cairn.h has returned, or none.
    explicit Lease(cairn_lease *handle = nullptr) noexcept : handle_(handle) {}
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

  private:
    struct Release {
        void operator()(cairn_lease *handle) const noexcept { cairn_lease_release(handle); }
    };
    std::unique_ptr<cairn_lease, Release> handle_;
};

// The result of Cache::lease: a lease with Status::ok only.
struct Leased {
    Lease lease;
    Status status;
};

struct Opened;

class Cache {
  public:
    // A cache that is not open.
    Cache() noexcept = default;
    // Takes over a handle of cairn_program_cache_open or another call, or none.
    explicit Cache(cairn_cache *handle) noexcept : handle_(handle) {}

    // Opens a cache and creates it where it is missing; `status` of the result is what cairn_open
    // returned.
    [[nodiscard]] static Opened open(const Options &options) noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

    // The verified value; nothing on a miss, for a damaged entry, or when memory cannot be had.
    [[nodiscard]] std::optional<Blob> get(Bytes key) const noexcept {
        cairn_blob *blob = nullptr;
        if (call(cairn_get, key.data(), key.size(), &blob) != Status::ok) return std::nullopt;
        return std::optional<Blob>(std::in_place, blob);
    }

    [[nodiscard]] bool contains(Bytes key) const noexcept {
        return handle_ && cairn_contains(handle_.get(), key.data(), key.size()) == CAIRN_OK;
    }

    // After Status::ok every process finds the entry, whatever happens to this one. Results as
    // cairn_put.
    Status put(Bytes key, Bytes value, const PutOptions &options = {}) noexcept {
        const cairn_put_options c_options{sizeof(c_options), options.flags, options.cost_us};
        return call(cairn_put, key.data(), key.size(), value.data(), value.size(), &c_options);
    }

    // Status::ok, or Status::miss when there is no such entry.
    Status remove(Bytes key) noexcept { return call(cairn_remove, key.data(), key.size()); }

    // Waits at most `patience_ms` for the right to make an entry that is missed. Status::ok: make
    // it; Status::exists: it is there now. Results as cairn_lease_acquire.
    [[nodiscard]] Leased lease(Bytes key, std::uint32_t patience_ms) noexcept {
        cairn_lease *made = nullptr;
        const Status status = call(cairn_lease_acquire, key.data(), key.size(), patience_ms, &made);
        return {Lease(made), status};
    }

    // Removes all entries, for every process.
    Status clear() noexcept { return call(cairn_clear); }

    // In memory mode: evicts by the policy until at most `bytes` are held. Results as cairn_trim.
    Status trim(std::uint64_t bytes, std::uint64_t *freed_bytes = nullptr) noexcept {
        return call(cairn_trim, bytes, freed_bytes);
    }
    // In memory mode: sets the limit, and evicts until at most `keep_bytes` are held. Results as
    // cairn_resize.
    Status resize(std::uint64_t limit_bytes, std::uint64_t keep_bytes,
                  std::uint64_t *freed_bytes = nullptr) noexcept {
        return call(cairn_resize, limit_bytes, keep_bytes, freed_bytes);
    }

    // Makes everything stored before, by any process, survive a power loss.
    Status sync() noexcept { return call(cairn_sync); }

    // Compresses stored entries; takes time.
    Status compress() noexcept { return call(cairn_compress); }

    // Entries, bytes and the counters of this handle; all 0 when the cache is not open.
    [[nodiscard]] cairn_stats stats() const noexcept {
        cairn_stats stats{};
        stats.size = sizeof(stats);
        if (handle_) cairn_stats_get(handle_.get(), &stats);
        return stats;
    }

    // Calls `visit(const Entry &)` for each entry, in no order. A `visit` that returns bool ends
    // the enumeration with false. It may call get, contains and remove on this cache. An
    // exception that it throws ends the enumeration and goes on to the caller.
    template <typename Visit,
              typename = std::enable_if_t<std::is_invocable_v<Visit &, const Entry &>>>
    Status enumerate(Visit &&visit) const {
        Visitor<std::remove_reference_t<Visit>> visitor{visit};
        const Status status = call(cairn_enumerate, &visitor.step, static_cast<void *>(&visitor));
        visitor.rethrow();
        return status;
    }

    // For calls of cairn.h that have no counterpart here. Stays with this object.
    [[nodiscard]] cairn_cache *handle() const noexcept { return handle_.get(); }

  private:
    struct Close {
        void operator()(cairn_cache *handle) const noexcept { cairn_close(handle); }
    };

    // cairn_enumerate calls step() for each entry. An exception, which must not pass through C,
    // waits here.
    template <typename Visit>
    struct Visitor {
        Visit &visit;
#if defined(__cpp_exceptions)
        std::exception_ptr thrown{};

        static int step(void *self, const cairn_entry *entry) noexcept {
            auto &visitor = *static_cast<Visitor *>(self);
            try {
                return visitor.call(*entry);
            } catch (...) {
                visitor.thrown = std::current_exception();
                return 1;
            }
        }
        void rethrow() const {
            if (thrown) std::rethrow_exception(thrown);
        }
#else
        static int step(void *self, const cairn_entry *entry) noexcept {
            return static_cast<Visitor *>(self)->call(*entry);
        }
        void rethrow() const noexcept {}
#endif
        // Non-zero ends the enumeration.
        int call(const cairn_entry &from) {
            const Entry entry{{static_cast<const std::byte *>(from.key), from.key_size},
                              from.value_size,
                              from.stored_size,
                              from.stored_at_ms,
                              from.cost_us,
                              (from.flags & CAIRN_PUT_PINNED) != 0};
            if constexpr (std::is_convertible_v<std::invoke_result_t<Visit &, const Entry &>,
                                                bool>) {
                return visit(entry) ? 0 : 1;
            } else {
                visit(entry);
                return 0;
            }
        }
    };

    template <typename... Parameters, typename... Arguments>
    Status call(int (*function)(cairn_cache *, Parameters...), Arguments... arguments) const {
        if (!handle_) return Status::invalid_argument;
        return static_cast<Status>(function(handle_.get(), arguments...));
    }

    std::unique_ptr<cairn_cache, Close> handle_;
};

// The result of Cache::open: with Status::ok an open cache, else one that is not open.
struct Opened {
    Cache cache;
    Status status;
};

inline Opened Cache::open(const Options &options) noexcept {
    cairn_options c_options{};
    c_options.size = sizeof(c_options);
    c_options.root = options.root.empty() ? nullptr : options.root.c_str();
    c_options.identifier = options.identifier.c_str();
    c_options.version = options.version;
    c_options.mode = static_cast<std::uint32_t>(options.mode);
    c_options.flags = options.flags;
    c_options.limit_bytes = options.limit_bytes;
    c_options.limit_entries = options.limit_entries;
    c_options.memory_bytes = options.memory_bytes;
    c_options.about = options.about.empty() ? nullptr : options.about.c_str();
    c_options.log = options.log;
    c_options.log_user = options.log_user;
    c_options.policy = options.policy.empty() ? nullptr : options.policy.c_str();
    const std::unique_ptr<const char *[]> layers(new (std::nothrow)
                                                     const char *[options.layers.size() + 1]);
    if (!layers) return {Cache(), Status::no_memory};
    for (std::size_t i = 0; i < options.layers.size(); ++i) layers[i] = options.layers[i].c_str();
    c_options.layers = layers.get();
    c_options.layer_count = options.layers.size();
    cairn_cache *handle = nullptr;
    Opened opened{Cache(), static_cast<Status>(cairn_open(&c_options, &handle))};
    opened.cache.handle_.reset(handle);
    return opened;
}

// A program's key: an unbroken hash of everything that can change the compiled result.
using ProgramKey = std::array<std::byte, CAIRN_PROGRAM_KEY_SIZE>;

class KeyBuilder {
  public:
    // `domain` names what is hashed and its revision, such as "gl-program/1".
    explicit KeyBuilder(const char *domain) noexcept : handle_(cairn_key_begin(domain)) {}

    // Adds a field. Order counts, and so does each field's length: an empty field differs from no
    // field.
    KeyBuilder &add(std::uint32_t tag, Bytes field) noexcept {
        if (handle_) cairn_key_add(handle_.get(), tag, field.data(), field.size());
        return *this;
    }
    KeyBuilder &add(std::uint32_t tag, std::string_view text) noexcept {
        return add(tag, cairn::bytes(text));
    }
    KeyBuilder &add_number(std::uint32_t tag, std::uint64_t number) noexcept {
        if (handle_) cairn_key_add_u64(handle_.get(), tag, number);
        return *this;
    }

    // The key; nothing when memory could not be had, or the second time.
    [[nodiscard]] std::optional<ProgramKey> finish() noexcept {
        if (!handle_) return std::nullopt;
        ProgramKey key;
        cairn_key_finish(handle_.release(), reinterpret_cast<std::uint8_t *>(key.data()));
        return key;
    }

  private:
    // A builder is freed by finishing it; one that is abandoned writes its key to nobody.
    struct Abandon {
        void operator()(cairn_key_builder *handle) const noexcept {
            std::uint8_t unused[CAIRN_PROGRAM_KEY_SIZE];
            cairn_key_finish(handle, unused);
        }
    };
    std::unique_ptr<cairn_key_builder, Abandon> handle_;
};

// The directory that is used when Options::root is empty; nothing when the user has no home
// directory.
[[nodiscard]] inline std::optional<std::string> resolve_root() {
    std::array<char, 4096> buffer;
    if (cairn_root_resolve(buffer.data(), buffer.size()) != CAIRN_OK) return std::nullopt;
    return std::string(buffer.data());
}

}  // namespace v1
}  // namespace cairn

#endif
