// The order of a start (docs/formats/order.md): what is accepted is what is written. Tried as it
// is, and with the head that a hostile author would give it.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "cache/start_order.h"

namespace {

void try_file(const std::vector<std::byte> &file) {
    const auto order = cairn::decode_order(file);
    if (!order) return;
    if (cairn::encode_order(*order) != file) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    try_file({input.begin(), input.end()});
    if (size == 0) return 0;
    // The first byte is the count.
    std::vector<std::byte> file = cairn::encode_order({});
    file.insert(file.end(), input.begin() + 1, input.end());
    cairn::put_le(cairn::MutableBytes(file), 16, std::uint64_t{data[0]});
    cairn::put_le(cairn::MutableBytes(file), 8, cairn::order_check(file));
    try_file(file);
    return 0;
}
