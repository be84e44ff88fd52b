// The entries of a shader that compiles and of a linked program, as bytes.
// SPDX-License-Identifier: MIT
//
// All numbers are 32 bits, little-endian. See the layout in docs/egl.md.
// Thread safety: pure functions. Failure: decoding gives nothing for bytes that no encoder wrote.
#pragma once

#include <GL/gl.h>

#include <optional>
#include <string>

#include "base/bytes.h"

namespace cairn::gl {

// The driver's report of a compile or a link that succeeded.
struct Report {
    std::string log;
    GLint log_length = 0;  // GL_INFO_LOG_LENGTH, which is not always the log's size
};

struct ProgramEntry {
    Report report;
    GLenum format = 0;
    Bytes binary;  // borrowed from what was decoded
};

std::string encode_shader(const Report &report);
std::optional<Report> decode_shader(Bytes bytes);

// The beginning of a program's entry, not yet sealed (cairn_egl.h); the binary follows it.
std::string encode_program_head(const Report &report, GLenum format);
std::optional<ProgramEntry> decode_program(Bytes bytes);

}  // namespace cairn::gl
