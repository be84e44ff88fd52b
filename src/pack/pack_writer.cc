// SPDX-License-Identifier: MIT
#include "pack/pack_writer.h"

#include <zstd.h>

#include <algorithm>
#include <bit>

#include "base/checksum.h"
#include "store/codec.h"

namespace cairn {
namespace {

// Packs are written once and read often; decompressing takes as long at any level.
constexpr int kLevel = 12;
// Of larger values less is looked for: at that level the library would take 50 MB for one of some megabytes.
constexpr std::size_t kLargeValue = 256u << 10;
constexpr int kLevelOfLarge = 3;
// Written at once.
constexpr std::size_t kPendingMax = 1u << 20;

// A bucket for each three entries: three quarters full, so that few overflow.
std::uint32_t buckets_for(std::size_t entries) {
    return static_cast<std::uint32_t>(std::bit_ceil(std::max<std::size_t>((entries + 2) / 3, 1)));
}

Bytes as_bytes(const std::vector<std::byte> &bytes) {
    return {bytes.data(), bytes.size()};
}

// The slot of a key in an index that was just made.
std::optional<std::uint32_t> slot_of(std::uint64_t hash, const PackRow &row, Bytes index) {
    for (std::uint32_t probe = 0; probe < row.probes_max; ++probe) {
        const auto bucket = (static_cast<std::uint32_t>(hash) + probe) & (row.bucket_count - 1);
        for (std::uint32_t i = 0; i < kPackSlotsPerBucket; ++i) {
            const auto number = bucket * static_cast<std::uint32_t>(kPackSlotsPerBucket) + i;
            const Bytes slot = index.subspan(number * kPackSlotSize, kPackSlotSize);
            if (is_empty_pack_slot(slot)) return std::nullopt;
            if (get_le<std::uint32_t>(slot, 0) == pack_tag(hash)) return number;
        }
    }
    return std::nullopt;
}

}  // namespace

PackWriter::~PackWriter() {
    ZSTD_freeCCtx(context_);
    ZSTD_freeCDict(dictionary_);
}

Status PackWriter::flush() {
    const Bytes piece = as_bytes(pending_);
    TRY(file_.write_at(end_ - piece.size(), std::span(&piece, 1)));
    pending_.clear();
    return {};
}

// Sections begin at multiples of kPackUnit.
Status PackWriter::append(Bytes bytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    pending_.resize(pending_.size() + align_up(bytes.size(), kPackUnit) - bytes.size());
    end_ += align_up(bytes.size(), kPackUnit);
    return pending_.size() < kPendingMax ? Status() : flush();
}

Status PackWriter::begin_part(const PackSubject &subject, PackCompression compression,
                              Bytes dictionary) {
    const std::string text = encode_part_text(subject);
    if (header_.rows.size() == kPackPartsMax || text.size() > kPackTextMax ||
        dictionary.size() > kPackDictionaryMax) {
        return Error::invalid_argument;
    }
    PackRow &row = header_.rows.emplace_back();
    row.kind = subject.kind;
    row.identity = identity_of(subject);
    row.text_offset = end_;
    row.text_size = static_cast<std::uint32_t>(text.size());
    row.text_check = checksum(cairn::as_bytes(text), text.size());
    TRY(append(cairn::as_bytes(text)));
    row.dictionary_size = static_cast<std::uint32_t>(dictionary.size());
    row.dictionary_offset = end_;
    row.dictionary_check = checksum(dictionary, row.seed());
    std::vector<std::byte> twice(dictionary.begin(), dictionary.end());
    twice.insert(twice.end(), dictionary.begin(), dictionary.end());
    TRY(append(twice));
    ZSTD_freeCDict(dictionary_);
    dictionary_ = dictionary.empty()
                      ? nullptr
                      : ZSTD_createCDict(dictionary.data(), dictionary.size(), kLevel);
    if (context_ == nullptr) context_ = ZSTD_createCCtx();
    const bool is_ready = context_ != nullptr && (dictionary.empty() || dictionary_ != nullptr);
    compression_ = compression;
    placed_.clear();
    last_key_.clear();
    return is_ready ? Status() : Status(Error::no_memory);
}

// The size of the frame; 0: it would not be worth it.
Result<std::size_t> PackWriter::compress_with(const ZSTD_CDict_s *dictionary, Bytes value,
                                              std::vector<std::byte> &out) {
    const int level = value.size() > kLargeValue ? kLevelOfLarge : kLevel;
    out.resize(value.size() - value.size() / 8);
    const std::size_t size = dictionary != nullptr
                                 ? ZSTD_compress_usingCDict(context_, out.data(), out.size(),
                                                            value.data(), value.size(), dictionary)
                                 : ZSTD_compressCCtx(context_, out.data(), out.size(), value.data(),
                                                     value.size(), level);
    if (ZSTD_isError(size) != 0 || value.size() / kCompressionRatioMax > size) {
        return std::size_t{0};
    }
    return size;
}

// What is stored, valid until the next call.
Result<Bytes> PackWriter::compress(Bytes value, PackCodec &codec) {
    codec = PackCodec::raw;
    if (compression_ == PackCompression::none || !may_compress(value.size())) return value;
    TRY_ASSIGN(const std::size_t plain, compress_with(nullptr, value, buffer_));
    std::size_t with_words = 0;
    if (dictionary_ != nullptr && value.size() <= kLargeValue) {
        TRY_ASSIGN(with_words, compress_with(dictionary_, value, other_buffer_));
    }
    if (with_words != 0 && (plain == 0 || with_words < plain)) {
        codec = PackCodec::zstd_with_dictionary;
        return as_bytes(other_buffer_).first(with_words);
    }
    if (plain == 0) return value;
    codec = PackCodec::zstd;
    return as_bytes(buffer_).first(plain);
}

Status PackWriter::add(const PackEntry &entry) {
    const std::string_view key(reinterpret_cast<const char *>(entry.key.data()), entry.key.size());
    const bool is_in_order = placed_.empty() || last_key_ < key;
    if (!is_in_order || key.empty() || key.size() > 65536 || entry.value.size() >= 1u << 30 ||
        placed_.size() == kPackSlotsMax / 2) {
        return Error::invalid_argument;
    }
    PackRecord record;
    TRY_ASSIGN(const Bytes stored, compress(entry.value, record.codec));
    record.pinned = entry.pinned;
    record.key_size = static_cast<std::uint32_t>(key.size());
    record.value_size = static_cast<std::uint32_t>(stored.size());
    record.raw_size = static_cast<std::uint32_t>(entry.value.size());
    record.cost_us = entry.cost_us;
    record_.resize(static_cast<std::size_t>(record.size()));
    PackRow &row = header_.rows.back();
    const std::uint64_t check =
        encode_pack_record(record, entry.key, stored, end_, row.seed(), record_);
    std::array<std::byte, 8> link;
    put_le(MutableBytes(link), 0, check);
    row.content_id = checksum(link, row.content_id);
    placed_.push_back({pack_key_hash(entry.key, row.seed()), end_, record.size()});
    last_key_ = key;
    return append(record_);
}

// Entries in the order of their keys, each into the first free slot from its bucket on.
std::vector<std::byte> PackWriter::make_index(PackRow &row) const {
    row.entry_count = static_cast<std::uint32_t>(placed_.size());
    row.bucket_count = buckets_for(placed_.size());
    row.probes_max = 1;
    std::vector<std::byte> index(static_cast<std::size_t>(row.index_size()));
    for (const Placed &each : placed_) {
        const auto home = static_cast<std::uint32_t>(each.hash) & (row.bucket_count - 1);
        auto number = home * static_cast<std::uint32_t>(kPackSlotsPerBucket);
        const auto at = [&] {
            return MutableBytes(index).subspan(number * kPackSlotSize, kPackSlotSize);
        };
        while (!is_empty_pack_slot(at())) number = (number + 1) & (row.slot_count() - 1);
        const auto bucket = number / static_cast<std::uint32_t>(kPackSlotsPerBucket);
        row.probes_max = std::max(row.probes_max, ((bucket - home) & (row.bucket_count - 1)) + 1);
        const auto slot = encode_pack_slot({pack_tag(each.hash), each.offset, each.size}, number);
        std::copy(slot.begin(), slot.end(), at().begin());
    }
    return index;
}

Status PackWriter::write_order(std::span<const std::string> order, Bytes index) {
    PackRow &row = header_.rows.back();
    std::vector<std::byte> numbers;
    row.order_offset = end_;
    for (const std::string &key : order) {
        const auto slot = slot_of(pack_key_hash(cairn::as_bytes(key), row.seed()), row, index);
        if (!slot || row.order_count == row.slot_count()) continue;
        std::array<std::byte, 4> number;
        put_le(MutableBytes(number), 0, *slot);
        numbers.insert(numbers.end(), number.begin(), number.end());
        ++row.order_count;
    }
    return append(numbers);
}

Status PackWriter::end_part(std::span<const std::string> order) {
    PackRow &row = header_.rows.back();
    const std::vector<std::byte> index = make_index(row);
    // Buckets do not cross lines of the processor's cache, nor pages.
    const std::vector<std::byte> gap(static_cast<std::size_t>(align_up(end_, 4096) - end_));
    TRY(append(gap));
    row.index_offset = end_;
    TRY(append(index));
    return write_order(order, index);
}

Status PackWriter::finish(std::string_view about) {
    if (about.size() > kPackTextMax) return Error::invalid_argument;
    header_.about_offset = end_;
    header_.about_size = static_cast<std::uint32_t>(about.size());
    header_.about_check = checksum(cairn::as_bytes(about), about.size());
    TRY(append(cairn::as_bytes(about)));
    header_.body_size = end_ + kPackHeaderSize;
    const PackHeaderBytes bytes = encode_pack_header(header_);
    TRY(append(bytes));
    const std::array<std::byte, kPackTrailerSize> no_signature = {};
    TRY(append(no_signature));
    TRY(flush());
    const Bytes first(bytes);
    return file_.write_at(0, std::span(&first, 1));
}

}  // namespace cairn
