// Keys: unbroken hashes over tagged, length-prefixed fields. The requests in requests.h say which.
// SPDX-License-Identifier: MIT
//
// Thread safety: a builder belongs to one thread. Failure: making one throws without memory.
#pragma once

#include <bits/functexcept.h>
#include <cairn/cairn.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace cairn::gl {

using Key = std::array<uint8_t, CAIRN_PROGRAM_KEY_SIZE>;
// Of a linked program: that of its entry in memory, where applications of EGL see it.
using ProgramKey = std::array<uint8_t, 20>;

// The numbers are part of every stored key: they are never reused for something else.
enum class Tag : uint32_t {
    identity = 1,
    request = 2,
    version = 3,
    language = 4,
    extensions = 5,
    flags = 6,
    profile = 7,
    traits = 8,
    type = 9,
    source = 10,
    shader = 11,
    setting = 12,
    arguments = 13,
};

inline Key hash_of_source(std::string_view text) {
    return std::bit_cast<Key>(cairn::hash_of_source(as_bytes(text)));
}

class KeyBuilder {
  public:
    // `domain` names what is hashed, and its revision.
    explicit KeyBuilder(const char *domain) : builder_(cairn_key_begin(domain)) {
        if (builder_ == nullptr) {
            std::__throw_bad_alloc();
        }
    }
    ~KeyBuilder() {
        if (builder_ != nullptr) {
            finish();
        }
    }
    KeyBuilder(const KeyBuilder &) = delete;
    KeyBuilder &operator=(const KeyBuilder &) = delete;

    void add(Tag tag, std::string_view bytes) {
        cairn_key_add(builder_, static_cast<uint32_t>(tag), bytes.data(), bytes.size());
    }
    void add_number(Tag tag, uint64_t number) {
        cairn_key_add_u64(builder_, static_cast<uint32_t>(tag), number);
    }
    // Once, and last.
    Key finish() {
        Key key;
        cairn_key_finish(std::exchange(builder_, nullptr), key.data());
        return key;
    }

  private:
    cairn_key_builder *builder_;
};

template <size_t size>
std::string_view bytes_of(const std::array<uint8_t, size> &key) {
    return {reinterpret_cast<const char *>(key.data()), key.size()};
}

}  // namespace cairn::gl
