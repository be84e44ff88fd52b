// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "scene.h"

namespace client {
namespace {

struct Named {
    GLenum value;
    const char *name;
};

constexpr GLenum kCompletionStatus = 0x91B1;
constexpr GLenum kSpirvBinary = 0x9551;

// Some of these are errors in some contexts, which the transcript then shows.
constexpr std::array kShaderParameters = {
    Named{GL_SHADER_TYPE, "type"},
    Named{GL_DELETE_STATUS, "delete status"},
    Named{GL_COMPILE_STATUS, "compile status"},
    Named{GL_INFO_LOG_LENGTH, "log length"},
    Named{GL_SHADER_SOURCE_LENGTH, "source length"},
    Named{kCompletionStatus, "completion status"},
    Named{kSpirvBinary, "is SPIR-V"},
};

constexpr std::array kProgramParameters = {
    Named{GL_DELETE_STATUS, "delete status"},
    Named{GL_LINK_STATUS, "link status"},
    Named{GL_VALIDATE_STATUS, "validate status"},
    Named{GL_INFO_LOG_LENGTH, "log length"},
    Named{GL_ATTACHED_SHADERS, "attached shaders"},
    Named{GL_ACTIVE_ATTRIBUTES, "attributes"},
    Named{GL_ACTIVE_ATTRIBUTE_MAX_LENGTH, "attribute max length"},
    Named{GL_ACTIVE_UNIFORMS, "uniforms"},
    Named{GL_ACTIVE_UNIFORM_MAX_LENGTH, "uniform max length"},
    Named{GL_ACTIVE_UNIFORM_BLOCKS, "uniform blocks"},
    Named{GL_ACTIVE_UNIFORM_BLOCK_MAX_NAME_LENGTH, "uniform block max length"},
    Named{GL_ACTIVE_ATOMIC_COUNTER_BUFFERS, "atomic counter buffers"},
    Named{GL_TRANSFORM_FEEDBACK_BUFFER_MODE, "feedback mode"},
    Named{GL_PROGRAM_SEPARABLE, "separable"},
    Named{GL_PROGRAM_BINARY_RETRIEVABLE_HINT, "retrievable hint"},
    Named{GL_COMPUTE_WORK_GROUP_SIZE, "work group size"},
    Named{GL_GEOMETRY_VERTICES_OUT, "geometry vertices"},
    Named{GL_GEOMETRY_INPUT_TYPE, "geometry input"},
    Named{GL_GEOMETRY_OUTPUT_TYPE, "geometry output"},
    Named{GL_TESS_CONTROL_OUTPUT_VERTICES, "tessellation vertices"},
    Named{GL_TESS_GEN_MODE, "tessellation mode"},
    Named{kCompletionStatus, "completion status"},
};

constexpr std::array kInterfaces = {
    Named{GL_UNIFORM, "uniform"},
    Named{GL_UNIFORM_BLOCK, "uniform block"},
    Named{GL_PROGRAM_INPUT, "input"},
    Named{GL_PROGRAM_OUTPUT, "output"},
    Named{GL_BUFFER_VARIABLE, "buffer variable"},
    Named{GL_SHADER_STORAGE_BLOCK, "storage block"},
    Named{GL_TRANSFORM_FEEDBACK_VARYING, "feedback varying"},
};

void note_attributes(GLuint program) {
    GLint count = 0;
    gl.GetProgramiv(program, GL_ACTIVE_ATTRIBUTES, &count);
    for (GLint i = 0; i < count; ++i) {
        std::array<char, 256> name = {};
        GLint size = 0;
        GLenum type = 0;
        gl.GetActiveAttrib(program, static_cast<GLuint>(i), name.size(), nullptr, &size, &type,
                           name.data());
        note("  attribute %s: type %#x size %d location %d", name.data(), type, size,
             gl.GetAttribLocation(program, name.data()));
    }
}

void note_uniform_value(GLuint program, GLenum type, GLint location) {
    if (location < 0) {
        return;
    }
    std::array<float, 16> values = {};
    const bool is_integer = type == GL_INT || type == GL_SAMPLER_2D || type == GL_BOOL;
    if (is_integer) {
        GLint number = 0;
        gl.GetUniformiv(program, location, &number);
        note("    is %d", number);
        return;
    }
    gl.GetUniformfv(program, location, values.data());
    note("    is %g %g %g %g, %g %g %g %g", static_cast<double>(values[0]),
         static_cast<double>(values[1]), static_cast<double>(values[2]),
         static_cast<double>(values[3]), static_cast<double>(values[4]),
         static_cast<double>(values[5]), static_cast<double>(values[6]),
         static_cast<double>(values[7]));
}

void note_uniforms(GLuint program) {
    GLint count = 0;
    gl.GetProgramiv(program, GL_ACTIVE_UNIFORMS, &count);
    for (GLint i = 0; i < count; ++i) {
        std::array<char, 256> name = {};
        GLint size = 0;
        GLenum type = 0;
        const auto index = static_cast<GLuint>(i);
        gl.GetActiveUniform(program, index, name.size(), nullptr, &size, &type, name.data());
        const GLint location = gl.GetUniformLocation(program, name.data());
        GLint block = 0;
        GLint offset = 0;
        gl.GetActiveUniformsiv(program, 1, &index, GL_UNIFORM_BLOCK_INDEX, &block);
        gl.GetActiveUniformsiv(program, 1, &index, GL_UNIFORM_OFFSET, &offset);
        note("  uniform %s: type %#x size %d location %d block %d offset %d", name.data(), type,
             size, location, block, offset);
        note_uniform_value(program, type, location);
    }
}

void note_blocks(GLuint program) {
    GLint count = 0;
    gl.GetProgramiv(program, GL_ACTIVE_UNIFORM_BLOCKS, &count);
    for (GLuint i = 0; i < static_cast<GLuint>(count); ++i) {
        std::array<char, 256> name = {};
        gl.GetActiveUniformBlockName(program, i, name.size(), nullptr, name.data());
        GLint size = 0;
        GLint binding = 0;
        GLint members = 0;
        gl.GetActiveUniformBlockiv(program, i, GL_UNIFORM_BLOCK_DATA_SIZE, &size);
        gl.GetActiveUniformBlockiv(program, i, GL_UNIFORM_BLOCK_BINDING, &binding);
        gl.GetActiveUniformBlockiv(program, i, GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS, &members);
        note("  block %s: size %d binding %d members %d index %u", name.data(), size, binding,
             members, gl.GetUniformBlockIndex(program, name.data()));
    }
}

// Only of linked programs: Mesa 22.3 crashes when it is asked for these of others.
void note_feedback(GLuint program) {
    GLint linked = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked == GL_FALSE) {
        return;
    }
    GLint count = 0;
    GLint longest = 0;
    gl.GetProgramiv(program, GL_TRANSFORM_FEEDBACK_VARYINGS, &count);
    gl.GetProgramiv(program, GL_TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH, &longest);
    note("  feedback varyings: %d, longest %d", count, longest);
    for (GLuint i = 0; i < static_cast<GLuint>(count); ++i) {
        std::array<char, 256> name = {};
        GLsizei size = 0;
        GLenum type = 0;
        gl.GetTransformFeedbackVarying(program, i, name.size(), nullptr, &size, &type, name.data());
        note("  feedback %s: type %#x size %d", name.data(), type, size);
    }
}

void note_resources(GLuint program) {
    for (const Named &interface : kInterfaces) {
        GLint count = 0;
        gl.GetProgramInterfaceiv(program, interface.value, GL_ACTIVE_RESOURCES, &count);
        for (GLuint i = 0; i < static_cast<GLuint>(count); ++i) {
            std::array<char, 256> name = {};
            gl.GetProgramResourceName(program, interface.value, i, name.size(), nullptr,
                                      name.data());
            note("  %s %u: %s", interface.name, i, name.data());
        }
        note_errors(interface.name);
    }
}

bool has_resources() {
    GLint major = 0;
    GLint minor = 0;
    gl.GetIntegerv(GL_MAJOR_VERSION, &major);
    gl.GetIntegerv(GL_MINOR_VERSION, &minor);
    return 10 * major + minor >= (is_desktop() ? 43 : 31);
}

std::string one_line(std::string text) {
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
        text.replace(at, 1, "\\n");
    }
    return text;
}

}  // namespace

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::putchar('\n');
    std::fflush(stdout);
}

