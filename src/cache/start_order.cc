// SPDX-License-Identifier: MIT
#include "cache/start_order.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/checksum.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CNORDER1";
constexpr std::size_t kCheckOffset = 8;
constexpr std::size_t kCountOffset = 16;
constexpr std::size_t kHeadSize = 24;
constexpr std::size_t kSizeSize = 2;

void append(std::vector<std::byte> &bytes, const std::string &key) {
    const std::size_t offset = bytes.size();
    bytes.resize(offset + kSizeSize);
    put_le(MutableBytes(bytes), offset, static_cast<std::uint16_t>(key.size()));
    const Bytes text = as_bytes(key);
    bytes.insert(bytes.end(), text.begin(), text.end());
}

StartOrder merge(const StartOrder &start, const StartOrder &before) {
    StartOrder merged;
    std::unordered_set<std::string_view> known;
    for (const StartOrder *order : {&start, &before}) {
        for (const std::string &key : *order) {
            if (known.insert(key).second) merged.push_back(key);
        }
    }
    return merged;
}

std::vector<std::byte> read_file(const Directory &directory) {
    const auto file = directory.open_file(kOrderFileName, Access::read_only);
    if (!file.ok()) return {};
    const auto info = file->info();
    if (!info.ok() || info->size_bytes > kOrderBytesMax) return {};
    std::vector<std::byte> bytes(info->size_bytes);
    const auto size = file->read_at(0, bytes);
    bytes.resize(size.ok() ? size.value() : 0);
    return bytes;
}

}  // namespace

// Of everything behind it.
std::uint64_t order_check(Bytes file) {
    return checksum(file.subspan(kCountOffset), 0);
}

std::vector<std::byte> encode_order(const StartOrder &order) {
    std::vector<std::byte> bytes(kHeadSize);
    std::uint64_t count = 0;
    for (const std::string &key : order) {
        if (key.empty() || key.size() > kOrderKeyMax) continue;
        const bool fits = bytes.size() + kSizeSize + key.size() <= kOrderBytesMax;
        if (!fits || count == kOrderKeysMax) break;
        append(bytes, key);
        ++count;
    }
    const Bytes magic = as_bytes(kMagic);
    std::copy(magic.begin(), magic.end(), bytes.begin());
    put_le(MutableBytes(bytes), kCountOffset, count);
    put_le(MutableBytes(bytes), kCheckOffset, order_check(bytes));
    return bytes;
}

std::optional<StartOrder> decode_order(Bytes bytes) {
    if (bytes.size() < kHeadSize || bytes.size() > kOrderBytesMax) return std::nullopt;
    if (!same_bytes(bytes.first(kMagic.size()), as_bytes(kMagic))) return std::nullopt;
    if (get_le<std::uint64_t>(bytes, kCheckOffset) != order_check(bytes)) return std::nullopt;
    const auto count = get_le<std::uint64_t>(bytes, kCountOffset);
    if (count > kOrderKeysMax) return std::nullopt;
    StartOrder order;
    std::size_t offset = kHeadSize;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (bytes.size() - offset < kSizeSize) return std::nullopt;
        const std::size_t size = get_le<std::uint16_t>(bytes, offset);
        offset += kSizeSize;
        if (size == 0 || size > kOrderKeyMax || size > bytes.size() - offset) return std::nullopt;
        order.emplace_back(reinterpret_cast<const char *>(bytes.data()) + offset, size);
        offset += size;
    }
    if (offset != bytes.size()) return std::nullopt;
    return order;
}

StartOrder read_order(const Directory &directory) {
    const std::vector<std::byte> bytes = read_file(directory);
    return decode_order(bytes).value_or(StartOrder());
}

Status write_order(const Directory &directory, const StartOrder &start) {
    const std::vector<std::byte> before = read_file(directory);
    const std::vector<std::byte> bytes =
        encode_order(merge(start, decode_order(before).value_or(StartOrder())));
    if (same_bytes(bytes, before)) return {};
    return directory.replace_file(kOrderFileName, bytes);
}

void forget_order(const Directory &directory) {
    (void)directory.remove_file(kOrderFileName);
}

}  // namespace cairn
