// The hooks for shader objects. Each is a template over the vendor's function that it stands in
// front of, so that the names of one function (core, ARB, EXT) share a hook and still call their
// own.
// SPDX-License-Identifier: MIT
//
// Every hook passes a call through when no context is current or the object is not tracked.
#pragma once

#include "context.h"
#include "counters.h"
#include "shader.h"

namespace cairn::egl {

inline ShaderRef find_shader(Context *context, GLuint name) {
    return context == nullptr ? nullptr : context->group->shader(context->gl(), name);
}

// glGetShaderiv and its like, glGetShaderInfoLog and its like: answers what a deferred shader's
// driver would not know. False when the driver's answer, which `query` gets, is right.
bool answer_parameter(Shader &shader, void (*query)(GLuint, GLenum, GLint *), GLenum name,
                      GLint *value);
bool answer_info_log(Shader &shader, GLsizei capacity, GLsizei *size, GLchar *log);
// What glGet...InfoLog does with a log, for a capacity that is not negative.
void copy_log(const std::string &log, GLsizei capacity, GLsizei *size, GLchar *buffer);

template <auto Real>
GLuint create_shader(GLenum type) {
    Context *context = current_context();
    const GLuint name = (current_gl().*Real)(type);
    if (context != nullptr && name != 0) {
        context->group->add_shader(context->gl(), name, type);
    }
    return name;
}

template <auto Real>
void delete_shader(GLuint name) {
    Context *context = current_context();
    (current_gl().*Real)(name);
    if (context != nullptr) {
        context->group->shader_deleted(context->gl(), name);
    }
}

template <auto Real>
void compile_shader_hook(GLuint name) {
    const Stopwatch time(&cairn_report::compile_ns);
    count(&cairn_report::compile_calls);
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        compile_shader(*context, *shader, current_gl().*Real);
        return;
    }
    (current_gl().*Real)(name);
    count(&cairn_report::driver_compiles);
}

// Compiles from named strings that are not part of the source.
template <auto Real>
void compile_shader_include(GLuint name, GLsizei paths, const GLchar *const *path,
                            const GLint *length) {
    const Stopwatch time(&cairn_report::compile_ns);
    count(&cairn_report::compile_calls);
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        hand_over(*context, *shader);
    }
    (current_gl().*Real)(name, paths, path, length);
    count(&cairn_report::driver_compiles);
}

// From now on a source may include what was named here.
template <auto Real>
void named_string(GLenum type, GLint name_size, const GLchar *name, GLint size,
                  const GLchar *text) {
    if (Context *context = current_context()) {
        context->group->has_named_strings.store(true);
    }
    (current_gl().*Real)(type, name_size, name, size, text);
}

template <auto Real>
void shader_binary(GLsizei names, const GLuint *shaders, GLenum format, const void *binary,
                   GLsizei size) {
    Context *context = current_context();
    for (GLsizei i = 0; shaders != nullptr && i < names; ++i) {
        if (const ShaderRef shader = find_shader(context, shaders[i])) {
            hand_over(*context, *shader);
            const MutexLock lock(shader->mutex);
            shader->is_binary = true;
        }
    }
    (current_gl().*Real)(names, shaders, format, binary, size);
}

template <auto Real>
void specialize_shader(GLuint name, const GLchar *entry, GLuint constants, const GLuint *index,
                       const GLuint *value) {
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        hand_over(*context, *shader);
    }
    (current_gl().*Real)(name, entry, constants, index, value);
}

template <auto Real>
void get_shader_iv(GLuint name, GLenum parameter, GLint *value) {
    // A driver that compiles on threads of its own lets these wait.
    const Stopwatch time(&cairn_report::compile_ns);
    const ShaderRef shader = find_shader(current_context(), name);
    if (shader == nullptr || !answer_parameter(*shader, current_gl().*Real, parameter, value)) {
        (current_gl().*Real)(name, parameter, value);
    }
}

template <auto Real>
void get_shader_info_log(GLuint name, GLsizei capacity, GLsizei *size, GLchar *log) {
    const Stopwatch time(&cairn_report::compile_ns);
    const ShaderRef shader = find_shader(current_context(), name);
    if (shader == nullptr || !answer_info_log(*shader, capacity, size, log)) {
        (current_gl().*Real)(name, capacity, size, log);
    }
}

template <auto Real>
void get_translated_source(GLuint name, GLsizei capacity, GLsizei *size, GLchar *source) {
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        force_compile(*context, *shader);
    }
    (current_gl().*Real)(name, capacity, size, source);
}

}  // namespace cairn::egl
