// Writes down everything that can be observed of shaders, programs, errors and pictures, one line
// each, on standard output.
// SPDX-License-Identifier: MIT
//
// Two runs of a scenario that behave alike write the same transcript. Not written: sizes of program
// binaries and anything with an address or a time in it.
// Thread safety: externally synchronised.
#pragma once

#include <string>

#include "gl.h"

namespace client {

// printf to the transcript, as one line.
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

// All pending GL errors. Every function below does this last.
void note_errors(const char *where);

void note_shader(const char *title, GLuint shader);
void note_program(const char *title, GLuint program);
// A checksum and some samples of the picture in the bound framebuffer.
void note_picture(const char *title);

// The same text as note_shader() writes, to be compared or kept.
std::string shader_log(GLuint shader);
std::string program_log(GLuint program);

}  // namespace client
