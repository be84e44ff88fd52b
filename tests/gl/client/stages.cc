// SPDX-License-Identifier: MIT
// Programs of other kinds than a vertex and a fragment shader.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr const char *kFed = R"(#version 300 es
in vec2 corner;
out vec2 place;
out vec4 wide;
flat out int whole;
void main() {
    place = corner * 2.0;
    wide = vec4(corner, 3.0, 4.0);
    whole = gl_VertexID + 5;
    gl_Position = vec4(corner, 0.0, 1.0);
}
)";

GLuint make_feedback_program(std::initializer_list<const char *> varyings, GLenum mode) {
    const GLuint program = make_unlinked(
        {make_shader(GL_VERTEX_SHADER, kFed), make_shader(GL_FRAGMENT_SHADER, kPlainFragment)});
    gl.TransformFeedbackVaryings(program, static_cast<GLsizei>(varyings.size()), varyings.begin(),
                                 mode);
    gl.LinkProgram(program);
    return program;
}

// An array of one name, at the end of the memory that can be read.
class OneName {
  public:
    explicit OneName(const char *name) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
        memory_ = static_cast<char *>(
            mmap(nullptr, 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (memory_ == MAP_FAILED || mprotect(memory_, page_, PROT_READ | PROT_WRITE) != 0) {
            std::abort();
        }
        std::memcpy(memory_ + page_ - sizeof name, &name, sizeof name);
    }
    ~OneName() { munmap(memory_, 2 * page_); }
    OneName(const OneName &) = delete;
    OneName &operator=(const OneName &) = delete;

    const char *const *array() const {
        return reinterpret_cast<const char *const *>(memory_ + page_ - sizeof(char *));
    }

  private:
    size_t page_;
    char *memory_;
};

GLuint make_feedback_buffer(GLuint index) {
    GLuint buffer = 0;
    gl.GenBuffers(1, &buffer);
    gl.BindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, index, buffer);
    // Not all of it is written.
    const std::array<char, 256> zeros = {};
    gl.BufferData(GL_TRANSFORM_FEEDBACK_BUFFER, zeros.size(), zeros.data(), GL_STATIC_READ);
    return buffer;
}

void note_buffer(const char *title, GLenum target, GLuint buffer) {
    gl.BindBuffer(target, buffer);
    const auto *numbers =
        static_cast<const float *>(gl.MapBufferRange(target, 0, 64, GL_MAP_READ_BIT));
    for (int i = 0; numbers != nullptr && i < 16; i += 4) {
        note("  %s %d: %g %g %g %g", title, i, static_cast<double>(numbers[i]),
             static_cast<double>(numbers[i + 1]), static_cast<double>(numbers[i + 2]),
             static_cast<double>(numbers[i + 3]));
    }
    gl.UnmapBuffer(target);
    note_errors(title);
}

void capture(const char *title, GLuint program) {
    const GLuint first = make_feedback_buffer(0);
    const GLuint second = make_feedback_buffer(1);
    gl.UseProgram(program);
    gl.BeginTransformFeedback(GL_TRIANGLES);
    draw_current(title);
    gl.EndTransformFeedback();
    note_buffer("first", GL_TRANSFORM_FEEDBACK_BUFFER, first);
    note_buffer("second", GL_TRANSFORM_FEEDBACK_BUFFER, second);
}

constexpr const char *kSeparableVertex = R"(#version 310 es
precision highp float;
layout(location = 0) in vec2 corner;
layout(location = 1) out vec2 place;
uniform float scale;
void main() { place = corner; gl_Position = vec4(corner * (1.0 - scale), 0.0, 1.0); }
)";
constexpr const char *kSeparableFragment = R"(#version 310 es
precision highp float;
layout(location = 1) in vec2 place;
layout(location = 0) out vec4 color;
uniform vec4 tint;
void main() { color = vec4(place * 0.5 + 0.5, 0.25, 1.0) + tint; }
)";

GLuint make_separable(GLenum type, const char *source) {
    const GLuint program = make_unlinked({make_shader(type, source)});
    gl.ProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
    gl.LinkProgram(program);
    return program;
}

