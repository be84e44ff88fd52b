// SPDX-License-Identifier: MIT
#include "program_hooks.h"

#include <algorithm>
#include <iterator>
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

// A name that no driver refuses to give a location to: an identifier that is not reserved, not even
// for WebGL.
bool is_plain_name(std::string_view name) {
    constexpr size_t kSizeMax = 256;
    constexpr std::string_view kReserved[] = {"gl_", "webgl_", "_webgl_"};
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789";
    return !name.empty() && name.size() <= kSizeMax &&
           name.find_first_not_of(kLetters) == std::string_view::npos &&
           std::none_of(std::begin(kReserved), std::end(kReserved),
                        [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// The locations that every name can be given; no others are certain to be accepted.
GLint locations(const Context &context, Setting setting) {
    return setting == Setting::attribute_location ? context.attributes_max
                                                  : context.draw_buffers_max;
}

// GL_ARB_transform_feedback3 has rules of its own for these.
bool is_special_varying(std::string_view name) {
    return name == "gl_NextBuffer" || name.starts_with("gl_SkipComponents");
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
    const Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr || text == nullptr) {
        return;
    }
    const auto limit = static_cast<uint64_t>(locations(*context, setting));
    const bool is_certain = number < limit && is_plain_name(text);
    const MutexLock lock(program->mutex);
    program->add_setting(
        {setting, base_name(text), text, Arguments().number(number).text(text).take()},
        is_certain ? Program::Effect::replaces : Program::Effect::uncertain);
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
    bool is_certain = true;
    for (GLsizei i = 0; varyings != nullptr && i < count; ++i) {
        if (varyings[i] == nullptr) {
            stop_caching(name);
            return;
        }
        arguments.text(varyings[i]);
        is_certain &= !is_special_varying(varyings[i]);
    }
    const bool is_initial = count == 0 && mode == GL_INTERLEAVED_ATTRIBS;
    const MutexLock lock(program->mutex);
    program->add_setting({Setting::transform_feedback, {}, {}, arguments.take()},
                         is_initial   ? Program::Effect::resets
                         : is_certain ? Program::Effect::replaces
                                      : Program::Effect::uncertain);
}

void note_parameter(GLuint name, GLenum parameter, GLint value) {
    const ProgramRef program = find_program(current_context(), name);
    if (program == nullptr) {
        return;
    }
    const MutexLock lock(program->mutex);
    if (parameter == GL_PROGRAM_BINARY_RETRIEVABLE_HINT) {
        // It does not change what a link makes. Other values are refused.
        program->hint = value == GL_FALSE || value == GL_TRUE ? value : program->hint;
        return;
    }
    auto effect = Program::Effect::uncertain;
    if (parameter == GL_PROGRAM_SEPARABLE) {
        program->is_separable |= value != GL_FALSE;
        // Where there are no such programs both values are refused, which comes to the same.
        effect = value == GL_FALSE  ? Program::Effect::resets
                 : value == GL_TRUE ? Program::Effect::replaces
                                    : effect;
    }
    const std::string target = Arguments().number(parameter).take();
    program->add_setting(
        {Setting::parameter, target, target,
         Arguments().number(parameter).number(static_cast<uint64_t>(value)).take()},
        effect);
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
