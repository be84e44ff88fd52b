// SPDX-License-Identifier: MIT
#include "pack/pack_reader.h"

#include <zstd.h>

#include <algorithm>
#include <new>

#include "base/checksum.h"

namespace cairn {
namespace {

Result<PackHeader> read_header(const File &file, const FileInfo &info) {
    const std::uint64_t least = 2 * kPackHeaderSize + kPackTrailerSize;
    if (!info.is_file || info.size_bytes < kPackHeaderSize) return Error::corrupt;
    PackHeaderBytes bytes;
    TRY_ASSIGN(const std::size_t size, file.read_at(0, bytes));
    auto header = decode_pack_header(Bytes(bytes).first(size));
    const bool is_other = is_other_pack_version(Bytes(bytes).first(size));
    if (!header && info.size_bytes >= least) {
        // The copy at the end of the body.
        TRY_ASSIGN(const std::size_t again,
                   file.read_at(info.size_bytes - kPackTrailerSize - kPackHeaderSize, bytes));
        header = decode_pack_header(Bytes(bytes).first(again));
    }
    if (header) return std::move(*header);
    return is_other ? Error::unsupported : Error::corrupt;
}

}  // namespace

Result<std::shared_ptr<const Pack>> Pack::open(File file) {
    TRY_ASSIGN(const FileInfo info, file.info());
    TRY_ASSIGN(PackHeader header, read_header(file, info));
    return std::shared_ptr<const Pack>(new Pack(std::move(file), info, std::move(header)));
}

std::optional<std::size_t> Pack::find_part(const PackIdentity &identity) const {
    for (std::size_t i = 0; i < header_.rows.size(); ++i) {
        if (header_.rows[i].identity == identity) return i;
    }
    return std::nullopt;
}

bool Pack::has(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t end = std::min(header_.body_size, info_.size_bytes);
    return offset <= end && size <= end - offset;
}

bool Pack::read(std::uint64_t offset, MutableBytes out) const {
    if (!has(offset, out.size())) return false;
    const auto size = file_.read_at(offset, out);
    return size.ok() && size.value() == out.size();
}

std::optional<std::string> Pack::text(std::uint64_t offset, std::uint32_t size,
                                      std::uint64_t check) const {
    std::string text(size, '\0');
    const bool is_whole =
        read(offset, std::as_writable_bytes(std::span(text.data(), text.size()))) &&
        checksum(as_bytes(text), size) == check;
    return is_whole ? std::optional(std::move(text)) : std::nullopt;
}

std::optional<std::string> Pack::about() const {
    return text(header_.about_offset, header_.about_size, header_.about_check);
}

std::optional<std::string> Pack::part_text(const PackRow &row) const {
    return text(row.text_offset, row.text_size, row.text_check);
}

PackPart::PackPart(std::shared_ptr<const Pack> pack, std::size_t number)
    : pack_(std::move(pack)), row_(pack_->rows()[number]), index_size_(readable_index()) {}

PackPart::~PackPart() {
    delete[] index_.load();
    ZSTD_freeDDict(dictionary_.load());
}

std::size_t PackPart::readable_index() const {
    const auto whole = static_cast<std::size_t>(row_.index_size());
    if (pack_->has(row_.index_offset, whole)) return whole;
    const std::uint64_t size = pack_->info().size_bytes;
    const std::uint64_t there = size - std::min(row_.index_offset, size);
    return static_cast<std::size_t>(std::min(there, row_.index_size())) / kPageSize * kPageSize;
}

PackPart::Page PackPart::read_page(std::size_t page) const {
    const std::size_t at = page * kPageSize;
    const std::size_t size = std::min(kPageSize, index_size_ - at);
    const bool is_there =
        pack_->read(row_.index_offset + at, MutableBytes(index_.load() + at, size));
    return is_there ? Page::read : Page::missing;
}

Result<const std::byte *> PackPart::bucket(std::uint32_t number) const {
    const std::size_t at = number * kPackBucketSize;
    if (at >= index_size_) return nullptr;
    const std::size_t page = at / kPageSize;
    const std::byte *index = index_.load(std::memory_order_acquire);
    Page state = index == nullptr ? Page::unread : pages_[page].load(std::memory_order_acquire);
    if (state == Page::unread) {
        const MutexLock lock(mutex_);
        if (index_.load() == nullptr) {
            const std::size_t count = (index_size_ + kPageSize - 1) / kPageSize;
            pages_.reset(new (std::nothrow) std::atomic<Page>[count]());
            auto *const memory = new (std::nothrow) std::byte[index_size_];
            if (pages_ == nullptr || memory == nullptr) {
                delete[] memory;
                return Error::no_memory;
            }
            index_.store(memory, std::memory_order_release);
        }
        index = index_.load();
        state = pages_[page].load();
        if (state == Page::unread) {
            state = read_page(page);
            pages_[page].store(state, std::memory_order_release);
        }
    }
    return state == Page::read ? index + at : nullptr;
}

// Calls `visit` with each slot that may be the key's and its number, until it returns true.
template <typename Visit>
Status PackPart::visit_candidates(Bytes key, const Visit &visit) const {
    const std::uint64_t hash = pack_key_hash(key, row_.seed());
    for (std::uint32_t probe = 0; probe < row_.probes_max; ++probe) {
        const auto number = (static_cast<std::uint32_t>(hash) + probe) & (row_.bucket_count - 1);
        TRY_ASSIGN(const std::byte *const slots, bucket(number));
        if (slots == nullptr) return {};
        for (std::uint32_t i = 0; i < kPackSlotsPerBucket; ++i) {
            const Bytes bytes(slots + i * kPackSlotSize, kPackSlotSize);
            if (is_empty_pack_slot(bytes)) return {};  // buckets are filled in order
            if (get_le<std::uint32_t>(bytes, 0) != pack_tag(hash)) continue;
            const auto slot_number = number * static_cast<std::uint32_t>(kPackSlotsPerBucket) + i;
            const auto slot = decode_pack_slot(bytes, slot_number);
            if (!slot) continue;
            TRY_ASSIGN(const bool is_found, visit(*slot, slot_number));
            if (is_found) return {};
        }
    }
    return {};
}

Result<PackPart::Found> PackPart::find(Bytes key) const {
    Found found;
    TRY(visit_candidates(key, [&](const PackSlot &slot, std::uint32_t number) -> Result<bool> {
        TRY_ASSIGN(BlobRef entry, read_record(slot));
        if (!entry || !same_bytes(entry->key(), key)) return false;
        found = {std::move(entry), number};
        return true;
    }));
    return found;
}

Result<std::optional<std::uint32_t>> PackPart::find_slot(Bytes key) const {
    std::optional<std::uint32_t> found;
    TRY(visit_candidates(key, [&](const PackSlot &, std::uint32_t number) -> Result<bool> {
        TRY_ASSIGN(const auto entry, look_at(number));
        if (!entry || !same_bytes(as_bytes(entry->key), key)) return false;
        found = number;
        return true;
    }));
    return found;
}

Result<std::optional<PackSlot>> PackPart::slot_at(std::uint32_t number) const {
    constexpr auto kPerBucket = static_cast<std::uint32_t>(kPackSlotsPerBucket);
    if (number >= row_.slot_count()) return std::optional<PackSlot>();
    TRY_ASSIGN(const std::byte *const slots, bucket(number / kPerBucket));
    if (slots == nullptr) return std::optional<PackSlot>();
    const Bytes bytes(slots + number % kPerBucket * kPackSlotSize, kPackSlotSize);
    return decode_pack_slot(bytes, number);
}

Result<BlobRef> PackPart::read(std::uint32_t slot) const {
    TRY_ASSIGN(const auto place, slot_at(slot));
    if (!place) return BlobRef();
    return read_record(*place);
}

Result<std::optional<PackPart::Entry>> PackPart::look_at(std::uint32_t slot) const {
    TRY_ASSIGN(const auto place, slot_at(slot));
    std::array<std::byte, kPackRecordHeaderSize> bytes;
    if (!place || !pack_->read(place->offset, bytes)) return std::optional<Entry>();
    const auto record = look_at_pack_record(bytes, place->size);
    if (!record) return std::optional<Entry>();
    Entry entry = {std::string(record->key_size, '\0'), *record};
    const MutableBytes key = std::as_writable_bytes(std::span(entry.key.data(), entry.key.size()));
    if (!pack_->read(place->offset + kPackRecordHeaderSize, key)) return std::optional<Entry>();
    return std::optional(std::move(entry));
}

// A hostile slot can name no more than the file has.
Result<BlobRef> PackPart::read_record(const PackSlot &slot) const {
    if (!pack_->has(slot.offset, slot.size) || slot.size < kPackRecordHeaderSize) {
        damaged_.fetch_add(1, std::memory_order_relaxed);
        return BlobRef();
    }
    BlobRef blob = Blob::allocate(static_cast<std::size_t>(slot.size));
    if (!blob) return Error::no_memory;
    std::optional<PackRecord> record;
    if (pack_->read(slot.offset, blob->buffer())) {
        record = decode_pack_record(blob->buffer(), slot.offset, row_.seed());
    }
    if (record && record->codec != PackCodec::raw) {
        TRY_ASSIGN(blob, decompress(blob->buffer(), *record));
    } else if (record) {
        blob->describe(kPackRecordHeaderSize, record->key_size, record->value_offset(),
                       record->value_size, record->cost_us);
    }
    if (record && blob) return blob;
    damaged_.fetch_add(1, std::memory_order_relaxed);
    return BlobRef();
}

Result<BlobRef> PackPart::decompress(Bytes bytes, const PackRecord &record) const {
    const ZSTD_DDict_s *words = nullptr;
    if (record.codec == PackCodec::zstd_with_dictionary) {
        words = dictionary();
        if (words == nullptr) return BlobRef();
    }
    const std::size_t value_offset = align_up(std::size_t{record.key_size}, kPackUnit);
    BlobRef blob = Blob::allocate(value_offset + record.raw_size);
    if (!blob) return Error::no_memory;
    const Bytes key = bytes.subspan(kPackRecordHeaderSize, record.key_size);
    std::copy(key.begin(), key.end(), blob->buffer().begin());
    const Status done =
        decompressor_.decompress(bytes.subspan(record.value_offset(), record.value_size),
                                 blob->buffer().subspan(value_offset), words);
    if (done.error() == Error::no_memory) return Error::no_memory;
    if (!done.ok()) return BlobRef();
    blob->describe(0, record.key_size, value_offset, record.raw_size, record.cost_us);
    return blob;
}

// Read with the first value that needs it: from its second copy where the first one is damaged.
const ZSTD_DDict_s *PackPart::dictionary() const {
    const ZSTD_DDict_s *known = dictionary_.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    const MutexLock lock(mutex_);
    if (dictionary_.load() != nullptr || has_no_dictionary_) return dictionary_.load();
    has_no_dictionary_ = true;
    const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[row_.dictionary_size]);
    if (memory == nullptr || row_.dictionary_size == 0) return nullptr;
    const MutableBytes bytes(memory.get(), row_.dictionary_size);
    for (const std::uint64_t copy : {0u, 1u}) {
        if (pack_->read(row_.dictionary_offset + copy * bytes.size(), bytes) &&
            checksum(bytes, row_.seed()) == row_.dictionary_check) {
            dictionary_.store(ZSTD_createDDict(bytes.data(), bytes.size()),
                              std::memory_order_release);
            break;
        }
    }
    return dictionary_.load();
}

std::vector<std::uint32_t> PackPart::order() const {
    const std::size_t size = std::size_t{row_.order_count} * 4;
    std::vector<std::uint32_t> slots;
    if (!pack_->has(row_.order_offset, size)) return slots;
    std::vector<std::byte> bytes(size);
    if (!pack_->read(row_.order_offset, bytes)) return slots;
    for (std::size_t i = 0; i < row_.order_count; ++i) {
        const auto slot = get_le<std::uint32_t>(bytes, i * 4);
        if (slot < row_.slot_count()) slots.push_back(slot);
    }
    return slots;
}

}  // namespace cairn