void draw_pipeline(GLuint vertex, GLuint fragment) {
    GLuint pipeline = 0;
    gl.GenProgramPipelines(1, &pipeline);
    gl.UseProgram(0);
    gl.BindProgramPipeline(pipeline);
    gl.UseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, vertex);
    gl.UseProgramStages(pipeline, GL_FRAGMENT_SHADER_BIT, fragment);
    draw_current("pipeline");
    gl.ProgramUniform4f(fragment, gl.GetUniformLocation(fragment, "tint"), 0.5f, 0.0f, 0.5f, 0.0f);
    draw_current("tinted pipeline");
    // In use by a pipeline while it is linked again.
    gl.LinkProgram(fragment);
    draw_current("linked in the pipeline");
    note_program("linked in the pipeline", fragment);
    gl.BindProgramPipeline(0);
    gl.LinkProgram(vertex);
    gl.BindProgramPipeline(pipeline);
    draw_current("linked outside of the pipeline");
    note_errors("pipeline");
}

}  // namespace

void transform_feedback() {
    const Context context(Api::es3);
    const GLuint both = make_feedback_program({"place", "wide"}, GL_INTERLEAVED_ATTRIBS);
    const GLuint other = make_feedback_program({"wide", "place"}, GL_INTERLEAVED_ATTRIBS);
    const GLuint apart = make_feedback_program({"place", "whole"}, GL_SEPARATE_ATTRIBS);
    const GLuint none = make_feedback_program({}, GL_INTERLEAVED_ATTRIBS);
    const GLuint wrong = make_feedback_program({"nowhere"}, GL_INTERLEAVED_ATTRIBS);
    for (const GLuint program : {both, other, apart, none, wrong}) {
        note_program("feedback", program);
    }
    capture("both", both);
    capture("other", other);
    capture("apart", apart);
}

// The driver refuses these calls without a look at the names, of which there is only one.
void refused_varyings() {
    const Context context(Api::es3);
    const OneName name("place");
    const GLuint program = make_feedback_program({"wide"}, GL_INTERLEAVED_ATTRIBS);
    GLint limit = 0;
    gl.GetIntegerv(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, &limit);
    gl.TransformFeedbackVaryings(program, limit + 1, name.array(), GL_SEPARATE_ATTRIBS);
    note_errors("too many");
    gl.TransformFeedbackVaryings(program, 3, name.array(), GL_TRIANGLES);
    note_errors("no such mode");
    gl.TransformFeedbackVaryings(program, -1, name.array(), GL_INTERLEAVED_ATTRIBS);
    note_errors("fewer than none");
    gl.TransformFeedbackVaryings(0, 3, name.array(), GL_INTERLEAVED_ATTRIBS);
    note_errors("no program");
    gl.LinkProgram(program);
    note_program("as before", program);
    gl.TransformFeedbackVaryings(program, 1, name.array(), GL_SEPARATE_ATTRIBS);
    gl.LinkProgram(program);
    note_program("one", program);
}

void feedback_relink() {
    const Context context(Api::es3);
    const GLuint program = make_feedback_program({"place"}, GL_INTERLEAVED_ATTRIBS);
    make_feedback_buffer(0);
    gl.UseProgram(program);
    gl.BeginTransformFeedback(GL_TRIANGLES);
    gl.LinkProgram(program);
    note_errors("linked while it feeds back");
    const char *varying = "wide";
    gl.TransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
    note_errors("varyings while it feeds back");
    gl.EndTransformFeedback();
    gl.LinkProgram(program);
    note_program("linked after it", program);
    gl.TransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
    gl.LinkProgram(program);
    note_program("linked with other varyings", program);
}

void separable() {
    const Context context(Api::es3);
    const GLuint vertex = make_separable(GL_VERTEX_SHADER, kSeparableVertex);
    const GLuint fragment = make_separable(GL_FRAGMENT_SHADER, kSeparableFragment);
    note_program("vertex", vertex);
    note_program("fragment", fragment);
    draw_pipeline(vertex, fragment);
}

