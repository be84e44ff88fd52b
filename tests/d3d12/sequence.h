// A sequence of calls, taken from bytes, on sessions and on the reference at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace d3d12_test {

struct SequenceResult {
    unsigned calls = 0;
    std::string difference;  // the first; empty: there is none
};

// Buffers are exactly as large as calls are told, so that a byte too many is noticed.
SequenceResult play_sequence(std::span<const std::uint8_t> input);

}  // namespace d3d12_test
