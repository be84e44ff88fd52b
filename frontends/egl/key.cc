// SPDX-License-Identifier: MIT
#include "key.h"

#include <algorithm>

namespace cairn::egl {

void KeyBuilder::add(Tag tag, std::string_view bytes) {
    if (builder_ != nullptr) {
        cairn_key_add(builder_, static_cast<uint32_t>(tag), bytes.data(), bytes.size());
    }
}

void KeyBuilder::add_number(Tag tag, uint64_t number) {
    if (builder_ != nullptr) {
        cairn_key_add_u64(builder_, static_cast<uint32_t>(tag), number);
    }
}

Key KeyBuilder::finish() {
    Key key = {};
    if (builder_ != nullptr) {
        cairn_key_finish(builder_, key.data());
    }
    builder_ = nullptr;
    return key;
}

bool is_valid(std::string_view key) {
    return key.find_first_not_of('\0') != std::string_view::npos;
}

namespace {

// The beginning of an unbroken hash is an unbroken hash.
ProgramKey beginning_of(const Key &key) {
    ProgramKey beginning;
    std::copy_n(key.begin(), beginning.size(), beginning.begin());
    return beginning;
}

}  // namespace

Key shader_key(const Key &traits, GLenum type, std::string_view source) {
    KeyBuilder builder("gl-shader/1");
    builder.add(Tag::traits, bytes_of(traits));
    builder.add_number(Tag::type, type);
    builder.add(Tag::source, source);
    return builder.finish();
}

ProgramKey program_key(const Key &traits, std::span<const Key> shaders,
                       std::span<const Program::Call> settings) {
    KeyBuilder builder("gl-program/1");
    builder.add(Tag::traits, bytes_of(traits));
    for (const Key &shader : shaders) {
        builder.add(Tag::shader, bytes_of(shader));
    }
    for (const Program::Call &call : settings) {
        builder.add_number(Tag::setting, static_cast<uint32_t>(call.setting));
        builder.add(Tag::arguments, call.arguments);
    }
    return beginning_of(builder.finish());
}

ProgramKey shader_program_key(const Key &traits, GLenum type,
                              std::span<const GLchar *const> sources) {
    KeyBuilder builder("gl-shader-program/1");
    builder.add(Tag::traits, bytes_of(traits));
    builder.add_number(Tag::type, type);
    for (const GLchar *source : sources) {
        builder.add(Tag::source, source);
    }
    return beginning_of(builder.finish());
}

}  // namespace cairn::egl
