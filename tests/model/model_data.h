// The keys and values that the model test uses: sizes at every edge of the store's formats and
// interfaces.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/cache.h"

namespace cairn_test {

inline constexpr std::size_t kModelKeyCount = 96;

// Key `number` modulo kModelKeyCount: 1 byte to 64 KiB. Many keys are the beginning of others, or
// differ in the last byte only.
ByteVector model_key(std::size_t number);

// A value chosen by two numbers: 0 bytes to 300 KiB, most below 64 KiB; for `key_size` some make an
// entry that ends exactly at, or a byte beside, a size at which stores change their ways.
ByteVector model_value(std::uint8_t size_choice, std::uint8_t content_choice, std::size_t key_size);

}  // namespace cairn_test
