// SPDX-License-Identifier: MIT
#include "store/index_file.h"

#include <algorithm>
#include <array>
#include <vector>

#include "os/environment.h"
#include "store/record.h"
#include "store/stamp.h"

namespace cairn {
namespace {

// Writes the fixed part and an initialised first level.
Status write_empty_index(const File &file, const CacheIdentity &identity, const DiskUse &use,
                         std::uint64_t last_stamp) {
    TRY(file.extend(index_size(1)));
    constexpr std::uint64_t kSlotsOffset = level_offset(0) + level_bitmap_pages(0) * kPage;
    std::array<std::byte, kSlotsOffset> head = {};
    const auto header = encode_index_header(identity);
    std::ranges::copy(header, head.begin() + kHeaderPage * kPage);
    std::ranges::copy(header, head.begin() + kHeaderCopyPage * kPage);
    put_le(head, counter_offset(Counter::levels), std::uint64_t{1});
    put_le(head, counter_offset(Counter::last_stamp), last_stamp);
    if (use.segments.empty()) {
        put_le(head, counter_offset(Counter::unsynced), std::uint64_t{1});
        put_le(head, counter_offset(Counter::rebuild), nothing_due(identity.format));
    } else {
        put_le(head, counter_offset(Counter::rebuild), std::uint64_t{1});
        // Do not use the last numbers again: a process may still have a deleted file of that name
        // open.
        const auto last = std::ranges::max_element(use.segments, {}, &SegmentFile::segment);
        put_le(head, counter_offset(Counter::segment_hint), last->segment + std::uint64_t{1});
    }
    put_le(head, counter_offset(Counter::boot), boot_number());
    put_le(head, level_offset(0), (std::uint64_t{1} << level_pages(0)) - 1);
    const Bytes head_piece[] = {head};
    TRY(file.write_at(0, head_piece));
    std::array<std::byte, level_pages(0) * kPage> slots;
    for (std::size_t i = 0; i < slots.size() / 8; ++i) {
        put_le(slots, i * 8, kEmptySlot ^ slot_mask(identity.format, 0, i));
    }
    const Bytes slots_piece[] = {slots};
    return file.write_at(kSlotsOffset, slots_piece);
}

}  // namespace

Status create_index_file(const Directory &directory, const CacheIdentity &identity,
                         Replace replace) {
    const std::string temporary = temporary_name("index");
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory));
    TRY_ASSIGN(const File file, directory.create_file(temporary));
    const std::uint64_t margin_ns = use.segments.empty() ? 0 : kStampMarginNs;
    const std::uint64_t stamp = stamp_at(identity.format, wall_clock_ns() + margin_ns);
    Status status = write_empty_index(file, identity, use, stamp);
    if (status.ok()) {
        status = replace == Replace::yes ? directory.rename(temporary, kIndexFileName)
                                         : directory.link(temporary, kIndexFileName);
    }
    if (!status.ok() || replace == Replace::no) (void)directory.remove_file(temporary);
    return status;
}

bool is_under_construction(std::string_view name) {
    return name.starts_with("rebuild-");
}

void remove_abandoned_indexes(const Directory &directory, const DiskUse &use) {
    for (const std::string &name : use.temporary_files) {
        if (!is_under_construction(name)) continue;
        const auto file = directory.open_file(name, Access::read_only);
        const auto locked = file.ok() ? file->is_locked(kBuilderByte, LockKind::shared)
                                      : Result<bool>(file.error());
        if (locked.ok() && !locked.value()) (void)directory.remove_file(name);
    }
}

Result<IndexUnderConstruction> construct_index(const Directory &directory,
                                               const CacheIdentity &identity) {
    IndexUnderConstruction made = {temporary_name("rebuild"), nullptr};
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory));
    TRY_ASSIGN(File file, directory.create_file(made.name));
    const auto open = [&]() -> Status {
        TRY(file.try_lock(kBuilderByte, LockKind::exclusive));
        TRY(write_empty_index(file, identity, use, 0));
        TRY_ASSIGN(made.index, Index::open(std::move(file), identity, Access::read_write));
        return {};
    };
    const Status status = open();
    if (!status.ok()) {
        (void)directory.remove_file(made.name);
        return status.error();
    }
    return made;
}

Result<CacheIdentity> read_index_identity(const File &file, std::string_view name) {
    for (const std::uint64_t page : {kHeaderPage, kHeaderCopyPage}) {
        std::array<std::byte, kIndexHeaderSize> bytes;
        TRY_ASSIGN(const std::size_t count, file.read_at(page * kPage, bytes));
        const auto header = decode_index_header(Bytes(bytes).first(count));
        if (!header || header->identity.name_hash != cache_name_hash(name)) continue;
        if (!header->is_known()) return Error::unsupported;
        return header->identity;
    }
    return Error::corrupt;
}