void note_errors(const char *where) {
    for (GLenum error = gl.GetError(); error != GL_NO_ERROR; error = gl.GetError()) {
        note("  error %#x: %s", error, where);
    }
}

std::string shader_log(GLuint shader) {
    std::array<char, 4096> text = {};
    GLsizei size = -1;
    gl.GetShaderInfoLog(shader, text.size(), &size, text.data());
    return std::to_string(size) + " " + one_line(text.data());
}

std::string program_log(GLuint program) {
    std::array<char, 4096> text = {};
    GLsizei size = -1;
    gl.GetProgramInfoLog(program, text.size(), &size, text.data());
    return std::to_string(size) + " " + one_line(text.data());
}

void note_shader(const char *title, GLuint shader) {
    note("shader %s: exists %d", title, gl.IsShader(shader));
    for (const Named &parameter : kShaderParameters) {
        GLint value = -77;
        gl.GetShaderiv(shader, parameter.value, &value);
        note("  %s: %d", parameter.name, value);
        note_errors(parameter.name);
    }
    note("  log: %s", shader_log(shader).c_str());
    std::array<char, 8> little = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
    gl.GetShaderInfoLog(shader, 4, nullptr, little.data());
    note("  log in 4 bytes: %.8s", little.data());
    std::array<char, 4096> source = {};
    gl.GetShaderSource(shader, source.size(), nullptr, source.data());
    note("  source: %s", one_line(source.data()).c_str());
    note_errors("shader");
}

