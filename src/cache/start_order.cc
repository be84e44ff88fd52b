// SPDX-License-Identifier: MIT
#include "cache/start_order.h"

#include <algorithm>
#include <unordered_set>

#include "base/checksum.h"
#include "cache/cache.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CNORDER2";
constexpr std::size_t kCheckOffset = 8;
constexpr std::size_t kCountOffset = 16;
constexpr std::size_t kHeadSize = 24;
constexpr std::size_t kAgeAt = 2, kKeyAt = 3;  // behind the size of a key
// A start that used at most one in so many of the file's keys does not change their order.
constexpr std::size_t kKeysPerFew = 64;

// A file in the making.
class Encoder {
  public:
    // A key that cannot be in a file is left out.
    void add(std::string_view key, std::uint8_t starts_ago) {
        if (key.empty() || key.size() > kOrderKeyMax || is_full_) return;
        const std::size_t offset = bytes_.size();
        is_full_ = offset + kKeyAt + key.size() > kOrderBytesMax || count_ == kOrderKeysMax;
        if (is_full_) return;
        bytes_.resize(offset + kKeyAt);
        put_le(MutableBytes(bytes_), offset, static_cast<std::uint16_t>(key.size()));
        put_le(MutableBytes(bytes_), offset + kAgeAt, starts_ago);
        const Bytes text = as_bytes(key);
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        ++count_;
    }
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
bool uses_few(const StartOrder &start, const std::vector<OrderedKey> &before) {
    if (start.size() > before.size() / kKeysPerFew) return false;
    std::unordered_set<std::string_view> unmet(start.begin(), start.end());
    return std::ranges::any_of(before, [&](const OrderedKey &each) {
        return unmet.erase(each.key) != 0 && unmet.empty();
    });
}

// The keys of `start`, and behind them those of `before` that are not among them. Empty: `before`
// may stay.
std::vector<std::byte> merge(const StartOrder &start, Bytes before, OrderWrite which) {
    const auto keys = decode_order(before);
    if (keys && uses_few(start, *keys)) return {};
    Encoder merged;
    for (const std::string &key : start) merged.add(key, 0);
    if (keys) {
        const std::unordered_set<std::string_view> used(start.begin(), start.end());
        for (const OrderedKey &each : *keys) {
            if (used.contains(each.key)) continue;
            const unsigned ago = each.starts_ago + (which == OrderWrite::first ? 1u : 0u);
            merged.add(each.key, static_cast<std::uint8_t>(std::min(ago, kStartsMax)));
        }
    }
    std::vector<std::byte> content = merged.finish();
    return same_bytes(content, before) ? std::vector<std::byte>() : content;
}

}  // namespace

// Of everything behind it.
std::uint64_t order_check(Bytes file) {
    return checksum(file.subspan(kCountOffset), 0);
}

std::vector<std::byte> encode_order(const std::vector<OrderedKey> &keys) {
    Encoder file;
    for (const OrderedKey &each : keys) file.add(each.key, each.starts_ago);
    return file.finish();
}

std::optional<std::vector<OrderedKey>> decode_order(Bytes bytes) {
    if (bytes.size() < kHeadSize || bytes.size() > kOrderBytesMax) return std::nullopt;
    if (!same_bytes(bytes.first(kMagic.size()), as_bytes(kMagic))) return std::nullopt;
    if (get_le<std::uint64_t>(bytes, kCheckOffset) != order_check(bytes)) return std::nullopt;
    const auto count = get_le<std::uint64_t>(bytes, kCountOffset);
    if (count > kOrderKeysMax) return std::nullopt;
    std::vector<OrderedKey> order;
    order.reserve(static_cast<std::size_t>(count));
    std::size_t offset = kHeadSize;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (bytes.size() - offset < kKeyAt) return std::nullopt;
        const std::size_t size = get_le<std::uint16_t>(bytes, offset);
        const auto starts_ago = get_le<std::uint8_t>(bytes, offset + kAgeAt);
        offset += kKeyAt;
        if (size == 0 || size > kOrderKeyMax || size > bytes.size() - offset) return std::nullopt;
        order.push_back({as_text(bytes.subspan(offset, size)), starts_ago});
        offset += size;
    }
    if (offset != bytes.size()) return std::nullopt;
    return order;
}

StartOrder read_order(const Directory &directory, unsigned starts) {
    const std::vector<std::byte> content = read_content(directory);
    const auto keys = decode_order(content);
    StartOrder order;
    for (const OrderedKey &each : keys.value_or(std::vector<OrderedKey>())) {
        if (each.starts_ago < starts) order.emplace_back(each.key);
    }
    return order;
}

Result<bool> write_order(const Directory &directory, const StartOrder &start, OrderWrite which) {
    const std::vector<std::byte> content = merge(start, read_content(directory), which);
    if (content.empty()) return false;
    TRY(directory.replace_file_lazily(kOrderFileName, content));
    return true;
}

void forget_order(const Directory &directory) {
    (void)directory.remove_file(kOrderFileName);
}

}  // namespace cairn
