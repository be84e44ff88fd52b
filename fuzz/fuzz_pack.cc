// Packs: what is read of a hostile file. Tried as it is, and with the checks that a hostile author
// would give the header, so that what lies behind it is reached.
// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "pack/pack_reader.h"

namespace {

using cairn::Bytes;

// The same file for all inputs.
int memory_file() {
    static const int fd = ::memfd_create("pack", 0);
    return fd;
}

void read_part(const std::shared_ptr<const cairn::Pack> &pack, std::size_t number) {
    const cairn::PackPart part(pack, number);
    (void)pack->part_text(part.row());
    (void)part.order();
    for (std::uint32_t slot = 0; slot < part.row().slot_count() && slot < 4096; ++slot) {
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

// The header's own checks, the texts' and the slots', as if they fitted.
void make_plausible(std::vector<std::byte> &file) {
    constexpr std::size_t kCheckAt = 120;
    if (file.size() < cairn::kPackHeaderSize) return;
    const cairn::MutableBytes header(file.data(), cairn::kPackHeaderSize);
    constexpr std::string_view kMagic = "CAIRNPCK";
    std::copy_n(cairn::as_bytes(kMagic).begin(), kMagic.size(), header.begin());
    cairn::put_le(header, 8, cairn::kPackFormatVersion);
    cairn::put_le(header, kCheckAt, std::uint64_t{0});
    cairn::put_le(header, kCheckAt, cairn::checksum(header, 4));
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
