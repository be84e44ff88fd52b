// SPDX-License-Identifier: MIT
#include "program_hooks.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cairn::egl {
namespace {

// The bytes of a call's arguments: numbers first, then texts with their terminating zeros.
class Arguments {
  public:
    Arguments &number(uint64_t value) {
        bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
        return *this;
    }
    Arguments &text(const char *value) {
        bytes_.append(value, strlen(value) + 1);
        return *this;
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

// Drivers may take "name" and "name[0]" for the same.
std::string base_name(std::string_view name) {
    return std::string(name.substr(0, name.find('[')));
}

std::string driver_log(const GlFunctions &gl, GLuint program) {
    GLint capacity = 0;
    gl.GetProgramiv(program, GL_INFO_LOG_LENGTH, &capacity);
    std::string log(static_cast<size_t>(capacity > 0 ? capacity : 0), '\0');
    if (capacity > 0) {
        gl.GetProgramInfoLog(program, capacity, nullptr, log.data());
    }
    return log;
}

// Whether the driver refuses such a call without reading the names, which then need not be there.
bool is_refused_unread(const Context &context, GLsizei count, GLenum mode) {
    const bool is_separate = mode == GL_SEPARATE_ATTRIBS;
    return count < 0 || (mode != GL_INTERLEAVED_ATTRIBS && !is_separate) ||
           (is_separate && count > context.separate_varyings_max);
}

}  // namespace

void note_setting(GLuint name, Setting setting, uint64_t number, const char *text) {
    const ProgramRef program = find_program(current_context(), name);
    if (program == nullptr || text == nullptr) {
        return;
    }
    const MutexLock lock(program->mutex);
    program->add_setting(setting, base_name(text), Arguments().number(number).text(text).take());
}

void note_varyings(GLuint name, GLsizei count, const GLchar *const *varyings, GLenum mode) {
    Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr) {
        return;
    }
    // While transform feedback is active the call has no effect; whether it is, is not tracked.
    if (context->group->has_transform_feedback.load() || context->separate_varyings_max <= 0) {
        stop_caching(name);
        return;
    }
    if (is_refused_unread(*context, count, mode)) {
        return;
    }
    Arguments arguments;
    arguments.number(mode).number(static_cast<uint64_t>(count));
    for (GLsizei i = 0; varyings != nullptr && i < count; ++i) {
        if (varyings[i] == nullptr) {
            stop_caching(name);
            return;
        }
        arguments.text(varyings[i]);
    }
    const MutexLock lock(program->mutex);
    program->add_setting(Setting::transform_feedback, {}, arguments.take());
}

void note_parameter(GLuint name, GLenum parameter, GLint value) {
    const ProgramRef program = find_program(current_context(), name);
    if (program == nullptr) {
        return;
    }
    const MutexLock lock(program->mutex);
    program->is_separable |= parameter == GL_PROGRAM_SEPARABLE && value != GL_FALSE;
    if (parameter == GL_PROGRAM_BINARY_RETRIEVABLE_HINT &&
        (value == GL_FALSE || value == GL_TRUE)) {
        program->has_hint = true;
        program->hint = value;
    }
    program->add_setting(Setting::parameter, {},
                         Arguments().number(parameter).number(static_cast<uint64_t>(value)).take());
}

void stop_caching(GLuint name) {
    if (const ProgramRef program = find_program(current_context(), name)) {
        const MutexLock lock(program->mutex);
        program->is_understood = false;
    }
}

void note_shader_program(Context &context, GLuint name) {
    context.group->add_program(context.gl(), name);
    const ProgramRef program = context.group->program(context.gl(), name);
    const MutexLock lock(program->mutex);
    program->is_understood = false;
    program->is_separable = true;
    program->was_linked = true;
}

void note_transform_feedback() {
    if (const Context *context = current_context()) {
        context->group->has_transform_feedback.store(true);
    }
}

bool answer_parameter(Program &program, GLenum name, GLint *value) {
    if (value == nullptr) {
        return false;
    }
    const MutexLock lock(program.mutex);
    if (name == GL_INFO_LOG_LENGTH && program.has_cached_log) {
        *value = program.log_length;
        return true;
    }
    if (name == GL_PROGRAM_BINARY_RETRIEVABLE_HINT && program.has_cached_hint) {
        *value = program.cached_hint;
        return true;
    }
    return false;
}

bool answer_info_log(Program &program, GLsizei capacity, GLsizei *size, GLchar *log) {
    const MutexLock lock(program.mutex);
    if (!program.has_cached_log || capacity < 0) {
        return false;
    }
    copy_log(program.log, capacity, size, log);
    return true;
}

void validate(Context &context, Program &program, void (*validate)(GLuint)) {
    const MutexLock lock(program.mutex);
    if (!program.has_cached_log) {
        validate(program.name);
        return;
    }
    const std::string before = driver_log(context.gl(), program.name);
    validate(program.name);
    program.has_cached_log = before == driver_log(context.gl(), program.name);
}

void note_binary(GLuint name, GLenum format, GLsizei size) {
    Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr) {
        return;
    }
    {
        const MutexLock lock(program->mutex);
        program->is_understood = false;
    }
    // Other calls are errors, after which what was linked before is still there.
    const auto &formats = context->binary_formats;
    if (size >= 0 && std::find(formats.begin(), formats.end(), format) != formats.end()) {
        const MutexLock lock(program->mutex);
        program->forget_cached_link();
        program->was_linked = true;
    }
}

}  // namespace cairn::egl
