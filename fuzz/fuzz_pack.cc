// Packs: what is read of a hostile file. Tried as it is, and with all the checks that a hostile author
// would give it, so that what lies behind them is reached.
// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "pack/pack_reader.h"

namespace {

using cairn::Bytes;

constexpr std::uint32_t kSlotsMax = 4096;  // that are looked at

// The same file for all inputs.
int memory_file() {
    static const int fd = ::memfd_create("pack", 0);
    return fd;
}

void read_part(const std::shared_ptr<const cairn::Pack> &pack, std::size_t number) {
    const cairn::PackPart part(pack, number);
    const auto text = pack->part_text(part.row());
    if (text) (void)cairn::decode_part_text(*text, part.row().kind);
    (void)part.order();
    for (std::uint32_t slot = 0; slot < part.row().slot_count() && slot < kSlotsMax; ++slot) {
        const auto looked = part.look_at(slot);
        auto entry = part.read(slot);
        if (!entry.ok() || !*entry) continue;
        // What verifies is found under its own key, or another entry of the key is.
        auto found = part.find((*entry)->key());
        if (!looked.ok() || !looked.value()) std::abort();
        if (found.ok() && found->entry &&
            !cairn::same_bytes(found->entry->key(), (*entry)->key())) {
            std::abort();
        }
    }
    (void)part.find(cairn::as_bytes("teapot"));
    (void)part.find_slot(cairn::as_bytes("teapot"));
}

void try_pack(Bytes bytes) {
    if (::ftruncate(memory_file(), 0) != 0 || ::pwrite(memory_file(), bytes.data(), bytes.size(),
                                                       0) != static_cast<ssize_t>(bytes.size())) {
        return;
    }
    auto pack = cairn::Pack::open(cairn::File(cairn::UniqueFd(::dup(memory_file()))));
    if (!pack.ok()) return;
    (void)(*pack)->about();
    for (std::size_t i = 0; i < (*pack)->rows().size() && i < 4; ++i) read_part(*pack, i);
}

// So many bytes of a file, where it has them; else none.
std::span<std::byte> piece_of(std::vector<std::byte> &file, std::uint64_t offset,
                              std::uint64_t size) {
    if (offset > file.size() || size > file.size() - offset) return {};
    return std::span(file).subspan(offset, size);
}

// Gives a record the check of its place. Returns the key's hash.
std::optional<std::uint64_t> make_record_plausible(std::span<std::byte> bytes, std::uint64_t offset,
                                                   std::uint64_t seed) {
    const auto record = cairn::look_at_pack_record(bytes, bytes.size());
    if (!record || record->size() != bytes.size()) return std::nullopt;
    const std::vector<std::byte> old(bytes.begin(), bytes.end());
    const Bytes key = Bytes(old).subspan(cairn::kPackRecordHeaderSize, record->key_size);
    const Bytes value = Bytes(old).subspan(record->value_offset(), record->value_size);
    cairn::encode_pack_record(*record, key, value, offset, seed, bytes);
    return cairn::pack_key_hash(key, seed);
}

void make_slots_plausible(std::vector<std::byte> &file, const cairn::PackRow &row) {
    for (std::uint32_t number = 0; number < row.slot_count() && number < kSlotsMax; ++number) {
        const auto bytes =
            piece_of(file, row.index_offset + number * cairn::kPackSlotSize, cairn::kPackSlotSize);
        if (bytes.empty() || cairn::is_empty_pack_slot(bytes)) continue;
        const auto place = cairn::get_le<std::uint64_t>(bytes, 8) & 0xff'ffff'ffff;
        cairn::PackSlot slot = {cairn::get_le<std::uint32_t>(bytes, 0), place * cairn::kPackUnit,
                                cairn::get_le<std::uint32_t>(bytes, 4) * cairn::kPackUnit};
        const auto record = piece_of(file, slot.offset, slot.size);
        const auto hash = make_record_plausible(record, slot.offset, row.seed());
        if (hash) slot.tag = cairn::pack_tag(*hash);
        const auto checked = cairn::encode_pack_slot(slot, number);
        std::copy(checked.begin(), checked.end(), bytes.begin());
    }
}

// All checks, as if they fitted: the header's, and of what it names the texts', the dictionaries',
// the slots' and the records'.
void make_plausible(std::vector<std::byte> &file) {
    constexpr std::size_t kCheckAt = 120;
    if (file.size() < cairn::kPackHeaderSize) return;
    const cairn::MutableBytes bytes(file.data(), cairn::kPackHeaderSize);
    constexpr std::string_view kMagic = "CAIRNPCK";
    std::copy_n(cairn::as_bytes(kMagic).begin(), kMagic.size(), bytes.begin());
    cairn::put_le(bytes, 8, cairn::kPackFormatVersion);
    cairn::put_le(bytes, kCheckAt, std::uint64_t{0});
    cairn::put_le(bytes, kCheckAt, cairn::checksum(bytes, 4));
    auto header = cairn::decode_pack_header(bytes);
    if (!header) return;
    for (cairn::PackRow &row : header->rows) {
        make_slots_plausible(file, row);
        row.text_check =
            cairn::checksum(piece_of(file, row.text_offset, row.text_size), row.text_size);
        row.dictionary_check =
            cairn::checksum(piece_of(file, row.dictionary_offset, row.dictionary_size), row.seed());
    }
    header->about_check = cairn::checksum(piece_of(file, header->about_offset, header->about_size),
                                          header->about_size);
    // The slots of a hostile pack may have named the header itself.
    const auto checked = cairn::encode_pack_header(*header);
    std::copy(checked.begin(), checked.end(), bytes.begin());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    try_pack(input);
    std::vector<std::byte> file(input.begin(), input.end());
    make_plausible(file);
    try_pack(file);
    return 0;
}
