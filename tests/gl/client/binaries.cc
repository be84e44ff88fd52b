// SPDX-License-Identifier: MIT
// Applications that handle program binaries, or wait for compiles, themselves.
#include <cstdint>
#include <vector>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr GLenum kCompletionStatus = 0x91B1;
constexpr GLenum kMaxCompilerThreads = 0x91B0;

struct Binary {
    GLenum format = 0;
    std::vector<uint8_t> bytes;
};

Binary binary_of(GLuint program) {
    GLint size = 0;
    gl.GetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &size);
    Binary binary;
    binary.bytes.resize(static_cast<size_t>(size));
    GLsizei written = -1;
    gl.GetProgramBinary(program, size, &written, &binary.format, binary.bytes.data());
    note("binary is whole: %d", written == size && size > 0);
    note_errors("get binary");
    return binary;
}

void give(GLuint program, GLenum format, const std::vector<uint8_t> &bytes) {
    gl.ProgramBinary(program, format, bytes.data(), static_cast<GLsizei>(bytes.size()));
}

}  // namespace

void own_binaries() {
    const Context context(Api::es3);
    const GLuint program = make_unlinked(
        {make_shader(GL_VERTEX_SHADER, kVertex), make_shader(GL_FRAGMENT_SHADER, kFragment)});
    gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    note_program("with a hint", program);
    gl.LinkProgram(program);
    note_program("linked with a hint", program);
    Binary binary = binary_of(program);
    const GLuint loaded = gl.CreateProgram();
    give(loaded, binary.format, binary.bytes);
    note_program("loaded", loaded);
    draw("loaded", loaded);
    // A program with shaders can be given a binary as well, and linked again after that.
    const GLuint both = make_program(kVertex, kOtherFragment);
    draw("linked", both);
    give(both, binary.format, binary.bytes);
    note_program("given a binary", both);
    draw("given a binary", both);
    gl.LinkProgram(both);
    draw("linked again", both);
    binary.bytes.resize(binary.bytes.size() / 2);
    give(both, binary.format, binary.bytes);
    note_program("given half a binary", both);
    gl.ProgramBinary(loaded, 0x1234, binary.bytes.data(), 8);
    note_errors("unknown format");
    gl.ProgramBinary(loaded, binary.format, binary.bytes.data(), -1);
    note_errors("negative size");
    GLsizei size = 0;
    gl.GetProgramBinary(program, 1, &size, &binary.format, binary.bytes.data());
    note_errors("too small a buffer");
    gl.LinkProgram(both);
    draw("linked at last", both);
}

// With a binary come the bindings and varyings of the program that it was taken from, and later
// links go by them. A program without a binary, whose calls are the same, has none.
void binary_with_bindings() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const GLuint bound = make_unlinked({vertex, fragment});
    gl.BindAttribLocation(bound, 5, "corner");
    const char *varying = "place";
    gl.TransformFeedbackVaryings(bound, 1, &varying, GL_SEPARATE_ATTRIBS);
    gl.LinkProgram(bound);
    const Binary binary = binary_of(bound);
    const GLuint given = make_unlinked({vertex, fragment});
    give(given, binary.format, binary.bytes);
    gl.LinkProgram(given);
    note_program("linked after the binary", given);
    note_program("linked without it", make_program({vertex, fragment}));
}

void parallel_compile() {
    const Context context(Api::es3);
    note("extension %d", has_extension("GL_KHR_parallel_shader_compile"));
    if (gl.MaxShaderCompilerThreadsKHR != nullptr) {
        gl.MaxShaderCompilerThreadsKHR(4);
        GLint threads = 0;
        gl.GetIntegerv(kMaxCompilerThreads, &threads);
        note("threads %d", threads);
    }
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const GLuint program = make_program({vertex, fragment});
    GLint done = GL_FALSE;
    while (done == GL_FALSE) {
        gl.GetShaderiv(vertex, kCompletionStatus, &done);
    }
    note("vertex shader done %d", done);
    done = GL_FALSE;
    while (done == GL_FALSE) {
        gl.GetProgramiv(program, kCompletionStatus, &done);
    }
    note("program done %d", done);
    gl.ReleaseShaderCompiler();
    draw("in parallel", program);
    note_errors("parallel");
}

}  // namespace client
