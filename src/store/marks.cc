// SPDX-License-Identifier: MIT
#include "store/marks.h"

#include <array>
#include <span>

#include "store/segment_format.h"

namespace cairn {
namespace {

// Calls change(write) if the record is there. Offsets for write(offset, bytes) are from its begin.
template <typename Change>
Status change_record(const Directory &directory, const RecordId &record, Change change) {
    const Location location = record.location;
    const auto file = directory.open_file(segment_file_name(location.segment), Access::read_write);
    if (file.error() == Error::not_found) return {};
    if (!file.ok()) return file.error();
    std::array<std::byte, kRecordHeaderSize> head = {};
    TRY_ASSIGN(const std::size_t count, file->read_at(location.offset, head));
    const auto header = parse_record_header(head);
    if (count < head.size() || !header || header->stamp_ns != record.stamp_ns) return {};
    const auto write = [&](std::size_t offset, Bytes bytes) {
        return file->write_at(location.offset + offset, std::span(&bytes, 1));
    };
    const auto before = file->info();
    const Status status = change(write);
    // The time of a segment is that of its last record. Else what is old would be evicted after what is newer.
    if (before.ok()) (void)file->set_modified(before->modified_ns);
    return status;
}

Status change_bytes(const Directory &directory, const RecordId &record, std::size_t offset,
                    Bytes bytes) {
    return change_record(directory, record,
                         [&](const auto &write) { return write(offset, bytes); });
}

}  // namespace

Status mark_state(const Directory &directory, const RecordId &record, RecordState state) {
    const auto octet = static_cast<std::byte>(state);
    return change_bytes(directory, record, kRecordStateOffset, Bytes(&octet, 1));
}

Status mark_removed(const Directory &directory, const RecordId &record, std::uint64_t boot) {
    const auto octet = static_cast<std::byte>(RecordState::removed);
    return change_record(directory, record, [&](const auto &write) -> Status {
        TRY(write(kRecordStateOffset, Bytes(&octet, 1)));
        // Without it the record counts as one that was removed in this start.
        (void)write(kRecordGivenUpOffset, given_up_bytes(GivenUp::replaced, boot));
        return {};
    });
}

Status mark_given_up(const Directory &directory, const RecordId &record, GivenUp reason,
                     std::uint64_t boot) {
    return change_bytes(directory, record, kRecordGivenUpOffset, given_up_bytes(reason, boot));
}

Status mark_moved(const Directory &directory, const RecordId &record) {
    return change_bytes(directory, record, kRecordUnmovedOffset, Bytes(&kMoved, 1));
}

}  // namespace cairn
