// Decisions taken from a sequence of bytes: a fuzzer's input, or that of a random generator.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. The bytes are borrowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cairn_test {

class ByteSource {
  public:
    explicit ByteSource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool empty() const { return bytes_.empty(); }
    // The next byte; 0 when there is none left.
    std::uint8_t byte() {
        if (bytes_.empty()) return 0;
        const std::uint8_t first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }
    std::size_t below(std::size_t bound) { return byte() % bound; }

  private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace cairn_test
