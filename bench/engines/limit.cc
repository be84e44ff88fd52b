// The physical limits: values end to end in one file behind a perfect index in a mapping, read by
// copying from a mapping (with or without a checksum over the copy) or by a system call. No locks,
// no recovery, one writer.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "bench/engines/engine.h"

#if BENCH_WITH_XXHASH
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif
#endif

namespace bench {
namespace {

enum class Reading { mapped, verified, system_call };

constexpr std::size_t kReservedBytes = std::size_t{64} << 30;  // of address space
constexpr std::size_t kGrowBytes = std::size_t{64} << 20;

std::uint64_t checksum(Bytes bytes) {
#if BENCH_WITH_XXHASH && defined(__x86_64__)
    return XXH3_64bits_dispatch(bytes.data(), bytes.size());
#elif BENCH_WITH_XXHASH
    return XXH3_64bits(bytes.data(), bytes.size());
#else
    return bytes.size();
#endif
}

// Keys are random, so that their first bytes are as good as any hash of them.
std::uint64_t key_hash(Bytes key) {
    std::uint64_t hash;
    std::memcpy(&hash, key.data(), sizeof(hash));
    return hash | 1;
}

struct Slot {
    std::uint64_t hash;  // 0: free
    std::uint64_t offset;
    std::uint64_t checksum;
    std::uint64_t size;
};

struct Header {
    std::uint64_t slots;  // a power of two
    std::uint64_t end;    // of the values
    std::uint64_t reserved[6];
};

class LimitEngine final : public Engine {
  public:
    explicit LimitEngine(Reading reading) : reading_(reading) {
        // Chooses the vector width, which takes 30 us on a virtual machine; short inputs do not.
        checksum(std::vector<std::byte>(1024));
    }
    ~LimitEngine() override { close(); }

    bool open(const OpenOptions &options) override {
        const int flags = O_RDWR | O_CLOEXEC | (options.create ? O_CREAT | O_TRUNC : 0);
        index_fd_ = ::open((options.dir / "limit.idx").c_str(), flags, 0600);
        values_fd_ = ::open((options.dir / "limit.val").c_str(), flags, 0600);
        if (index_fd_ < 0 || values_fd_ < 0) {
            return fail(std::strerror(errno));
        }
        if (options.create && !create_index(options.expected_entries)) {
            return fail(std::strerror(errno));
        }
        writing_ = options.create;
        return (map_index() && map_values()) || fail(std::strerror(errno));
    }

    void close() override {
        if (values_ != nullptr) {
            ::munmap(values_, kReservedBytes);
            values_ = nullptr;
        }
        if (header_ != nullptr) {
            if (writing_ && ::ftruncate(values_fd_, static_cast<off_t>(header_->end)) != 0) {
                fail(std::strerror(errno));
            }
            ::munmap(header_, index_size_);
            header_ = nullptr;
        }
        for (int *fd : {&index_fd_, &values_fd_}) {
            if (*fd >= 0) {
                ::close(*fd);
                *fd = -1;
            }
        }
    }

    std::int64_t get(Bytes key, std::span<std::byte> buffer) override {
        const Slot *slot = find(key);
        if (slot->hash == 0 || slot->size > buffer.size()) {
            return kMiss;
        }
        if (reading_ == Reading::system_call) {
            return ::pread(values_fd_, buffer.data(), slot->size, static_cast<off_t>(slot->offset));
        }
        std::memcpy(buffer.data(), values_ + slot->offset, slot->size);
        if (reading_ == Reading::verified && checksum(buffer.first(slot->size)) != slot->checksum) {
            return kMiss;
        }
        return static_cast<std::int64_t>(slot->size);
    }

    View view(Bytes key) override {
        const Slot *slot = find(key);
        if (slot->hash == 0) {
            return {};
        }
        View found{values_ + slot->offset, slot->size, nullptr};
        if (reading_ == Reading::verified && checksum({found.data, found.size}) != slot->checksum) {
            return {};
        }
        return found;
    }

