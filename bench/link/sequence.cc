// SPDX-License-Identifier: MIT
#include "bench/link/sequence.h"

#include <time.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace bench {
namespace {

constexpr GLsizei kPictureSize = 16;
constexpr std::size_t kNameSize = 256;
constexpr std::array<const char *, 3> kAttributes = {"position", "normal", "uv"};

std::int64_t read_clock(clockid_t clock) {
    timespec time = {};
    ::clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void make_picture() {
    GLuint color = 0;
    GLuint framebuffer = 0;
    gl.GenRenderbuffers(1, &color);
    gl.BindRenderbuffer(GL_RENDERBUFFER, color);
    gl.RenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, kPictureSize, kPictureSize);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
    gl.Viewport(0, 0, kPictureSize, kPictureSize);
    gl.ClearColor(0.2f, 0.4f, 0.6f, 1.0f);
}

// A triangle for all attributes, and a block of uniforms.
void make_buffers() {
    constexpr std::array<float, 9> kCorners = {-0.9f, -0.8f, 0.3f, 0.9f, -0.7f,
                                               0.5f,  0.1f,  0.9f, 0.7f};
    constexpr std::array<float, 1024> kBlock = {0.6f, 0.3f, 0.8f, 0.5f};
    std::array<GLuint, 2> buffers = {};
    GLuint array = 0;
    gl.GenVertexArrays(1, &array);
    gl.BindVertexArray(array);
    gl.GenBuffers(2, buffers.data());
    gl.BindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    gl.BufferData(GL_ARRAY_BUFFER, sizeof kCorners, kCorners.data(), GL_STATIC_DRAW);
    for (GLuint index = 0; index < kAttributes.size(); ++index) {
        gl.VertexAttribPointer(index, 3, GL_FLOAT, GL_FALSE, 0, nullptr);
        gl.EnableVertexAttribArray(index);
    }
    gl.BindBuffer(GL_UNIFORM_BUFFER, buffers[1]);
    gl.BufferData(GL_UNIFORM_BUFFER, sizeof kBlock, kBlock.data(), GL_STATIC_DRAW);
    gl.BindBufferBase(GL_UNIFORM_BUFFER, 0, buffers[1]);
}

GLint shader_value(GLuint shader, GLenum what) {
    GLint value = -1;
    gl.GetShaderiv(shader, what, &value);
    return value;
}

GLint program_value(GLuint program, GLenum what) {
    GLint value = -1;
    gl.GetProgramiv(program, what, &value);
    return value;
}

void note_shader(GLuint shader, Answers &answers) {
    answers.note("compiled", shader_value(shader, GL_COMPILE_STATUS));
    const GLint length = shader_value(shader, GL_INFO_LOG_LENGTH);
    answers.note("shader log length", length);
    if (length > 1) {
        std::string log(static_cast<std::size_t>(length), '\0');
        GLsizei size = 0;
        gl.GetShaderInfoLog(shader, length, &size, log.data());
        answers.note("shader log", std::string_view(log).substr(0, static_cast<std::size_t>(size)));
    }
}

bool note_link(GLuint program, Answers &answers) {
    const bool linked = program_value(program, GL_LINK_STATUS) == GL_TRUE;
    answers.note("linked", linked ? 1 : 0);
    const GLint length = program_value(program, GL_INFO_LOG_LENGTH);
    answers.note("program log length", length);
    if (length > 1) {
        std::string log(static_cast<std::size_t>(length), '\0');
        GLsizei size = 0;
        gl.GetProgramInfoLog(program, length, &size, log.data());
        answers.note("program log",
                     std::string_view(log).substr(0, static_cast<std::size_t>(size)));
    }
    return linked;
}

// An FNV-1a hash.
std::int64_t hash_of(const unsigned char *bytes, std::size_t size) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return static_cast<std::int64_t>(hash);
}

