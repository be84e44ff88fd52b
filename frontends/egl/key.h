// Keys of shaders and programs: tagged, length-prefixed fields of everything that can change what a
// driver makes of them.
// SPDX-License-Identifier: MIT
//
// Thread safety: a builder belongs to one thread. Failure: without memory the key is all zero,
// which is_valid() tells; such a key is never looked up or stored.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "program.h"
#include "shader.h"

namespace cairn::egl {

static_assert(sizeof(Key) == CAIRN_PROGRAM_KEY_SIZE);

// The numbers are part of every stored key: they are never reused for something else.
enum class Tag : uint32_t {
    identity = 1,    // what the driver is
    request = 2,     // what eglCreateContext was asked for
    version = 3,     // GL_VERSION
    language = 4,    // GL_SHADING_LANGUAGE_VERSION
    extensions = 5,  // all of them
    flags = 6,       // GL_CONTEXT_FLAGS
    profile = 7,     // GL_CONTEXT_PROFILE_MASK
    traits = 8,      // hash of the above
    type = 9,        // of a shader
    source = 10,     // of a shader
    shader = 11,     // key of a compiled shader of the program, by type, then as attached
    setting = 12,    // kind of a setting made before the link
    arguments = 13,  // of that setting
};

class KeyBuilder {
  public:
    // `domain` names what is hashed, and its revision.
    explicit KeyBuilder(const char *domain) : builder_(cairn_key_begin(domain)) {}
    KeyBuilder(const KeyBuilder &) = delete;
    KeyBuilder &operator=(const KeyBuilder &) = delete;

    void add(Tag tag, std::string_view bytes);
    void add_number(Tag tag, uint64_t number);
    // Once, and last.
    Key finish();

  private:
    cairn_key_builder *builder_;
};

bool is_valid(std::string_view key);

template <size_t size>
std::string_view bytes_of(const std::array<uint8_t, size> &key) {
    return {reinterpret_cast<const char *>(key.data()), key.size()};
}

// The last compile of a shader.
Key shader_key(const Key &traits, GLenum type, std::string_view source);
// A link of shaders with these keys.
ProgramKey program_key(const Key &traits, std::span<const Key> shaders,
                       std::span<const Program::Call> settings);
// glCreateShaderProgramv of these sources: their division into strings is part of it.
ProgramKey shader_program_key(const Key &traits, GLenum type,
                              std::span<const GLchar *const> sources);

}  // namespace cairn::egl