namespace {

// The identity that the record at an offset has been written for, if it is whole. `head`: its header.
std::optional<CacheIdentity> identity_of_record(const File &file, Location location, Bytes head,
                                                std::uint64_t version, std::uint64_t name_hash) {
    const auto parsed = parse_record_header(head);
    if (!parsed) return std::nullopt;
    std::array<std::byte, kRecordEndSize> end = {};
    const auto ended = file.read_at(location.offset + parsed->record_size() - end.size(), end);
    if (!ended.ok() || ended.value() != end.size()) return std::nullopt;
    const auto identity = identity_of_trace(trace_in(head, end), version, name_hash);
    std::vector<std::byte> bytes(kRecordHeaderSize + parsed->key_size);
    const auto read = file.read_at(location.offset, bytes);
    if (!read.ok() || read.value() != bytes.size()) return std::nullopt;
    const auto header = decode_record_header(bytes, record_seed(identity.cache_id, location));
    const Bytes key = Bytes(bytes).subspan(kRecordHeaderSize);
    const bool is_own = header && keyed_hash(key, identity.hash_seed) == header->key_hash;
    return is_own ? std::optional(identity) : std::nullopt;
}

// Of the first whole record of a segment.
std::optional<CacheIdentity> identity_of_records(const File &file, std::uint32_t segment,
                                                 std::uint64_t version, std::uint64_t name_hash) {
    std::vector<std::byte> window(64 * 1024);
    for (std::uint64_t begin = 0;;) {
        const auto data = file.next_data(begin);  // passes over holes
        if (data.error() == Error::not_found) return std::nullopt;
        if (data.ok()) begin = std::max(begin, data.value() / kRecordAlignment * kRecordAlignment);
        const auto count = file.read_at(begin, window);
        if (!count.ok() || count.value() < kRecordHeaderSize) return std::nullopt;
        for (std::size_t i = 0; i + kRecordHeaderSize <= count.value(); i += kRecordAlignment) {
            const Bytes head = Bytes(window).subspan(i, kRecordHeaderSize);
            if (get_le<std::uint32_t>(head, 0) != kRecordMagic) continue;
            const Location location = {segment, begin + i};
            const auto identity = identity_of_record(file, location, head, version, name_hash);
            if (identity) return identity;
        }
        begin += window.size();
    }
}

}  // namespace

std::optional<CacheIdentity> identity_of_segments(const Directory &directory, std::uint32_t format,
                                                  std::optional<std::uint64_t> version,
                                                  std::string_view name) {
    // The majority decides, so that a file that strayed in from another cache does not.
    using Vote = std::pair<CacheIdentity, unsigned>;
    std::vector<Vote> votes;
    const std::uint64_t name_hash = cache_name_hash(name);
    const auto use = measure_disk_use(directory);
    for (const SegmentFile &segment :
         use.ok() ? use.value().segments : std::vector<SegmentFile>()) {
        const auto file =
            directory.open_file(segment_file_name(segment.segment), Access::read_only);
        std::array<std::byte, kSegmentHeaderSize> bytes = {};
        if (!file.ok() || !file.value().read_at(0, bytes).ok()) continue;
        auto identity = decode_segment_header(bytes, segment.segment);
        const bool is_ours = identity && identity->name_hash == name_hash;
        if (!is_ours && version && format != kOldestFormat) {
            identity = identity_of_records(file.value(), segment.segment, *version, name_hash);
        } else if (!is_ours) {
            continue;
        }
        if (!identity || identity->format != format) continue;
        if (version && identity->version != *version) continue;
        const auto known = std::ranges::find(votes, *identity, &Vote::first);
        if (known == votes.end()) {
            votes.emplace_back(*identity, 1u);
        } else {
            ++known->second;
        }
    }
    const auto best = std::ranges::max_element(votes, {}, &Vote::second);
    return best == votes.end() ? std::nullopt : std::optional(best->first);
}

CacheIdentity identity_for_new_index(const Directory &directory, std::uint32_t format,
                                     std::uint64_t version, std::string_view name) {
    if (const auto known = identity_of_segments(directory, format, version, name)) return *known;
    CacheIdentity identity;
    identity.format = format;
    random_bytes(std::as_writable_bytes(std::span(&identity.cache_id, 1)));
    identity.version = version;
    identity.name_hash = cache_name_hash(name);
    identity.hash_seed = hash_seed_of(identity.cache_id);
    if (format == kOldestFormat) random_bytes(identity.hash_seed);
    return identity;
}

}  // namespace cairn