void shader_programs() {
    const Context context(Api::es3);
    const GLuint vertex = gl.CreateShaderProgramv(GL_VERTEX_SHADER, 1, &kSeparableVertex);
    const std::array<const char *, 2> parts = {"#version 310 es\n", kSeparableFragment + 16};
    const GLuint fragment = gl.CreateShaderProgramv(GL_FRAGMENT_SHADER, 2, parts.data());
    note("names %u %u", vertex, fragment);
    note_program("vertex", vertex);
    note_program("fragment", fragment);
    draw_pipeline(vertex, fragment);
    const char *wrong = "not a shader";
    const GLuint broken = gl.CreateShaderProgramv(GL_VERTEX_SHADER, 1, &wrong);
    note_program("broken", broken);
    note("refused %u", gl.CreateShaderProgramv(GL_RGBA, 1, &kSeparableVertex));
    note_errors("no type");
    note("refused %u", gl.CreateShaderProgramv(GL_VERTEX_SHADER, -1, &kSeparableVertex));
    note_errors("no count");
    gl.DeleteProgram(vertex);
    const GLuint again = gl.CreateShaderProgramv(GL_VERTEX_SHADER, 1, &kSeparableVertex);
    note("named %u", again);
    note_program("again", again);
}

void compute() {
    const Context context(Api::es3);
    const GLuint program = make_program({make_shader(GL_COMPUTE_SHADER, R"(#version 310 es
layout(local_size_x = 4, local_size_y = 2) in;
layout(std430, binding = 1) buffer Results { float results[]; };
uniform float factor;
void main() { results[gl_LocalInvocationIndex] = float(gl_LocalInvocationIndex) * factor + 1.0; }
)")});
    note_program("compute", program);
    GLuint buffer = 0;
    gl.GenBuffers(1, &buffer);
    gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, buffer);
    gl.BufferData(GL_SHADER_STORAGE_BUFFER, 64, nullptr, GL_DYNAMIC_READ);
    gl.UseProgram(program);
    gl.Uniform1f(gl.GetUniformLocation(program, "factor"), 2.5f);
    gl.DispatchCompute(1, 1, 1);
    gl.MemoryBarrier(GL_ALL_BARRIER_BITS);
    gl.BindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
    const auto *results = static_cast<const float *>(
        gl.MapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, 32, GL_MAP_READ_BIT));
    for (int i = 0; results != nullptr && i < 8; ++i) {
        note("  result %d: %g", i, static_cast<double>(results[i]));
    }
    gl.UnmapBuffer(GL_SHADER_STORAGE_BUFFER);
    note_errors("compute");
}

void geometry() {
    const Context context(Api::es3);
    const GLuint program = make_program({make_shader(GL_VERTEX_SHADER, R"(#version 320 es
in vec2 corner;
out vec2 from_vertex;
void main() { from_vertex = corner; gl_Position = vec4(corner, 0.0, 1.0); }
)"),
                                         make_shader(GL_GEOMETRY_SHADER, R"(#version 320 es
layout(triangles) in;
layout(triangle_strip, max_vertices = 6) out;
in vec2 from_vertex[];
out vec2 place;
void main() {
    for (int i = 0; i < 3; ++i) {
        place = from_vertex[i];
        gl_Position = gl_in[i].gl_Position * vec4(-1.0, 1.0, 1.0, 1.0);
        EmitVertex();
    }
    EndPrimitive();
}
)"),
                                         make_shader(GL_FRAGMENT_SHADER, R"(#version 320 es
precision highp float;
in vec2 place;
out vec4 color;
void main() { color = vec4(place * 0.5 + 0.5, 0.75, 1.0); }
)")});
    note_program("geometry", program);
    draw("geometry", program);
}

void tessellation() {
    const Context context(Api::es3);
    const GLuint program = make_program({make_shader(GL_VERTEX_SHADER, R"(#version 320 es
in vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); }
)"),
                                         make_shader(GL_TESS_CONTROL_SHADER, R"(#version 320 es
layout(vertices = 3) out;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0;
    gl_TessLevelInner[0] = 3.0;
}
)"),
                                         make_shader(GL_TESS_EVALUATION_SHADER, R"(#version 320 es
layout(triangles, equal_spacing, ccw) in;
out vec3 place;
void main() {
    place = gl_TessCoord;
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position +
                  gl_TessCoord.z * gl_in[2].gl_Position;
}
)"),
                                         make_shader(GL_FRAGMENT_SHADER, R"(#version 320 es
precision highp float;
in vec3 place;
out vec4 color;
void main() { color = vec4(place, 1.0); }
)")});
    note_program("tessellation", program);
    gl.UseProgram(program);
    gl.PatchParameteri(GL_PATCH_VERTICES, 3);
    gl.Clear(GL_COLOR_BUFFER_BIT);
    gl.DrawArrays(GL_PATCHES, 0, 3);
    note_picture("tessellation");
}

}  // namespace client
