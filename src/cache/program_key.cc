// SPDX-License-Identifier: MIT
#include "cache/program_key.h"

namespace cairn {

void ProgramKey::add(std::uint32_t tag, Bytes data) {
    std::array<std::byte, 12> prefix;
    put_le(prefix, 0, tag);
    put_le<std::uint64_t>(prefix, 4, data.size());
    hash_.add(prefix);
    hash_.add(data);
}

void ProgramKey::add(std::uint32_t tag, std::uint64_t number) {
    std::array<std::byte, 8> bytes;
    put_le(bytes, 0, number);
    add(tag, bytes);
}

}  // namespace cairn
