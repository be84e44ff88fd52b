// Keys of compiled programs: a cryptographic hash over tagged fields, each with its length.
// SPDX-License-Identifier: MIT
//
// Chromium and ANGLE join the names of a program's inputs without lengths, so that `ab` + `c` gives
// the key of `a` + `bc`. Here no two different lists of fields have the same encoding: a field is
// its tag (4 bytes), its size (8 bytes), its bytes.
//
// Thread safety: belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace cairn {

class ProgramKey {
  public:
    explicit ProgramKey(std::string_view domain) { add(0, as_bytes(domain)); }

    void add(std::uint32_t tag, Bytes data) {
        std::array<std::byte, 12> prefix;
        put_le(prefix, 0, tag);
        put_le<std::uint64_t>(prefix, 4, data.size());
        hash_.add(prefix);
        hash_.add(data);
    }
    void add(std::uint32_t tag, std::uint64_t number) {
        std::array<std::byte, 8> bytes;
        put_le(bytes, 0, number);
        add(tag, bytes);
    }
    std::array<std::byte, 32> finish() { return hash_.finish(); }

  private:
    Blake2b hash_;
};

}  // namespace cairn
