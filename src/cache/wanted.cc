// SPDX-License-Identifier: MIT
#include "cache/wanted.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "base/checksum.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CNWANTED";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kCheckSeed = 6;
constexpr std::size_t kVersionAt = 8, kCountAt = 12, kHeadSize = 16, kCheckSize = 8, kHashSize = 8;
static_assert(kHeadSize + kWantedMax * kHashSize + kCheckSize <= kWantedFileMax);

constexpr std::uint64_t kLookNs = 1'000'000'000;

bool is_ascending(std::span<const std::uint64_t> hashes) {
    return std::ranges::adjacent_find(hashes, std::greater_equal<>()) == hashes.end();
}

bool is_own_file(const FileInfo &info) {
    return info.is_file && info.owner == effective_user() && !info.writable_by_others &&
           info.size_bytes <= kWantedFileMax;
}

std::vector<std::uint64_t> hashes_in(const File &file, std::uint64_t size) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    const auto read = file.read_at(0, bytes);
    auto hashes = read.ok() ? decode_wanted(Bytes(bytes).first(read.value())) : std::nullopt;
    return hashes ? std::move(*hashes) : std::vector<std::uint64_t>();
}

}  // namespace

std::vector<std::byte> encode_wanted(std::span<const std::uint64_t> hashes) {
    assert(hashes.size() <= kWantedMax && is_ascending(hashes));
    const std::size_t check_at = kHeadSize + hashes.size() * kHashSize;
    std::vector<std::byte> file(check_at + kCheckSize);
    std::ranges::copy(as_bytes(kMagic), file.begin());
    put_le(file, kVersionAt, kVersion);
    put_le(file, kCountAt, static_cast<std::uint32_t>(hashes.size()));
    std::size_t at = kHeadSize;
    for (const std::uint64_t hash : hashes) {
        put_le(file, at, hash);
        at += kHashSize;
    }
    put_le(file, check_at, checksum(Bytes(file).first(check_at), kCheckSeed));
    return file;
}

std::optional<std::vector<std::uint64_t>> decode_wanted(Bytes file) {
    if (file.size() < kHeadSize + kCheckSize || file.size() > kWantedFileMax ||
        !same_bytes(file.first(kMagic.size()), as_bytes(kMagic)) ||
        get_le<std::uint32_t>(file, kVersionAt) != kVersion) {
        return std::nullopt;
    }
    const std::size_t check_at = file.size() - kCheckSize;
    const std::uint64_t count = get_le<std::uint32_t>(file, kCountAt);
    if (kHeadSize + count * kHashSize != check_at ||
        checksum(file.first(check_at), kCheckSeed) != get_le<std::uint64_t>(file, check_at)) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(count));
    std::size_t at = kHeadSize;
    for (std::uint64_t &hash : hashes) {
        hash = get_le<std::uint64_t>(file, at);
        at += kHashSize;
    }
    return is_ascending(hashes) ? std::optional(std::move(hashes)) : std::nullopt;
}

std::string wanted_path(const std::string &root, const PackIdentity &identity) {
    return root + "/.fleet/wanted/" + hexadecimal(Bytes(identity).first(16));
}

void Wanted::refresh(const std::string &path, std::uint64_t now_ns) {
    if (looked_ns_ && now_ns - *looked_ns_ < kLookNs) return;
    looked_ns_ = now_ns;
    const Directory here = Directory::working();
    const auto seen = here.info(path);
    if (!seen.ok()) {
        hashes_.clear();
        inode_ = 0;
        return;
    }
    if (seen->inode == inode_ && seen->modified_ns == modified_ns_) return;
    inode_ = seen->inode;
    modified_ns_ = seen->modified_ns;
    hashes_.clear();
    auto file = here.open_file(path, Access::read_only);
    const auto info = file.ok() ? file->info() : file.error();
    if (info.ok() && is_own_file(info.value())) {
        hashes_ = hashes_in(file.value(), info->size_bytes);
    }
}

bool Wanted::contains(std::uint64_t hash) const {
    return std::ranges::binary_search(hashes_, hash);
}

}  // namespace cairn
