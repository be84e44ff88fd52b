// SPDX-License-Identifier: MIT
#include "cache/layer_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "CNLAYER1";
constexpr std::string_view kPrefix = "layer-";
constexpr std::size_t kSlotCountAt = 8, kEntryCountAt = 12, kAddedAt = 16;
constexpr std::size_t kHeadSize = 32;
constexpr std::size_t kPathMax = 4096;

using Head = std::array<std::byte, kHeadSize>;

std::string name_of(const PackRow &row) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016" PRIx64, row.content_id);
    return std::string(kPrefix) + digits;
}

// Tells the files of this process's threads from one another: a look-up and the loader may both be first.
constinit std::atomic<unsigned> made_count = 0;

// Each thread of each process writes a file of its own, and the first one that is whole gets the name.
Status make(const Directory &cache, const std::string &name, const PackRow &row,
            std::string_view path, std::uint64_t added_ns) {
    std::vector<std::byte> bytes(kHeadSize + row.slot_count());
    std::copy_n(as_bytes(kMagic).begin(), kMagic.size(), bytes.begin());
    put_le(MutableBytes(bytes), kSlotCountAt, row.slot_count());
    put_le(MutableBytes(bytes), kEntryCountAt, row.entry_count);
    put_le(MutableBytes(bytes), kAddedAt, added_ns);
    const Bytes text = as_bytes(path.substr(0, kPathMax));
    bytes.insert(bytes.end(), text.begin(), text.end());
    const std::string unfinished = name + "-" + std::to_string(process_number()) + "-" +
                                   std::to_string(made_count.fetch_add(1)) + ".tmp";
    (void)cache.remove_file(unfinished);
    TRY_ASSIGN(const File file, cache.create_file(unfinished));
    Status made = file.extend(bytes.size());
    if (made.ok()) made = file.write_whole(bytes);
    if (made.ok()) made = cache.link(unfinished, name);
    (void)cache.remove_file(unfinished);
    return made.error() == Error::exists ? Status() : made;
}

Result<std::vector<std::string>> layer_names(const Directory &cache) {
    std::vector<std::string> names;
    TRY(cache.list([&](std::string_view name) {
        if (name.starts_with(kPrefix) && !name.ends_with(".tmp")) names.emplace_back(name);
    }));
    return names;
}

// Hides all entries of one layer, and counts those that were seen before.
Result<std::uint64_t> hide_all(const File &file, std::uint64_t begin_ns, std::uint64_t end_ns) {
    Head head;
    TRY_ASSIGN(const std::size_t size, file.read_at(0, head));
    if (size < kHeadSize || !same_bytes(Bytes(head).first(kMagic.size()), as_bytes(kMagic))) {
        return std::uint64_t{0};  // it hides everything
    }
    const auto added_ns = get_le<std::uint64_t>(head, kAddedAt);
    if (added_ns < begin_ns || added_ns >= end_ns) return std::uint64_t{0};
    const std::size_t count = std::min(get_le<std::uint32_t>(head, kSlotCountAt), kPackSlotsMax);
    std::vector<std::byte> slots(count);
    TRY_ASSIGN(const std::size_t known, file.read_at(kHeadSize, slots));
    const auto hidden = static_cast<std::uint64_t>(
        known -
        static_cast<std::size_t>(std::count(
            slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(known), std::byte{0})));
    std::fill(slots.begin(), slots.end(), std::byte{1});
    const Bytes piece(slots.data(), known);
    TRY(file.write_at(kHeadSize, std::span(&piece, 1)));
    const std::uint64_t entries = get_le<std::uint32_t>(head, kEntryCountAt);
    return entries - std::min(entries, hidden);
}

}  // namespace

Result<LayerFile> LayerFile::open(const Directory &cache, const PackRow &row, std::string_view path,
                                  std::uint64_t added_ns, Access access) {
    const std::string name = name_of(row);
    auto file = cache.open_file(name, access);
    if (file.error() == Error::corrupt && access == Access::read_write) {
        TRY(cache.make_way(name));
        file = Error::not_found;
    }
    if (file.error() == Error::not_found && access == Access::read_write) {
        TRY(make(cache, name, row, path, added_ns));
        file = cache.open_file(name, access);
    }
    if (!file.ok()) return file.error();
    return LayerFile(std::move(file.value()));
}

bool LayerFile::is_hidden(std::uint32_t slot) const {
    std::byte state;
    const auto size = file_.read_at(kHeadSize + slot, MutableBytes(&state, 1));
    return !size.ok() || size.value() != 1 || state != std::byte{0};
}

Result<bool> LayerFile::hide(std::uint32_t slot) const {
    if (is_hidden(slot)) return false;
    const std::byte state{1};
    const Bytes piece(&state, 1);
    TRY(file_.write_at(kHeadSize + slot, std::span(&piece, 1)));
    return true;
}

Result<std::uint64_t> hide_layers(const Directory &cache, std::uint64_t begin_ns,
                                  std::uint64_t end_ns) {
    TRY_ASSIGN(const std::vector<std::string> names, layer_names(cache));
    std::uint64_t hidden = 0;
    for (const std::string &name : names) {
        const auto file = cache.open_file(name, Access::read_write);
        if (file.error() == Error::not_found || file.error() == Error::corrupt) continue;
        if (!file.ok()) return file.error();
        TRY_ASSIGN(const std::uint64_t of_layer, hide_all(file.value(), begin_ns, end_ns));
        hidden += of_layer;
    }
    return hidden;
}

std::vector<std::string> layer_paths(const Directory &cache) {
    std::vector<std::string> paths;
    const auto names = layer_names(cache);
    if (!names.ok()) return paths;
    for (const std::string &name : names.value()) {
        const auto file = cache.open_file(name, Access::read_only);
        Head head;
        const auto size = file.ok() ? file->read_at(0, head) : file.error();
        if (!size.ok() || size.value() != kHeadSize) continue;
        if (!same_bytes(Bytes(head).first(kMagic.size()), as_bytes(kMagic))) continue;
        std::string path(kPathMax, '\0');
        const auto end = file->read_at(kHeadSize + get_le<std::uint32_t>(head, kSlotCountAt),
                                       std::as_writable_bytes(std::span(path.data(), path.size())));
        path.resize(end.ok() ? end.value() : 0);
        if (path.starts_with('/')) paths.push_back(path);
    }
    return paths;
}

}  // namespace cairn