    bool put(Bytes key, Bytes value) override {
        std::uint64_t offset = header_->end;
        if (reading_ == Reading::system_call) {
            if (::pwrite(values_fd_, value.data(), value.size(), static_cast<off_t>(offset)) !=
                static_cast<ssize_t>(value.size())) {
                return false;
            }
        } else if (grow(offset + value.size())) {
            std::memcpy(values_ + offset, value.data(), value.size());
        } else {
            return false;
        }
        Slot *slot = find(key);
        slot->offset = offset;
        slot->size = value.size();
        slot->checksum = reading_ == Reading::verified ? checksum(value) : 0;
        slot->hash = key_hash(key);
        header_->end = offset + value.size();
        return true;
    }

  private:
    bool create_index(std::uint64_t expected) {
        Header header{};
        header.slots = std::bit_ceil(2 * expected + 1024);
        std::size_t size = sizeof(Header) + header.slots * sizeof(Slot);
        return ::ftruncate(index_fd_, static_cast<off_t>(size)) == 0 &&
               ::pwrite(index_fd_, &header, sizeof(header), 0) == sizeof(header);
    }

    bool map_index() {
        struct stat info;
        if (::fstat(index_fd_, &info) != 0) {
            return false;
        }
        index_size_ = static_cast<std::size_t>(info.st_size);
        void *data = ::mmap(nullptr, index_size_, PROT_READ | PROT_WRITE, MAP_SHARED, index_fd_, 0);
        if (data == MAP_FAILED) {
            return false;
        }
        header_ = static_cast<Header *>(data);
        slots_ = reinterpret_cast<Slot *>(header_ + 1);
        mask_ = header_->slots - 1;
        return true;
    }

    bool map_values() {
        struct stat info;
        if (::fstat(values_fd_, &info) != 0) {
            return false;
        }
        file_size_ = static_cast<std::size_t>(info.st_size);
        void *data = ::mmap(nullptr, kReservedBytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, values_fd_, 0);
        values_ = data == MAP_FAILED ? nullptr : static_cast<std::byte *>(data);
        return values_ != nullptr;
    }

    bool grow(std::uint64_t needed) {
        if (needed <= file_size_) {
            return true;
        }
        file_size_ = (needed / kGrowBytes + 1) * kGrowBytes;
        return ::ftruncate(values_fd_, static_cast<off_t>(file_size_)) == 0;
    }

    // The key's slot, or the free one where it belongs. The table is at most half full.
    Slot *find(Bytes key) const {
        std::uint64_t hash = key_hash(key);
        std::uint64_t at = (hash >> 1) & mask_;
        while (slots_[at].hash != hash && slots_[at].hash != 0) {
            at = (at + 1) & mask_;
        }
        return &slots_[at];
    }

    Reading reading_;
    bool writing_ = false;
    int index_fd_ = -1;
    int values_fd_ = -1;
    Header *header_ = nullptr;
    Slot *slots_ = nullptr;
    std::uint64_t mask_ = 0;
    std::byte *values_ = nullptr;
    std::size_t index_size_ = 0;
    std::size_t file_size_ = 0;
};

}  // namespace

void add_limits(std::vector<EngineKind> &kinds) {
    Traits traits{.shared = false, .views = true, .writes = false};
    kinds.push_back({"limit-mmap", "limit: copy from a mapping, perfect index, nothing verified",
                     traits, [] { return std::make_unique<LimitEngine>(Reading::mapped); }});
#if BENCH_WITH_XXHASH
    kinds.push_back({"limit-mmap-xxh3",
                     "limit: the same and XXH3 (widest vectors) of what was copied", traits,
                     [] { return std::make_unique<LimitEngine>(Reading::verified); }});
#endif
    traits.views = false;
    kinds.push_back({"limit-pread", "limit: pread, perfect index, nothing verified", traits,
                     [] { return std::make_unique<LimitEngine>(Reading::system_call); }});
}

}  // namespace bench
