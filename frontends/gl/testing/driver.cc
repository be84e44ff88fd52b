// SPDX-License-Identifier: MIT
#include "gl/testing/driver.h"

#include <algorithm>

namespace cairn::gl::testing {

thread_local FakeDriver t_driver;

namespace {

constexpr GLint kFormat = 0x1234;

const GLubyte *get_string(GLenum name) {
    const char *text = name == GL_VERSION ? "OpenGL ES 3.0 fake" : "fake";
    return reinterpret_cast<const GLubyte *>(text);
}

void get_integer(GLenum name, GLint *value) {
    switch (name) {
        case GL_NUM_PROGRAM_BINARY_FORMATS:
            *value = 1;
            break;
        case GL_PROGRAM_BINARY_FORMATS:
            *value = kFormat;
            break;
        default:
            *value = 0;
    }
}

void get_program(GLuint program, GLenum name, GLint *value) {
    const auto linked = t_driver.linked.find(program);
    const bool is_linked = linked != t_driver.linked.end();
    switch (name) {
        case GL_ATTACHED_SHADERS:
            *value = static_cast<GLint>(t_driver.attached[program].size());
            break;
        case GL_LINK_STATUS:
            *value = is_linked ? GL_TRUE : GL_FALSE;
            break;
        case GL_PROGRAM_BINARY_LENGTH:
            *value = is_linked ? static_cast<GLint>(linked->second.size() + 4) : 0;
            break;
        default:
            *value = 0;
    }
}

void get_shader(GLuint shader, GLenum name, GLint *value) {
    *value = name == GL_COMPILE_STATUS ? GL_TRUE
             : name == GL_SHADER_SOURCE_LENGTH
                 ? static_cast<GLint>(t_driver.sources[shader].size() + 1)
                 : 0;
}

void get_shader_source(GLuint shader, GLsizei capacity, GLsizei *size, GLchar *source) {
    const std::string &text = t_driver.sources[shader];
    *size = static_cast<GLsizei>(text.copy(source, static_cast<size_t>(capacity) - 1));
    source[*size] = '\0';
}

void set_shader_source(GLuint shader, GLsizei count, const GLchar *const *strings,
                       const GLint *sizes) {
    if (t_driver.refuses_sources || count < 0 || strings == nullptr) return;
    std::string &text = t_driver.sources[shader];
    text.clear();
    t_driver.divided[shader] = count;
    for (GLsizei i = 0; i < count; ++i) {
        const bool is_sized = sizes != nullptr && sizes[i] >= 0;
        text += is_sized ? std::string(strings[i], static_cast<size_t>(sizes[i])) : strings[i];
    }
}

void get_attached_shaders(GLuint program, GLsizei capacity, GLsizei *count, GLuint *shaders) {
    const std::vector<GLuint> &all = t_driver.attached[program];
    *count = std::min(capacity, static_cast<GLsizei>(all.size()));
    std::copy_n(all.begin(), *count, shaders);
}

void link_program_of_driver(GLuint program) {
    std::string all;
    t_driver.linked.erase(program);
    for (const GLuint shader : t_driver.attached[program]) {
        if (!t_driver.compiled[shader]) return;
        all += t_driver.sources[shader];
    }
    t_driver.linked[program] = all;
}

void get_program_binary(GLuint program, GLsizei capacity, GLsizei *size, GLenum *format,
                        void *binary) {
    const std::string all = "BIN:" + t_driver.linked[program];
    *size = static_cast<GLsizei>(all.copy(static_cast<char *>(binary), size_t(capacity)));
    *format = kFormat;
}

void program_binary_of_driver(GLuint program, GLenum, const void *binary, GLsizei size) {
    const std::string all(static_cast<const char *>(binary), static_cast<size_t>(size));
    t_driver.linked.erase(program);
    if (all.starts_with("BIN:")) {
        t_driver.linked[program] = all.substr(4);
    }
}

uintptr_t nothing() {
    return 0;
}

}  // namespace

void fill(GlFunctions &gl) {
    auto *const does_nothing = reinterpret_cast<void *>(&nothing);
#define X(name, type, ...) gl.name = reinterpret_cast<type>(does_nothing);
    GL_FUNCTIONS(X, X)
#undef X
    gl.CompileShader = [](GLuint shader) { t_driver.compiled[shader] = true; };
    gl.CreateProgram = []() -> GLuint { return ++t_driver.last_name; };
    gl.CreateShader = [](GLenum) -> GLuint { return ++t_driver.last_name; };
    gl.GetAttachedShaders = get_attached_shaders;
    gl.GetIntegerv = get_integer;
    gl.GetProgramBinary = get_program_binary;
    gl.GetProgramiv = get_program;
    gl.GetShaderSource = get_shader_source;
    gl.GetShaderiv = get_shader;
    gl.GetString = get_string;
    gl.LinkProgram = link_program_of_driver;
    gl.ProgramBinary = program_binary_of_driver;
    gl.ShaderSource = set_shader_source;
}

std::string link_anew(const std::string &source) {
    const GLuint shader = hook<PFNGLCREATESHADERPROC>("glCreateShader")(GL_VERTEX_SHADER);
    const GLuint program = hook<PFNGLCREATEPROGRAMPROC>("glCreateProgram")();
    const char *text = source.c_str();
    hook<PFNGLSHADERSOURCEPROC>("glShaderSource")(shader, 1, &text, nullptr);
    hook<PFNGLCOMPILESHADERPROC>("glCompileShader")(shader);
    t_driver.attached[program] = {shader};
    hook<PFNGLLINKPROGRAMPROC>("glLinkProgram")(program);
    return t_driver.linked[program];
}

}  // namespace cairn::gl::testing
