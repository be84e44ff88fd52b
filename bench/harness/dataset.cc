// SPDX-License-Identifier: MIT
#include "bench/harness/dataset.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr std::size_t kPoolSizeMax = std::size_t{64} << 20;
constexpr std::size_t kPerLibraryMax = std::size_t{24}
                                       << 20;  // so that one library does not make up the pool
constexpr std::size_t kPoolSizeMin = std::size_t{2} << 20;
constexpr std::uint32_t kValueSizeMin = 1024;
constexpr std::uint32_t kValueSizeMax = 65536;
constexpr double kMedian = 6144;
constexpr double kSigma = 0.82;

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::uint64_t stream_seed(std::uint64_t purpose, std::uint64_t index) {
    return mix(kSeed ^ mix(purpose * 0x9e3779b97f4a7c15 + index));
}

std::vector<std::filesystem::path> libraries() {
    std::vector<std::filesystem::path> found;
    for (const char *folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                               "/usr/lib64", "/usr/lib", "/usr/bin"}) {
        std::error_code error;
        for (const auto &file : std::filesystem::directory_iterator(folder, error)) {
            if (file.is_regular_file(error) && !file.is_symlink(error)) {
                found.push_back(file.path());
            }
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Appends the executable segments of an ELF file to `pool`; anything else is passed over.
void append_code(const std::filesystem::path &path, std::vector<char> &pool) {
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header;
    if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64) {
        return;
    }
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof(segment)));
        if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment))) {
            return;
        }
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) {
            continue;
        }
        std::size_t room = std::min(kPoolSizeMax - pool.size(), kPerLibraryMax);
        std::size_t take = std::min<std::size_t>(segment.p_filesz, room);
        std::size_t old = pool.size();
        pool.resize(old + take);
        file.seekg(static_cast<std::streamoff>(segment.p_offset));
        file.read(pool.data() + old, static_cast<std::streamsize>(take));
        pool.resize(old + static_cast<std::size_t>(file.gcount()));
    }
}

std::uint32_t value_size(Random &random, Shape shape) {
    if (shape == Shape::tiny) {
        return static_cast<std::uint32_t>(64 + random.below(65));
    }
    double normal =
        std::sqrt(-2.0 * std::log(random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
    double size = kMedian * std::exp(kSigma * normal);
    return static_cast<std::uint32_t>(
        std::clamp(size, double{kValueSizeMin}, double{kValueSizeMax}));
}

Entry keyed_entry(std::uint64_t purpose, std::uint64_t index) {
    Entry entry{};
    Random random(stream_seed(purpose, index));
    for (std::size_t at = 0; at < kKeySize; at += 4) {
        auto word = static_cast<std::uint32_t>(random.next() >> 32);
        std::memcpy(entry.key.data() + at, &word, 4);
    }
    return entry;
}

}  // namespace

std::uint64_t Random::next() {
    state_ += 0x9e3779b97f4a7c15;
    return mix(state_);
}

std::uint64_t Random::below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

double Random::unit() {
    return (static_cast<double>(next() >> 11) + 1.0) * 0x1.0p-53;
}

Dataset::Dataset() {
    std::vector<char> code;
    code.reserve(kPoolSizeMax);
    for (const auto &path : libraries()) {
        if (code.size() >= kPoolSizeMax) {
            break;
        }
        append_code(path, code);
    }
    if (code.size() < kPoolSizeMin) {
        throw std::runtime_error("found too little machine code in /usr/lib to make values from");
    }
    own_fd_ = pool_fd_ = ::memfd_create("store_bench-pool", 0);
    if (pool_fd_ < 0) {
        throw std::runtime_error("memfd_create failed");
    }
    for (std::size_t done = 0; done < code.size();) {
        ssize_t wrote = ::write(pool_fd_, code.data() + done, code.size() - done);
        if (wrote <= 0) {
            throw std::runtime_error("no memory for the pool of values");
        }
        done += static_cast<std::size_t>(wrote);
    }
    map();
}

Dataset::Dataset(int pool_fd) : pool_fd_(pool_fd) {
    map();
}

void Dataset::map() {
    struct stat info;
    if (::fstat(pool_fd_, &info) != 0) {
        throw std::runtime_error("the pool of values is not there");
    }
    auto size = static_cast<std::size_t>(info.st_size);
    void *data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, pool_fd_, 0);
    if (data == MAP_FAILED) {
        throw std::runtime_error("cannot map the pool of values");
    }
    pool_ = {static_cast<const std::byte *>(data), size};
}

Dataset::~Dataset() {
    ::munmap(const_cast<std::byte *>(pool_.data()), pool_.size());
    if (own_fd_ >= 0) {
        ::close(own_fd_);
    }
}

Bytes Dataset::value(std::uint64_t index, Shape shape) const {
    Random random(stream_seed(shape == Shape::tiny ? 11 : 12, index));
    std::size_t size = value_size(random, shape);
    return pool_.subspan(random.below(pool_.size() - size), size);
}

Entry Dataset::entry(std::uint64_t index, Shape shape) const {
    Entry entry = keyed_entry(1, index);
    Bytes bytes = value(index, shape);
    entry.value_size = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(&entry.value_head, bytes.data(), sizeof(entry.value_head));
    return entry;
}

std::vector<Entry> Dataset::entries(std::uint64_t first, std::uint64_t count, Shape shape) const {
    std::vector<Entry> all;
    all.reserve(count);
    for (std::uint64_t i = first; i < first + count; ++i) {
        all.push_back(entry(i, shape));
    }
    return all;
}

bool Dataset::matches(std::uint64_t index, Shape shape, Bytes found) const {
    Bytes expected = value(index, shape);
    return found.size() == expected.size() &&
           std::memcmp(found.data(), expected.data(), expected.size()) == 0;
}

Entry Dataset::missing(std::uint64_t index) {
    return keyed_entry(2, index);
}

std::vector<std::uint32_t> uniform_order(std::uint64_t entries, std::size_t count, Random random) {
    std::vector<std::uint32_t> order(count);
    for (auto &position : order) {
        position = static_cast<std::uint32_t>(random.below(entries));
    }
    return order;
}

std::vector<std::uint32_t> zipf_order(std::uint64_t entries, std::size_t count, Random random) {
    std::vector<double> sums(entries);
    double sum = 0;
    for (std::uint64_t rank = 0; rank < entries; ++rank) {
        sum += 1.0 / std::pow(static_cast<double>(rank + 1), 0.99);
        sums[rank] = sum;
    }
    std::vector<std::uint32_t> shuffled(entries);
    std::iota(shuffled.begin(), shuffled.end(), 0U);
    for (std::uint64_t i = entries - 1; i > 0; --i) {
        std::swap(shuffled[i], shuffled[random.below(i + 1)]);
    }
    std::vector<std::uint32_t> order(count);
    for (auto &position : order) {
        auto found = std::lower_bound(sums.begin(), sums.end(), random.unit() * sum);
        auto rank = std::min<std::ptrdiff_t>(found - sums.begin(),
                                             static_cast<std::ptrdiff_t>(entries) - 1);
        position = shuffled[static_cast<std::size_t>(rank)];
    }
    return order;
}

}  // namespace bench
