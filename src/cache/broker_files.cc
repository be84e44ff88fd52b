// SPDX-License-Identifier: MIT
#include "cache/broker_files.h"

#include "store/formats.h"
#include "store/index_file.h"
#include "store/segment_format.h"

namespace cairn {

Result<LentDirectory> find_lent_directory(const Directory &cache) {
    TRY_ASSIGN(FormatDirectory found, find_format(cache));
    return LentDirectory{format_folder(found.format), std::move(found.directory)};
}

Result<BrokerFiles> list_broker_files(const Directory &directory) {
    BrokerFiles files;
    TRY(directory.list([&](const char *name) {
        const auto segment = segment_from_file_name(name);
        if (!segment && std::string_view(name) != kIndexFileName) return;
        const auto info = directory.info(name);
        if (!info.ok()) return;
        if (segment) {
            files.segments[*segment] = info->inode;
        } else {
            files.index_inode = info->inode;
        }
    }));
    return files;
}

Result<File> open_lent_index(const Directory &directory, Access access) {
    return directory.open_file(kIndexFileName, access);
}

Result<File> open_lent_segment(const Directory &directory, std::uint32_t segment, Access access) {
    return directory.open_file(segment_file_name(segment), access);
}

}  // namespace cairn
