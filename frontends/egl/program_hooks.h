// The hooks for program objects; see shader_hooks.h for their form.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <string>

#include "context.h"
#include "counters.h"
#include "program.h"
#include "shader_hooks.h"

namespace cairn::egl {

inline ProgramRef find_program(const Context *context, GLuint name) {
    return context == nullptr ? nullptr : context->group->program(context->gl(), name);
}

// Notes a call that sets something for the next link. `text` may be null, which the driver will
// judge.
void note_setting(GLuint program, Setting setting, uint64_t number, const char *text);
void note_varyings(GLuint program, GLsizei count, const GLchar *const *varyings, GLenum mode);
void note_parameter(GLuint program, GLenum name, GLint value);
// The program is no longer understood: its links go to the driver from now on.
void stop_caching(GLuint program);
// Transform feedback has begun in the current context.
void note_transform_feedback();

// As answer_parameter() and answer_info_log() of shaders, for a program whose last link was a hit.
bool answer_parameter(Program &program, GLenum name, GLint *value);
bool answer_info_log(Program &program, GLsizei capacity, GLsizei *size, GLchar *log);

// Runs `validate`, and shows the driver's log from then on if that has written one.
void validate(Context &context, Program &program, void (*validate)(GLuint));
// The driver has been given a binary by the application.
void note_binary(GLuint program, GLenum format, GLsizei size);

// A program that the driver has made and linked in one call, in a way that is not cached.
void note_shader_program(Context &context, GLuint name);

template <auto Real>
GLuint create_program() {
    Context *context = current_context();
    const GLuint name = (current_gl().*Real)();
    if (context != nullptr && name != 0) {
        context->group->add_program(context->gl(), name);
    }
    return name;
}

template <auto Real>
void delete_program(GLuint name) {
    Context *context = current_context();
    (current_gl().*Real)(name);
    if (context != nullptr) {
        context->group->program_deleted(context->gl(), name);
    }
}

// Old-style objects share their names with the others, and may be of either kind.
template <auto Real>
void delete_object(GLhandleARB name) {
    Context *context = current_context();
    (current_gl().*Real)(name);
    if (context != nullptr) {
        context->group->shader_deleted(context->gl(), name);
        context->group->program_deleted(context->gl(), name);
    }
}

template <auto Real>
void link_program_hook(GLuint name) {
    const Stopwatch time(&cairn_report::link_ns);
    count(&cairn_report::link_calls);
    Context *context = current_context();
    if (const ProgramRef program = find_program(context, name)) {
        link_program(*context, *program, current_gl().*Real);
        return;
    }
    if (context != nullptr) {
        compile_attached(*context, name);
    }
    (current_gl().*Real)(name);
    count(&cairn_report::driver_links);
    count(&cairn_report::bypassed);
}

template <auto Real>
GLuint create_shader_program_hook(GLenum type, GLsizei sources, const GLchar *const *source) {
    const Stopwatch time(&cairn_report::link_ns);
    count(&cairn_report::link_calls);
    Context *context = current_context();
    if (context != nullptr) {
        return create_shader_program(*context, current_gl().*Real, type, sources, source);
    }
    count(&cairn_report::driver_links);
    count(&cairn_report::bypassed);
    return (current_gl().*Real)(type, sources, source);
}

template <auto Real>
GLuint create_shader_program_of_one(GLenum type, const GLchar *source) {
    const Stopwatch time(&cairn_report::link_ns);
    count(&cairn_report::link_calls);
    Context *context = current_context();
    const GLuint name = (current_gl().*Real)(type, source);
    if (context != nullptr && name != 0) {
        note_shader_program(*context, name);
    }
    count(&cairn_report::driver_links);
    count(&cairn_report::bypassed);
    return name;
}

template <auto Real>
void program_binary(GLuint name, GLenum format, const void *binary, GLsizei size) {
    (current_gl().*Real)(name, format, binary, size);
    count(&cairn_report::own_binaries);
    note_binary(name, format, size);
}

template <auto Real>
void validate_program(GLuint name) {
    Context *context = current_context();
    if (const ProgramRef program = find_program(context, name)) {
        validate(*context, *program, current_gl().*Real);
        return;
    }
    (current_gl().*Real)(name);
}

template <auto Real>
void bind_attrib_location(GLuint program, GLuint index, const GLchar *name) {
    (current_gl().*Real)(program, index, name);
    note_setting(program, Setting::attribute_location, index, name);
}

template <auto Real>
void bind_frag_data_location(GLuint program, GLuint color, const GLchar *name) {
    (current_gl().*Real)(program, color, name);
    note_setting(program, Setting::fragment_location, color, name);
}

template <auto Real>
void bind_frag_data_location_indexed(GLuint program, GLuint color, GLuint index,
                                     const GLchar *name) {
    (current_gl().*Real)(program, color, index, name);
    note_setting(program, Setting::fragment_location, uint64_t{index} << 32 | color, name);
}

template <auto Real>
void transform_feedback_varyings(GLuint program, GLsizei names, const GLchar *const *varyings,
                                 GLenum mode) {
    (current_gl().*Real)(program, names, varyings, mode);
    note_varyings(program, names, varyings, mode);
}

// NVIDIA's older form changes a linked program.
template <auto Real>
void transform_feedback_varyings_nv(GLuint program, GLsizei count, const GLint *locations,
                                    GLenum mode) {
    (current_gl().*Real)(program, count, locations, mode);
    stop_caching(program);
}

// Keeps a varying that the next link would leave out.
template <auto Real>
void active_varying(GLuint program, const GLchar *name) {
    (current_gl().*Real)(program, name);
    stop_caching(program);
}

template <auto Real>
void program_parameter(GLuint program, GLenum name, GLint value) {
    (current_gl().*Real)(program, name, value);
    note_parameter(program, name, value);
}

template <auto Real>
void begin_transform_feedback(GLenum mode) {
    (current_gl().*Real)(mode);
    note_transform_feedback();
}

// A driver that links on threads of its own lets these questions, which follow a link, wait for it.
inline bool waits_for_link(GLenum parameter) {
    return parameter == GL_LINK_STATUS || parameter == GL_INFO_LOG_LENGTH ||
           parameter == GL_COMPLETION_STATUS_KHR;
}

template <auto Real>
void get_program_iv(GLuint name, GLenum parameter, GLint *value) {
    const ProgramRef program = find_program(current_context(), name);
    if (waits_for_link(parameter)) {
        const Stopwatch time(&cairn_report::link_ns);
        (current_gl().*Real)(name, parameter, value);
    } else {
        (current_gl().*Real)(name, parameter, value);
    }
    if (program != nullptr) {
        answer_parameter(*program, parameter, value);
    }
}

template <auto Real>
void get_program_info_log(GLuint name, GLsizei capacity, GLsizei *size, GLchar *log) {
    const ProgramRef program = find_program(current_context(), name);
    if (program == nullptr || !answer_info_log(*program, capacity, size, log)) {
        (current_gl().*Real)(name, capacity, size, log);
    }
}

template <auto Real>
void get_info_log(GLhandleARB name, GLsizei capacity, GLsizei *size, GLcharARB *log) {
    Context *context = current_context();
    const ShaderRef shader = find_shader(context, name);
    const ProgramRef program = find_program(context, name);
    if ((shader != nullptr && answer_info_log(*shader, capacity, size, log)) ||
        (program != nullptr && answer_info_log(*program, capacity, size, log))) {
        return;
    }
    (current_gl().*Real)(name, capacity, size, log);
}

template <auto Real>
void get_object_parameter_iv(GLhandleARB name, GLenum parameter, GLint *value) {
    Context *context = current_context();
    const ShaderRef shader = find_shader(context, name);
    if (shader != nullptr && answer_parameter(*shader, current_gl().*Real, parameter, value)) {
        return;
    }
    (current_gl().*Real)(name, parameter, value);
    if (const ProgramRef program = find_program(context, name)) {
        answer_parameter(*program, parameter, value);
    }
}

template <auto Real>
void get_object_parameter_fv(GLhandleARB name, GLenum parameter, GLfloat *value) {
    Context *context = current_context();
    (current_gl().*Real)(name, parameter, value);
    GLint number = 0;
    const ShaderRef shader = find_shader(context, name);
    const ProgramRef program = find_program(context, name);
    const auto query = current_gl().GetObjectParameterivARB;
    if ((shader != nullptr && answer_parameter(*shader, query, parameter, &number)) ||
        (program != nullptr && answer_parameter(*program, parameter, &number))) {
        *value = static_cast<GLfloat>(number);
    }
}

}  // namespace cairn::egl
