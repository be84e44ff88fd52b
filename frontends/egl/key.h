// Keys: unbroken hashes over tagged, length-prefixed fields. The requests in requests.h say which.
// SPDX-License-Identifier: MIT
//
// Thread safety: a builder belongs to one thread. Failure: making one throws without memory.
#pragma once

#include <cairn/cairn.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace cairn::egl {

using Key = std::array<uint8_t, CAIRN_PROGRAM_KEY_SIZE>;
// Of a linked program: that of its entry in the display's cache, where applications see it.
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

class KeyBuilder {
  public:
    // `domain` names what is hashed, and its revision.
    explicit KeyBuilder(const char *domain);
    ~KeyBuilder();
    KeyBuilder(const KeyBuilder &) = delete;
    KeyBuilder &operator=(const KeyBuilder &) = delete;

    void add(Tag tag, std::string_view bytes);
    void add_number(Tag tag, uint64_t number);
    // Once, and last.
    Key finish();

  private:
    cairn_key_builder *builder_;
};

template <size_t size>
std::string_view bytes_of(const std::array<uint8_t, size> &key) {
    return {reinterpret_cast<const char *>(key.data()), key.size()};
}

}  // namespace cairn::egl
