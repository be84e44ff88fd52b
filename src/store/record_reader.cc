// SPDX-License-Identifier: MIT
#include "store/record_reader.h"

#include <algorithm>
#include <array>

#include "base/guarded.h"

namespace cairn {
namespace {

// Bytes on the stack for a header and a key of ordinary size.
constexpr std::size_t kSmallHead = 1024;

// Throws without memory: the caller must not take that for a miss.
BlobRef allocate(std::size_t size) {
    BlobRef blob = Blob::allocate(size);
    if (!blob) throw_no_memory();
    return blob;
}

// Only these two errors say something about the entry.
ReadOutcome outcome_of(Error error) {
    if (error == Error::no_memory) throw_no_memory();
    const bool damaged = error == Error::not_found || error == Error::corrupt;
    return damaged ? ReadOutcome::damaged : ReadOutcome::unreadable;
}

ReadInto copied_into(const ReadBlob &read, MutableBytes buffer) {
    if (read.outcome != ReadOutcome::found) return {read.outcome};
    const Bytes value = read.blob->value();
    if (value.size() <= buffer.size()) std::ranges::copy(value, buffer.begin());
    return {ReadOutcome::found, value.size(), read.blob->cost_us()};
}

}  // namespace

// How much to read for the whole record; corrupt: its header is impossible.
Result<std::size_t> RecordReader::bytes_to_read(const File &file, ReadAt read_at, Slot slot) {
    if (slot.size_class() != kLargeSizeClass) return size_class_bytes(slot.size_class());
    std::array<std::byte, kRecordHeaderSize> head;
    TRY_ASSIGN(const std::size_t count, (file.*read_at)(slot.location().offset, head));
    const auto header = parse_record_header(Bytes(head).first(count));
    if (!header) return Error::corrupt;
    // A damaged size must not make us allocate more than there is to read.
    TRY_ASSIGN(const FileInfo info, file.info());
    const std::size_t size = header->value_offset() + header->value_size;
    if (slot.location().offset + size > info.size_bytes) return Error::corrupt;
    return size;
}

bool RecordReader::is_dead(const RecordHeader &header) const {
    if (header.state != RecordState::live) return true;
    return header.given_up_in != 0 && header.was_replaced(boot_.load(std::memory_order_relaxed));
}

ReadBlob RecordReader::read_through(const File &file, ReadAt read_at, std::uint64_t seed, Slot slot,
                                    Bytes key, Form form) {
    const auto wanted = bytes_to_read(file, read_at, slot);
    if (!wanted.ok()) return {outcome_of(wanted.error())};
    BlobRef blob = allocate(wanted.value());
    const auto count = (file.*read_at)(slot.location().offset, blob->buffer());
    if (!count.ok()) return {ReadOutcome::unreadable};
    const Bytes record = Bytes(blob->buffer()).first(count.value());
    const auto header = decode_record_header(record, seed);
    if (!header) return {ReadOutcome::damaged};
    if (!same_bytes(record.subspan(kRecordHeaderSize, header->key_size), key)) {
        return {ReadOutcome::other_key};
    }
    if (is_dead(*header)) return {ReadOutcome::dead};
    if (header->value_offset() + header->value_size > record.size()) return {ReadOutcome::damaged};
    const Bytes value = record.subspan(header->value_offset(), header->value_size);
    if (value_checksum(value) != header->value_check) return {ReadOutcome::damaged};
    if (header->codec != Codec::none && form == Form::raw) return expand(key, value, *header);
    blob->describe(kRecordHeaderSize, header->key_size, header->value_offset(), value.size(),
                   header->cost_us);
    return {ReadOutcome::found, std::move(blob)};
}

ReadBlob RecordReader::expand(Bytes key, Bytes frame, const RecordHeader &header) {
    const std::size_t value_offset = align_up(key.size(), 16);
    BlobRef blob = allocate(value_offset + header.raw_size);
    std::ranges::copy(key, blob->buffer().begin());
    const Status status =
        decompressor_.decompress(frame, blob->buffer().subspan(value_offset, header.raw_size));
    if (!status.ok()) return {outcome_of(status.error())};
    blob->describe(0, key.size(), value_offset, header.raw_size, header.cost_us);
    return {ReadOutcome::found, std::move(blob)};
}

// The key tells where the value is, before the record is read. So one call reads the head, and the
// value straight into the buffer.
ReadInto RecordReader::read_into_through(const File &file, std::uint64_t seed, Slot slot, Bytes key,
                                         MutableBytes buffer) {
    std::array<std::byte, kSmallHead> head_buffer;
    const std::size_t value_offset = align_up(kRecordHeaderSize + key.size(), 16);
    const MutableBytes head = MutableBytes(head_buffer).first(value_offset);
    const std::size_t bound =
        slot.size_class() == kLargeSizeClass
            ? buffer.size()
            : size_class_bytes(slot.size_class()) -
                  std::min<std::size_t>(value_offset, size_class_bytes(slot.size_class()));
    const MutableBytes target = buffer.first(std::min(bound, buffer.size()));
    const auto count = file.read_at(slot.location().offset, head, target);
    if (!count.ok()) return {ReadOutcome::unreadable};
    const Bytes record_head = Bytes(head).first(std::min(count.value(), head.size()));
    const auto parsed = parse_record_header(record_head);
    // Another key, damage, or a value to decompress.
    if (parsed && (parsed->key_size != key.size() || parsed->codec != Codec::none)) {
        return copied_into(read_through(file, &File::read_at, seed, slot, key, Form::raw), buffer);
    }
    const auto header = decode_record_header(record_head, seed);
    if (!header) return {ReadOutcome::damaged};
    if (!same_bytes(record_head.subspan(kRecordHeaderSize, key.size()), key)) {
        return {ReadOutcome::other_key};
    }
    if (is_dead(*header)) return {ReadOutcome::dead};
    const ReadInto result = {ReadOutcome::found, header->value_size, header->cost_us};
    if (header->value_size > buffer.size()) return result;
    if (value_offset + header->value_size > count.value()) return {ReadOutcome::damaged};
    const Bytes value = Bytes(target).first(header->value_size);
    if (value_checksum(value) != header->value_check) return {ReadOutcome::damaged};
    return result;
}

// Calls read(file). If that met damage, calls it again with the file opened anew: our descriptor
// may be of a deleted file whose number is in use again.
template <typename Outcome, typename Read>
Outcome RecordReader::read_twice(Location location, Read read) {
    {
        const auto segment = segments_.open(location.segment);
        if (!segment.ok()) return {outcome_of(segment.error())};
        Outcome result = read(segment.value().file());
        if (result.outcome != ReadOutcome::damaged) return result;
    }
    const auto segment = segments_.reopen(location.segment);
    if (!segment.ok()) return {outcome_of(segment.error())};
    return read(segment.value().file());
}

ReadBlob RecordReader::read(std::uint64_t cache_id, Slot slot, Bytes key, Form form) {
    const std::uint64_t seed = record_seed(cache_id, slot.location());
    return read_twice<ReadBlob>(slot.location(), [&](const File &file) {
        return read_through(file, &File::read_at, seed, slot, key, form);
    });
}

ReadBlob RecordReader::read_cached(std::uint64_t cache_id, Slot slot, Bytes key) {
    const auto segment = segments_.find_open(slot.location().segment);
    if (!segment.ok()) return {ReadOutcome::unreadable};
    const std::uint64_t seed = record_seed(cache_id, slot.location());
    return read_through(segment.value().file(), &File::read_cached_at, seed, slot, key, Form::raw);
}

ReadInto RecordReader::read_into(std::uint64_t cache_id, Slot slot, Bytes key,
                                 MutableBytes buffer) {
    if (align_up(kRecordHeaderSize + key.size(), 16) > kSmallHead) {
        return copied_into(read(cache_id, slot, key), buffer);
    }
    const std::uint64_t seed = record_seed(cache_id, slot.location());
    return read_twice<ReadInto>(slot.location(), [&](const File &file) {
        return read_into_through(file, seed, slot, key, buffer);
    });
}

ReadRecord RecordReader::read_any_key(std::uint64_t cache_id, Location location) {
    const std::uint64_t seed = record_seed(cache_id, location);
    return read_twice<ReadRecord>(location, [&](const File &file) -> ReadRecord {
        for (const std::size_t size : {kSmallHead, kRecordHeaderSize + kKeySizeMax}) {
            BlobRef blob = allocate(size);
            const auto count = file.read_at(location.offset, blob->buffer());
            if (!count.ok()) return {ReadOutcome::unreadable};
            const auto header =
                decode_record_header(Bytes(blob->buffer()).first(count.value()), seed);
            if (!header) continue;  // damaged, or a long key
            blob->describe(kRecordHeaderSize, header->key_size, 0, 0, header->cost_us);
            return {ReadOutcome::found, std::move(blob), *header};
        }
        return {ReadOutcome::damaged};
    });
}

ReadRecord RecordReader::read_any(std::uint64_t cache_id, Location location, Form form) {
    ReadRecord record = read_any_key(cache_id, location);
    if (record.outcome != ReadOutcome::found) return record;
    const Slot slot = Slot::make(location, size_class(record.header.record_size()), 0);
    ReadBlob whole = read(cache_id, slot, record.blob->key(), form);
    return {whole.outcome, std::move(whole.blob), record.header};
}

ReadRecord RecordReader::read_key(std::uint64_t cache_id, Slot slot, Bytes key) {
    ReadRecord record = read_any_key(cache_id, slot.location());
    if (record.outcome != ReadOutcome::found) return record;
    if (!same_bytes(record.blob->key(), key)) return {ReadOutcome::other_key};
    if (is_dead(record.header)) return {ReadOutcome::dead};
    return record;
}

Result<std::optional<std::uint64_t>> RecordReader::read_stamp(std::uint64_t cache_id, Slot slot,
                                                              Bytes key) {
    const ReadRecord record = read_key(cache_id, slot, key);
    if (record.outcome == ReadOutcome::unreadable) {
        const std::uint32_t segment = slot.location().segment;
        const bool is_denied =
            segments_.open(segment).error() == Error::denied && segments_.is_unreadable(segment);
        return is_denied ? Error::denied : Error::io;
    }
    const bool is_entry =
        record.outcome != ReadOutcome::damaged && record.outcome != ReadOutcome::dead;
    if (!is_entry) return Error::corrupt;
    if (record.outcome != ReadOutcome::found) return std::optional<std::uint64_t>();
    return std::optional(record.header.stamp_ns);
}

}  // namespace cairn
