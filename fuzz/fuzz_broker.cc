// Messages between broker and clients: what is accepted is what is encoded. Tried as it is, and
// with the size that a hostile author would put there.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ipc/message.h"

namespace {

void try_message(cairn::Bytes bytes) {
    const auto message = cairn::decode_message(bytes);
    if (!message) return;
    const auto again = cairn::encode_message(*message);
    if (!cairn::same_bytes(again, bytes)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    // A copy of exactly that size: reading behind it is noticed.
    std::vector<std::byte> input(bytes, bytes + size);
    try_message(input);
    if (size < cairn::kMessageHeaderSize) return 0;
    cairn::put_le<std::uint16_t>(input, 2, 0);
    cairn::put_le(input, 4, static_cast<std::uint32_t>(size));
    try_message(input);
    // Every type with this body.
    for (std::uint16_t type = 0; type < 80; ++type) {
        cairn::put_le(input, 0, type);
        try_message(input);
    }
    return 0;
}
