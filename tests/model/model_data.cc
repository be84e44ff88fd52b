// SPDX-License-Identifier: MIT
#include "model/model_data.h"

#include <algorithm>
#include <array>
#include <span>

#include "support/random.h"

namespace cairn_test {
namespace {

constexpr std::array<std::size_t, 32> kKeySizes = {
    1,  2,  3,   4,   7,   8,   15,  16,  17,   31,   32,   33,   47,    48,    49,    63,
    64, 65, 100, 127, 128, 129, 255, 256, 1000, 4031, 4032, 4096, 16384, 40000, 65535, 65536};
constexpr std::array<std::size_t, 40> kValueSizes = {
    0,    1,    2,    3,    7,    8,    15,    16,    17,    31,    32,    33,    47,   48,
    49,   63,   64,   65,   100,  127,  128,   129,   500,   1000,  1023,  1024,  2000, 4000,
    4095, 4096, 4097, 6000, 8192, 9000, 16000, 16384, 32768, 65535, 65536, 300000};
constexpr std::array<std::size_t, 6> kEntrySizes = {1024, 4096, 8192, 16384, 32768, 65536};

// Choices from this one on make the whole entry have about one of kEntrySizes.
constexpr std::uint8_t kEntryChoice = 200;

std::size_t value_size(std::uint8_t choice, std::size_t key_size) {
    if (choice < kEntryChoice) return kValueSizes[choice % kValueSizes.size()];
    const auto which = static_cast<std::size_t>(choice - kEntryChoice);
    const std::size_t entry = kEntrySizes[which % kEntrySizes.size()];
    const std::size_t overhead = (64 + key_size + 15) / 16 * 16;
    if (overhead + 1 > entry) return key_size % 100;
    const std::size_t exact = entry - overhead;
    switch (which / kEntrySizes.size() % 3) {
        case 0:
            return exact - 1;
        case 1:
            return exact;
        default:
            return exact + 1;
    }
}

}  // namespace

ByteVector model_key(std::size_t number) {
    number %= kModelKeyCount;
    ByteVector key(kKeySizes[number % kKeySizes.size()]);
    Random(1).fill(key);
    key.back() = static_cast<std::uint8_t>(key.back() + number / kKeySizes.size());
    return key;
}

ByteVector model_value(std::uint8_t size_choice, std::uint8_t content_choice,
                       std::size_t key_size) {
    ByteVector value(value_size(size_choice, key_size));
    // Every fourth value is what a codec likes, the others what it cannot shrink.
    if (content_choice % 4 == 0) {
        std::fill(value.begin(), value.end(), content_choice);
    } else {
        Random(content_choice).fill(value);
    }
    return value;
}

}  // namespace cairn_test