// What an engine does not ask, but a debugger might: not timed.
void note_source(GLuint shader, Answers &answers) {
    const GLint length = shader_value(shader, GL_SHADER_SOURCE_LENGTH);
    answers.note("source length", length);
    if (length <= 0) return;
    std::string source(static_cast<std::size_t>(length), '\0');
    gl.GetShaderSource(shader, length, nullptr, source.data());
    answers.note("source",
                 hash_of(reinterpret_cast<const unsigned char *>(source.data()), source.size()));
}

void note_uniforms(GLuint program, Answers &answers) {
    const GLint count = program_value(program, GL_ACTIVE_UNIFORMS);
    answers.note("uniforms", count);
    std::array<char, kNameSize> name = {};
    for (GLint i = 0; i < count; ++i) {
        GLint size = 0;
        GLenum type = 0;
        gl.GetActiveUniform(program, static_cast<GLuint>(i), kNameSize, nullptr, &size, &type,
                            name.data());
        answers.note("uniform", std::string_view(name.data()));
        answers.note("type", type);
        answers.note("size", size);
        answers.note("location", gl.GetUniformLocation(program, name.data()));
    }
}

void note_attributes(GLuint program, Answers &answers) {
    const GLint count = program_value(program, GL_ACTIVE_ATTRIBUTES);
    answers.note("attributes", count);
    std::array<char, kNameSize> name = {};
    for (GLint i = 0; i < count; ++i) {
        GLint size = 0;
        GLenum type = 0;
        gl.GetActiveAttrib(program, static_cast<GLuint>(i), kNameSize, nullptr, &size, &type,
                           name.data());
        answers.note("attribute", std::string_view(name.data()));
        answers.note("type", type);
        answers.note("size", size);
        answers.note("location", gl.GetAttribLocation(program, name.data()));
    }
}

void note_blocks(GLuint program, Answers &answers) {
    const GLint count = program_value(program, GL_ACTIVE_UNIFORM_BLOCKS);
    answers.note("blocks", count);
    std::array<char, kNameSize> name = {};
    for (GLint i = 0; i < count; ++i) {
        GLint size = 0;
        gl.GetActiveUniformBlockName(program, static_cast<GLuint>(i), kNameSize, nullptr,
                                     name.data());
        gl.GetActiveUniformBlockiv(program, static_cast<GLuint>(i), GL_UNIFORM_BLOCK_DATA_SIZE,
                                   &size);
        answers.note("block", std::string_view(name.data()));
        answers.note("size", size);
        answers.note("index", gl.GetUniformBlockIndex(program, name.data()));
    }
}

void note_binaries(const std::vector<GLuint> &programs, std::vector<Binary> &binaries) {
    for (const GLuint program : programs) {
        const GLint length = program_value(program, GL_PROGRAM_BINARY_LENGTH);
        Binary binary = {0, std::string(static_cast<std::size_t>(std::max(length, 0)), '\0')};
        gl.GetProgramBinary(program, length, nullptr, &binary.format, binary.bytes.data());
        binaries.push_back(std::move(binary));
    }
}

// How long it takes to ask the thread's clock, which is a system call: the least of many times.
std::int64_t cost_of_clock() {
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
        least = std::min(least, read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
    }
    return least;
}

}  // namespace

// Gives the time since the last call of lap() to a phase, without the time that the clock takes: the
// sequence from sources has three times as many phases as the one from binaries.
class Player::Clock {
  public:
    explicit Clock(Spent &spent) : spent_(spent) { restart(); }  // once own_ns_ is known
    void restart() {
        wall_ns_ = read_clock(CLOCK_MONOTONIC);
        cpu_ns_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
    }
    void lap(Phase phase) {
        const std::int64_t cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
        const auto index = static_cast<std::size_t>(phase);
        spent_.cpu_ns[index] += std::max<std::int64_t>(cpu_ns - cpu_ns_ - own_ns_, 0);
        spent_.wall_ns[index] += read_clock(CLOCK_MONOTONIC) - wall_ns_;
        restart();
    }

  private:
    static std::int64_t own_ns() {
        static const std::int64_t ns = cost_of_clock();
        return ns;
    }

