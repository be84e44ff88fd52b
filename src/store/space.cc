// SPDX-License-Identifier: MIT
#include "store/space.h"

#include <array>
#include <cstdio>

#include "os/environment.h"
#include "store/formats.h"
#include "store/index_format.h"
#include "store/segment_format.h"

namespace cairn {
namespace {

// Whether a file of ours may take a large part of the limit although it is no segment: an index, an
// index under construction, a segment that is being deleted.
bool is_large(std::string_view name) {
    const bool is_index = name.starts_with("index-") || name.starts_with("rebuild-");
    return name == kIndexFileName || (is_index && name.ends_with(".tmp")) ||
           name.ends_with(".val.tmp");
}

}  // namespace

Result<DiskUse> measure_disk_use(const Directory &files) {
    DiskUse use;
    use.bytes = use.other_bytes = bytes_beside_formats(files);
    Error error = Error::none;
    TRY(files.list([&](const char *name) {
        const auto info = files.info(name);
        if (!info.ok()) {
            if (info.error() != Error::not_found) error = info.error();
            return;
        }
        use.bytes += info.value().disk_bytes;
        if (std::string_view(name).ends_with(".tmp")) use.temporary_files.emplace_back(name);
        const auto segment = segment_from_file_name(name);
        if (!segment && !is_large(name)) use.other_bytes += info.value().disk_bytes;
        if (segment && info.value().is_file) {
            use.segments.push_back({*segment, info.value().size_bytes, info.value().disk_bytes,
                                    info.value().modified_ns});
        }
    }));
    if (error != Error::none) return error;
    return use;
}

std::string temporary_name(const std::string &purpose) {
    std::array<std::byte, 8> random;
    random_bytes(random);
    char end[24];
    std::snprintf(end, sizeof end, "-%016llx.tmp",
                  static_cast<unsigned long long>(get_le<std::uint64_t>(random, 0)));
    return purpose + end;
}

Status reserve_blocks(const File &file, std::uint64_t offset, std::uint64_t size) {
    const Status status = file.reserve(offset, size);
    return status.error() == Error::unsupported ? Status() : status;
}

Status discard_segment(const Directory &directory, const std::string &name) {
    std::array<std::byte, kSegmentHeaderSize> head = {};
    const auto file = directory.open_file(name, Access::read_only);
    const bool is_segment = file.ok() && file->read_at(0, head).ok() && begins_like_segment(head);
    return is_segment ? directory.discard_file(name) : directory.remove_file(name);
}

Status sync_segments(const Directory &directory) {
    TRY_ASSIGN(const DiskUse use, measure_disk_use(directory));
    for (const SegmentFile &segment : use.segments) {
        const std::string name = segment_file_name(segment.segment);
        const auto file = directory.open_file(name, Access::read_only);
        if (file.error() == Error::not_found) continue;
        // It holds no entry for anybody.
        if (file.error() == Error::denied && directory.is_unreadable(name)) continue;
        if (!file.ok()) return file.error();
        TRY(file->sync_data());
    }
    return directory.sync();
}

}  // namespace cairn
