// What is stored for a shader that compiles and for a linked program, and how it is written down.
// SPDX-License-Identifier: MIT
//
// All numbers are 32 bits, little-endian. See the layout in docs/egl.md.
// Thread safety: pure functions. Failure: decode() gives nothing for bytes that no encoder wrote.
#pragma once

#include <GL/gl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn::egl {

// What the driver says about a compile or a link that succeeded.
struct Report {
    std::string log;
    GLint log_length = 0;  // what it says the length is, which is not always that of the log
};

struct ProgramEntry {
    Report report;
    GLenum format = 0;
    std::span<const std::byte> binary;  // borrowed from what was decoded
};

std::string encode_shader(const Report &report);
std::optional<Report> decode_shader(std::span<const std::byte> bytes);

// The beginning of a program's entry, not yet sealed (cairn_egl.h); the binary follows it.
std::string encode_program_head(const Report &report, GLenum format);
std::optional<ProgramEntry> decode_program(std::span<const std::byte> bytes);

}  // namespace cairn::egl