    Spent &spent_;
    const std::int64_t own_ns_ = own_ns();
    std::int64_t cpu_ns_ = 0;
    std::int64_t wall_ns_ = 0;
};

// GL's names of what belongs to one program of a family.
struct Player::Made {
    std::vector<GLuint> shaders;
    std::vector<GLuint> programs;
    bool linked = true;
};

Player::Player(Way way, const Extras &extras) : way_(way), extras_(extras) {
    make_picture();
    make_buffers();
}

Played Player::play(const Program &program) {
    Played played;
    Clock clock(played.spent);
    const Made made = way_ == Way::separable ? make_separable(program, clock, played.built)
                                             : make_linked(program, clock, played.built);
    finish(made, clock, played);
    for (const GLuint shader : made.shaders) note_source(shader, played.built);
    if (extras_.ask_binaries && made.linked) {
        clock.restart();
        note_binaries(made.programs, played.binaries);
        clock.lap(Phase::binary);
    }
    for (const GLuint shader : made.shaders) gl.DeleteShader(shader);
    for (const GLuint name : made.programs) gl.DeleteProgram(name);
    played.reflected.note("error at the end", gl.GetError());
    return played;
}

Played Player::load(const std::vector<Binary> &binaries) {
    Played played;
    Made made;
    Clock clock(played.spent);
    for (const Binary &binary : binaries) {
        made.programs.push_back(gl.CreateProgram());
        if (way_ == Way::separable) {
            gl.ProgramParameteri(made.programs.back(), GL_PROGRAM_SEPARABLE, GL_TRUE);
        }
        clock.lap(Phase::attach);
        gl.ProgramBinary(made.programs.back(), binary.format, binary.bytes.data(),
                         static_cast<GLsizei>(binary.bytes.size()));
        clock.lap(Phase::link);
        made.linked = note_link(made.programs.back(), played.built) && made.linked;
        clock.lap(Phase::link_status);
    }
    finish(made, clock, played);
    for (const GLuint name : made.programs) gl.DeleteProgram(name);
    played.reflected.note("error at the end", gl.GetError());
    return played;
}

Player::Made Player::make_linked(const Program &program, Clock &clock, Answers &answers) {
    Made made;
    const std::array<std::pair<GLenum, const std::string *>, 2> stages = {
        {{GL_VERTEX_SHADER, &program.vertex}, {GL_FRAGMENT_SHADER, &program.fragment}}};
    for (const auto &[type, source] : stages) {
        const GLuint shader = gl.CreateShader(type);
        const char *code = source->c_str();
        gl.ShaderSource(shader, 1, &code, nullptr);
        clock.lap(Phase::source);
        gl.CompileShader(shader);
        clock.lap(Phase::compile);
        note_shader(shader, answers);
        clock.lap(Phase::shader_status);
        made.shaders.push_back(shader);
    }
    const GLuint name = gl.CreateProgram();
    for (const GLuint shader : made.shaders) gl.AttachShader(name, shader);
    for (GLuint index = 0; index < kAttributes.size(); ++index) {
        gl.BindAttribLocation(name, index, kAttributes[index]);
    }
    clock.lap(Phase::attach);
    gl.LinkProgram(name);
    clock.lap(Phase::link);
    made.linked = note_link(name, answers);
    clock.lap(Phase::link_status);
    made.programs.push_back(name);
    return made;
}

Player::Made Player::make_separable(const Program &program, Clock &clock, Answers &answers) {
    Made made;
    const std::array<std::pair<GLenum, const std::string *>, 2> stages = {
        {{GL_VERTEX_SHADER, &program.vertex}, {GL_FRAGMENT_SHADER, &program.fragment}}};
    for (const auto &[type, source] : stages) {
        const char *code = source->c_str();
        made.programs.push_back(gl.CreateShaderProgramv(type, 1, &code));
        clock.lap(Phase::link);
        made.linked = note_link(made.programs.back(), answers) && made.linked;
        clock.lap(Phase::link_status);
    }
    return made;
}

