// SPDX-License-Identifier: MIT
#include "store/space.h"

#include <array>

#include "store/formats.h"
#include "store/segment_format.h"

namespace cairn {

Result<DiskUse> measure_disk_use(const Directory &files) {
    DiskUse use;
    use.bytes = bytes_beside_formats(files);
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
        if (segment && info.value().is_file) {
            use.segments.push_back({*segment, info.value().size_bytes, info.value().disk_bytes,
                                    info.value().modified_ns});
        }
    }));
    if (error != Error::none) return error;
    return use;
}

Status discard_segment(const Directory &directory, const std::string &name) {
    std::array<std::byte, kSegmentHeaderSize> head = {};
    const auto file = directory.open_file(name, Access::read_only);
    const bool is_segment = file.ok() && file->read_at(0, head).ok() && begins_like_segment(head);
    return is_segment ? directory.discard_file(name) : directory.remove_file(name);
}

}  // namespace cairn
