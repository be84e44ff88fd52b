// SPDX-License-Identifier: MIT
#include "store/marks.h"

#include <array>
#include <initializer_list>

#include "store/segment_format.h"

namespace cairn {
namespace {

struct Change {
    std::size_t offset;  // from the begin of the record
    Bytes bytes;
};

// Makes the changes, one after the other, if the record is there.
Status change_record(const Directory &directory, const RecordId &record,
                     std::initializer_list<Change> changes) {
    const Location location = record.location;
    const auto file = directory.open_file(segment_file_name(location.segment), Access::read_write);
    if (file.error() == Error::not_found) return {};
    if (!file.ok()) return file.error();
    std::array<std::byte, kRecordHeaderSize> head = {};
    TRY_ASSIGN(const std::size_t count, file->read_at(location.offset, head));
    const auto header = parse_record_header(head);
    if (count < head.size() || !header || header->stamp_ns != record.stamp_ns) return {};
    for (const Change &change : changes) {
        TRY(file->write_at(location.offset + change.offset, std::span(&change.bytes, 1)));
    }
    return {};
}

}  // namespace

Status mark_state(const Directory &directory, const RecordId &record, RecordState state) {
    const auto octet = static_cast<std::byte>(state);
    return change_record(directory, record, {{kRecordStateOffset, Bytes(&octet, 1)}});
}

// The start first: a process that dies in between leaves a record that is dead until the next one, and
// none that is dead for ever and does not say since when.
Status mark_removed(const Directory &directory, const RecordId &record, std::uint64_t boot) {
    const auto when = given_up_bytes(GivenUp::replaced, boot);
    const auto octet = static_cast<std::byte>(RecordState::removed);
    return change_record(directory, record,
                         {{kRecordGivenUpOffset, when}, {kRecordStateOffset, Bytes(&octet, 1)}});
}

Status mark_given_up(const Directory &directory, const RecordId &record, GivenUp reason,
                     std::uint64_t boot) {
    const auto when = given_up_bytes(reason, boot);
    return change_record(directory, record, {{kRecordGivenUpOffset, when}});
}

Status mark_moved(const Directory &directory, const RecordId &record) {
    return change_record(directory, record, {{kRecordUnmovedOffset, Bytes(&kMoved, 1)}});
}

}  // namespace cairn