void Player::finish(const Made &made, Clock &clock, Played &played) {
    played.linked = made.linked;
    for (const GLuint name : made.programs) reflect(name, played.reflected);
    played.reflected.note("error", gl.GetError());
    clock.lap(Phase::reflection);
    if (!extras_.draw) return;
    draw(made, played.drawn);
    clock.lap(Phase::draw);
}

void Player::reflect(GLuint program, Answers &answers) {
    note_uniforms(program, answers);
    note_attributes(program, answers);
    if (way_ == Way::arb) return;
    note_blocks(program, answers);
    for (const int interface : {GL_UNIFORM, GL_PROGRAM_INPUT, GL_PROGRAM_OUTPUT}) {
        reflect_interface(program, static_cast<GLenum>(interface), answers);
    }
}

void Player::reflect_interface(GLuint program, GLenum interface, Answers &answers) {
    constexpr std::array<GLenum, 3> kProperties = {GL_TYPE, GL_ARRAY_SIZE, GL_LOCATION};
    GLint count = 0;
    gl.GetProgramInterfaceiv(program, interface, GL_ACTIVE_RESOURCES, &count);
    answers.note("resources", count);
    for (GLuint i = 0; i < static_cast<GLuint>(count); ++i) {
        std::array<char, kNameSize> name = {};
        std::array<GLint, kProperties.size()> values = {};
        gl.GetProgramResourceName(program, interface, i, kNameSize, nullptr, name.data());
        gl.GetProgramResourceiv(program, interface, i, kProperties.size(), kProperties.data(),
                                values.size(), nullptr, values.data());
        answers.note("resource", std::string_view(name.data()));
        for (const GLint value : values) answers.note("property", value);
    }
}

// Of the program that is in use, or active in the pipeline.
void Player::set_uniforms(GLuint program) {
    constexpr std::array<GLfloat, 16> kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const GLint count = program_value(program, GL_ACTIVE_UNIFORMS);
    for (GLint i = 0; i < count; ++i) {
        std::array<char, kNameSize> name = {};
        GLint size = 0;
        GLenum type = 0;
        gl.GetActiveUniform(program, static_cast<GLuint>(i), kNameSize, nullptr, &size, &type,
                            name.data());
        const GLint location = gl.GetUniformLocation(program, name.data());
        if (location < 0) continue;
        if (type == GL_FLOAT) gl.Uniform1f(location, 0.7f);
        if (type == GL_FLOAT_VEC2) gl.Uniform2f(location, 16.0f, 16.0f);
        if (type == GL_FLOAT_VEC3) gl.Uniform3f(location, 0.4f, 0.6f, 0.9f);
        if (type == GL_FLOAT_VEC4) gl.Uniform4f(location, 0.3f, 0.9f, 0.5f, 0.8f);
        if (type == GL_FLOAT_MAT4) gl.UniformMatrix4fv(location, 1, GL_FALSE, kIdentity.data());
    }
}

void Player::draw(const Made &made, Answers &answers) {
    GLuint pipeline = 0;
    if (way_ == Way::separable) {
        gl.GenProgramPipelines(1, &pipeline);
        gl.UseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, made.programs[0]);
        gl.UseProgramStages(pipeline, GL_FRAGMENT_SHADER_BIT, made.programs[1]);
        gl.BindProgramPipeline(pipeline);
        for (const GLuint program : made.programs) {
            gl.ActiveShaderProgram(pipeline, program);
            set_uniforms(program);
        }
    } else {
        gl.UseProgram(made.programs[0]);
        if (made.linked) set_uniforms(made.programs[0]);
    }
    std::array<unsigned char, kPictureSize *kPictureSize * 4> pixels = {};
    gl.Clear(GL_COLOR_BUFFER_BIT);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.ReadPixels(0, 0, kPictureSize, kPictureSize, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    answers.note("pixels", hash_of(pixels.data(), pixels.size()));
    answers.note("error", gl.GetError());
    gl.UseProgram(0);
    if (pipeline != 0) gl.DeleteProgramPipelines(1, &pipeline);
}

}  // namespace bench