void note_program(const char *title, GLuint program) {
    note("program %s: exists %d", title, gl.IsProgram(program));
    for (const Named &parameter : kProgramParameters) {
        std::array<GLint, 3> value = {-77, -77, -77};
        gl.GetProgramiv(program, parameter.value, value.data());
        note("  %s: %d %d %d", parameter.name, value[0], value[1], value[2]);
        note_errors(parameter.name);
    }
    note("  log: %s", program_log(program).c_str());
    note_attributes(program);
    note_uniforms(program);
    note_blocks(program);
    note_feedback(program);
    if (has_resources()) {
        note_resources(program);
    }
    std::array<GLuint, 8> shaders = {};
    GLsizei attached = 0;
    gl.GetAttachedShaders(program, shaders.size(), &attached, shaders.data());
    for (size_t i = 0; i < static_cast<size_t>(attached); ++i) {
        note("  attached: %u", shaders[i]);
    }
    note_errors("program");
}

void note_picture(const char *title) {
    std::vector<uint8_t> pixels(size_t{4} * kPictureSize * kPictureSize);
    gl.Finish();
    gl.ReadPixels(0, 0, kPictureSize, kPictureSize, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    uint64_t sum = 14695981039346656037u;
    for (const uint8_t byte : pixels) {
        sum = (sum ^ byte) * 1099511628211u;
    }
    const uint8_t *middle = &pixels[4 * (kPictureSize * kPictureSize / 2 + kPictureSize / 2)];
    note("picture %s: %016llx, in the middle %d %d %d %d", title,
         static_cast<unsigned long long>(sum), middle[0], middle[1], middle[2], middle[3]);
    note_errors("picture");
}

}  // namespace client
