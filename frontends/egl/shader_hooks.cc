// SPDX-License-Identifier: MIT
// The hooks for shader objects.
#include "counters.h"
#include "gl_hooks.h"

namespace cairn::egl {

bool answer_parameter(const ShaderRef &shader, Real<PFNGLGETSHADERIVPROC> &query, GLenum name,
                      GLint *value) {
    if (shader == nullptr || value == nullptr) {
        return false;
    }
    const MutexLock lock(shader->mutex);
    if (shader->state != Shader::State::deferred) {
        return false;
    }
    switch (name) {
        case GL_COMPILE_STATUS:
            *value = GL_TRUE;
            return true;
        case GL_INFO_LOG_LENGTH:
            *value = shader->report.log_length;
            return true;
        case GL_COMPLETION_STATUS_KHR: {
            // There is nothing to wait for; but a driver without the extension reports an error,
            // and gives no value.
            GLint answer = -1;
            query(shader->name, name, &answer);
            *value = answer == -1 ? *value : GL_TRUE;
            return true;
        }
        default:
            return false;
    }
}

namespace hooks {

GLuint create_shader(Real<PFNGLCREATESHADERPROC> &real, GLenum type) {
    const Context *context = current_context();
    const GLuint name = real(type);
    if (context != nullptr && name != 0) {
        context->group->add_shader(context->gl(), name, type);
    }
    return name;
}

void delete_shader(Real<PFNGLDELETESHADERPROC> &real, GLuint name) {
    const Context *context = current_context();
    real(name);
    if (context != nullptr) {
        context->group->shader_deleted(context->gl(), name);
    }
}

void compile_shader(Real<PFNGLCOMPILESHADERPROC> &real, GLuint name) {
    const Stopwatch time(&RunReport::compile_ns);
    count(&RunReport::compile_calls);
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        compile_shader(*context, *shader, real);
        return;
    }
    real(name);
    count(&RunReport::driver_compiles);
}

// Compiles from named strings that are not part of the source.
void compile_shader_include(Real<PFNGLCOMPILESHADERINCLUDEARBPROC> &real, GLuint name,
                            GLsizei paths, const GLchar *const *path, const GLint *length) {
    const Stopwatch time(&RunReport::compile_ns);
    count(&RunReport::compile_calls);
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        hand_over(*context, *shader);
    }
    real(name, paths, path, length);
    count(&RunReport::driver_compiles);
}

// From now on a source may include what was named here.
void named_string(Real<PFNGLNAMEDSTRINGARBPROC> &real, GLenum type, GLint name_size,
                  const GLchar *name, GLint size, const GLchar *text) {
    if (const Context *context = current_context()) {
        context->group->has_named_strings.store(true);
    }
    real(type, name_size, name, size, text);
}

void shader_binary(Real<PFNGLSHADERBINARYPROC> &real, GLsizei names, const GLuint *shaders,
                   GLenum format, const void *binary, GLsizei size) {
    Context *context = current_context();
    for (GLsizei i = 0; shaders != nullptr && i < names; ++i) {
        if (const ShaderRef shader = find_shader(context, shaders[i])) {
            hand_over(*context, *shader);
            const MutexLock lock(shader->mutex);
            shader->is_binary = true;
        }
    }
    real(names, shaders, format, binary, size);
}

void specialize_shader(Real<PFNGLSPECIALIZESHADERPROC> &real, GLuint name, const GLchar *entry,
                       GLuint constants, const GLuint *index, const GLuint *value) {
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        hand_over(*context, *shader);
    }
    real(name, entry, constants, index, value);
}

void get_shader_iv(Real<PFNGLGETSHADERIVPROC> &real, GLuint name, GLenum parameter, GLint *value) {
    // A driver that compiles on threads of its own lets these wait.
    const Stopwatch time(&RunReport::compile_ns);
    if (!answer_parameter(find_shader(current_context(), name), real, parameter, value)) {
        real(name, parameter, value);
    }
}

void get_shader_info_log(Real<PFNGLGETSHADERINFOLOGPROC> &real, GLuint name, GLsizei capacity,
                         GLsizei *size, GLchar *log) {
    const Stopwatch time(&RunReport::compile_ns);
    if (!answer_info_log(find_shader(current_context(), name), capacity, size, log)) {
        real(name, capacity, size, log);
    }
}

void get_translated_source(Real<PFNGLGETSHADERSOURCEPROC> &real, GLuint name, GLsizei capacity,
                           GLsizei *size, GLchar *source) {
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        force_compile(*context, *shader);
    }
    real(name, capacity, size, source);
}

}  // namespace hooks
}  // namespace cairn::egl
