// SPDX-License-Identifier: MIT
#include "cache/start_order.h"

#include <algorithm>
#include <unordered_set>

#include "base/checksum.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CNORDER1";
constexpr std::size_t kCheckOffset = 8;
constexpr std::size_t kCountOffset = 16;
constexpr std::size_t kHeadSize = 24;
constexpr std::size_t kSizeSize = 2;
// A start that used at most one in so many of the file's keys does not change their order.
constexpr std::size_t kKeysPerFew = 64;

// A file in the making.
class Encoder {
  public:
    // A key that cannot be in a file is left out.
    void add(std::string_view key) {
        if (key.empty() || key.size() > kOrderKeyMax || is_full_) return;
        const std::size_t offset = bytes_.size();
        is_full_ = offset + kSizeSize + key.size() > kOrderBytesMax || count_ == kOrderKeysMax;
        if (is_full_) return;
        bytes_.resize(offset + kSizeSize);
        put_le(MutableBytes(bytes_), offset, static_cast<std::uint16_t>(key.size()));
        const Bytes text = as_bytes(key);
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        ++count_;
    }
    Bytes keys() const { return Bytes(bytes_).subspan(kHeadSize); }
    std::vector<std::byte> finish() {
        const Bytes magic = as_bytes(kMagic);
        std::copy(magic.begin(), magic.end(), bytes_.begin());
        put_le(MutableBytes(bytes_), kCountOffset, count_);
        put_le(MutableBytes(bytes_), kCheckOffset, order_check(bytes_));
        return std::move(bytes_);
    }

  private:
    std::vector<std::byte> bytes_ = std::vector<std::byte>(kHeadSize);
    std::uint64_t count_ = 0;
    bool is_full_ = false;
};

std::vector<std::byte> read_content(const Directory &directory) {
    const auto file = directory.open_file(kOrderFileName, Access::read_only);
    if (!file.ok()) return {};
    const auto info = file->info();
    if (!info.ok() || info->size_bytes > kOrderBytesMax) return {};
    std::vector<std::byte> bytes(static_cast<std::size_t>(info->size_bytes));
    const auto size = file->read_at(0, bytes);
    bytes.resize(size.ok() ? size.value() : 0);
    return bytes;
}

// Whether the start used few of the keys of a file, and no other.
bool uses_few(const StartOrder &start, const std::vector<std::string_view> &before) {
    if (start.size() > before.size() / kKeysPerFew) return false;
    std::unordered_set<std::string_view> unmet(start.begin(), start.end());
    return std::ranges::any_of(
        before, [&](std::string_view key) { return unmet.erase(key) != 0 && unmet.empty(); });
}

// The keys of `start`, and behind them those of `before` that are not among them. Empty: `before`
// is that already, or may stay.
std::vector<std::byte> merge(const StartOrder &start, Bytes before) {
    const auto rest = decode_order(before);
    if (rest && uses_few(start, *rest)) return {};
    Encoder merged;
    for (const std::string &key : start) merged.add(key);
    if (rest) {
        const Bytes first = merged.keys();
        const Bytes keys = before.subspan(kHeadSize);
        if (keys.size() >= first.size() && same_bytes(keys.first(first.size()), first)) return {};
        const std::unordered_set<std::string_view> known(start.begin(), start.end());
        for (const std::string_view key : *rest) {
            if (!known.contains(key)) merged.add(key);
        }
    }
    return merged.finish();
}

}  // namespace

// Of everything behind it.
std::uint64_t order_check(Bytes file) {
    return checksum(file.subspan(kCountOffset), 0);
}

std::vector<std::byte> encode_order(const StartOrder &order) {
    return merge(order, {});
}

std::optional<std::vector<std::string_view>> decode_order(Bytes bytes) {
    if (bytes.size() < kHeadSize || bytes.size() > kOrderBytesMax) return std::nullopt;
    if (!same_bytes(bytes.first(kMagic.size()), as_bytes(kMagic))) return std::nullopt;
    if (get_le<std::uint64_t>(bytes, kCheckOffset) != order_check(bytes)) return std::nullopt;
    const auto count = get_le<std::uint64_t>(bytes, kCountOffset);
    if (count > kOrderKeysMax) return std::nullopt;
    std::vector<std::string_view> order;
    order.reserve(static_cast<std::size_t>(count));
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
    const std::vector<std::byte> content = read_content(directory);
    const auto order = decode_order(content);
    return order ? StartOrder(order->begin(), order->end()) : StartOrder();
}

Status write_order(const Directory &directory, const StartOrder &start) {
    const std::vector<std::byte> content = merge(start, read_content(directory));
    return content.empty() ? Status() : directory.replace_file_lazily(kOrderFileName, content);
}

void forget_order(const Directory &directory) {
    (void)directory.remove_file(kOrderFileName);
}

}  // namespace cairn
