// SPDX-License-Identifier: MIT
// The hooks for program objects.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "counters.h"
#include "gl_hooks.h"

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

// A name to which every driver gives a location: an identifier that is not reserved, not even for
// WebGL.
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

// Every driver accepts locations below this one; it may refuse others.
GLint locations(const Context &context, Setting setting) {
    return setting == Setting::attribute_location ? context.attributes_max
                                                  : context.draw_buffers_max;
}

// GL_ARB_transform_feedback3 has rules of its own for these.
bool is_special_varying(std::string_view name) {
    return name == "gl_NextBuffer" || name.starts_with("gl_SkipComponents");
}

// Whether the driver refuses such a call before it reads the names, which then may be missing.
bool is_refused_unread(const Context &context, GLsizei count, GLenum mode) {
    const bool is_separate = mode == GL_SEPARATE_ATTRIBS;
    return count < 0 || (mode != GL_INTERLEAVED_ATTRIBS && !is_separate) ||
           (is_separate && count > context.separate_varyings_max);
}

// Notes what a call changes for later links, by note(context, program). A change that cannot be
// noted ends the caching of the program.
template <typename Note>
void note(GLuint name, Note note) {
    const Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr) {
        return;
    }
    const MutexLock lock(program->mutex);
    guarded([&] { note(*context, *program); }, [&] { program->is_understood = false; });
}

// Links of the program go to the driver from now on.
void stop_caching(GLuint name) {
    note(name, [](const Context &, Program &program) { program.is_understood = false; });
}

// `text` may be null, which the driver will judge.
void note_setting(GLuint name, Setting setting, uint64_t number, const char *text) {
    note(name, [=](const Context &context, Program &program) {
        if (text == nullptr) {
            return;
        }
        const auto limit = static_cast<uint64_t>(locations(context, setting));
        const bool is_certain = number < limit && is_plain_name(text);
        program.add_setting({setting, base_name(text), std::string(text),
                             Arguments().number(number).text(text).take()},
                            is_certain ? Program::Effect::replaces : Program::Effect::uncertain);
    });
}

// REQUIRES: the program is locked.
void note_varyings(const Context &context, Program &program, GLsizei count,
                   const GLchar *const *varyings, GLenum mode) {
    // While transform feedback is active the call has no effect; whether it is, is not tracked.
    if (context.group->has_transform_feedback.load() || context.separate_varyings_max <= 0) {
        program.is_understood = false;
        return;
    }
    if (is_refused_unread(context, count, mode)) {
        return;
    }
    Arguments arguments;
    arguments.number(mode).number(static_cast<uint64_t>(count));
    bool is_certain = true;
    for (GLsizei i = 0; varyings != nullptr && i < count; ++i) {
        if (varyings[i] == nullptr) {
            program.is_understood = false;
            return;
        }
        arguments.text(varyings[i]);
        is_certain &= !is_special_varying(varyings[i]);
    }
    const bool is_initial = count == 0 && mode == GL_INTERLEAVED_ATTRIBS;
    program.add_setting(
        {Setting::transform_feedback, std::string(), std::string(), arguments.take()},
        is_initial   ? Program::Effect::resets
        : is_certain ? Program::Effect::replaces
                     : Program::Effect::uncertain);
}

// REQUIRES: the program is locked.
void note_parameter(Program &program, GLenum parameter, GLint value) {
    if (parameter == GL_PROGRAM_BINARY_RETRIEVABLE_HINT) {
        // It does not change what a link makes. Other values are refused.
        program.hint = value == GL_FALSE || value == GL_TRUE ? value : program.hint;
        return;
    }
    auto effect = Program::Effect::uncertain;
    if (parameter == GL_PROGRAM_SEPARABLE) {
        program.is_separable |= value != GL_FALSE;
        // A driver without such programs refuses both values, which has the same effect.
        effect = value == GL_FALSE  ? Program::Effect::resets
                 : value == GL_TRUE ? Program::Effect::replaces
                                    : effect;
    }
    const std::string target = Arguments().number(parameter).take();
    program.add_setting({Setting::parameter, target, target,
                         Arguments().number(parameter).number(static_cast<uint64_t>(value)).take()},
                        effect);
}

// As answer_parameter() of shaders, for a program whose last link was a hit.
bool answer_parameter(const ProgramRef &program, GLenum name, GLint *value) {
    if (program == nullptr || value == nullptr) {
        return false;
    }
    const MutexLock lock(program->mutex);
    if (name == GL_INFO_LOG_LENGTH && program->cached_report) {
        *value = program->cached_report->log_length;
        return true;
    }
    if (name == GL_PROGRAM_BINARY_RETRIEVABLE_HINT && program->cached_hint) {
        *value = *program->cached_hint;
        return true;
    }
    return false;
}

// A driver that links on threads of its own lets these questions, which follow a link, wait for it.
bool waits_for_link(GLenum parameter) {
    return parameter == GL_LINK_STATUS || parameter == GL_INFO_LOG_LENGTH ||
           parameter == GL_COMPLETION_STATUS_KHR;
}

// A link that is not answered from the cache and not stored.
void count_bypassed() {
    count(&RunReport::driver_links);
    count(&RunReport::bypassed);
}

}  // namespace

namespace hooks {

GLuint create_program(Real<PFNGLCREATEPROGRAMPROC> &real) {
    const Context *context = current_context();
    const GLuint name = real();
    if (context != nullptr && name != 0) {
        context->group->add_program(context->gl(), name);
    }
    return name;
}

void delete_program(Real<PFNGLDELETEPROGRAMPROC> &real, GLuint name) {
    const Context *context = current_context();
    real(name);
    if (context != nullptr) {
        context->group->program_deleted(context->gl(), name);
    }
}

// Old-style objects share their names with the others, and may be of either kind.
void delete_object(Real<PFNGLDELETEOBJECTARBPROC> &real, GLhandleARB name) {
    const Context *context = current_context();
    real(name);
    if (context != nullptr) {
        context->group->shader_deleted(context->gl(), name);
        context->group->program_deleted(context->gl(), name);
    }
}

void link_program(Real<PFNGLLINKPROGRAMPROC> &real, GLuint name) {
    const Stopwatch time(&RunReport::link_ns);
    count(&RunReport::link_calls);
    Context *context = current_context();
    if (const ProgramRef program = find_program(context, name)) {
        const bool is_done = guarded(
            [&] {
                link_program(*context, *program, real);
                return true;
            },
            [&] { return real.was_called(); });
        if (is_done) {
            return;
        }
        const MutexLock lock(program->mutex);
        program->forget_cached_link();
        program->was_linked = true;
    }
    if (context != nullptr) {
        attempt([&] { compile_attached(*context, name); });
    }
    real(name);
    count_bypassed();
}

GLuint create_shader_program(Real<PFNGLCREATESHADERPROGRAMVPROC> &real, GLenum type,
                             GLsizei sources, const GLchar *const *source) {
    const Stopwatch time(&RunReport::link_ns);
    count(&RunReport::link_calls);
    if (Context *context = current_context()) {
        return create_shader_program(*context, real, type, sources, source);
    }
    count_bypassed();
    return real(type, sources, source);
}

GLuint create_shader_program_of_one(Real<PFNGLCREATESHADERPROGRAMEXTPROC> &real, GLenum type,
                                    const GLchar *source) {
    const Stopwatch time(&RunReport::link_ns);
    count(&RunReport::link_calls);
    Context *context = current_context();
    const GLuint name = real(type, source);
    count_bypassed();
    if (context != nullptr && name != 0) {
        note_shader_program(*context, name);
    }
    return name;
}

void program_binary(Real<PFNGLPROGRAMBINARYPROC> &real, GLuint name, GLenum format,
                    const void *binary, GLsizei size) {
    real(name, format, binary, size);
    count(&RunReport::own_binaries);
    const Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr) {
        return;
    }
    const MutexLock lock(program->mutex);
    program->is_understood = false;
    // Other calls are errors, and leave the program as it was linked before.
    const auto &formats = context->binary_formats;
    if (size >= 0 && std::find(formats.begin(), formats.end(), format) != formats.end()) {
        program->forget_cached_link();
        program->was_linked = true;
    }
}

// If the driver writes a log, the application sees that log from then on.
void validate_program(Real<PFNGLVALIDATEPROGRAMPROC> &real, GLuint name) {
    const Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr) {
        real(name);
        return;
    }
    const MutexLock lock(program->mutex);
    if (!program->cached_report) {
        real(name);
        return;
    }
    const std::string before = program_report(context->gl(), name).log;
    real(name);
    if (before != program_report(context->gl(), name).log) {
        program->cached_report.reset();
    }
}

void bind_attrib_location(Real<PFNGLBINDATTRIBLOCATIONPROC> &real, GLuint program, GLuint index,
                          const GLchar *name) {
    real(program, index, name);
    note_setting(program, Setting::attribute_location, index, name);
}

void bind_frag_data_location(Real<PFNGLBINDFRAGDATALOCATIONPROC> &real, GLuint program,
                             GLuint color, const GLchar *name) {
    real(program, color, name);
    note_setting(program, Setting::fragment_location, color, name);
}

void bind_frag_data_location_indexed(Real<PFNGLBINDFRAGDATALOCATIONINDEXEDPROC> &real,
                                     GLuint program, GLuint color, GLuint index,
                                     const GLchar *name) {
    real(program, color, index, name);
    note_setting(program, Setting::fragment_location, uint64_t{index} << 32 | color, name);
}

void transform_feedback_varyings(Real<PFNGLTRANSFORMFEEDBACKVARYINGSPROC> &real, GLuint program,
                                 GLsizei names, const GLchar *const *varyings, GLenum mode) {
    real(program, names, varyings, mode);
    note(program, [=](const Context &context, Program &noted) {
        note_varyings(context, noted, names, varyings, mode);
    });
}

// NVIDIA's older form changes a linked program.
void transform_feedback_varyings_nv(Real<PFNGLTRANSFORMFEEDBACKVARYINGSNVPROC> &real,
                                    GLuint program, GLsizei count, const GLint *locations,
                                    GLenum mode) {
    real(program, count, locations, mode);
    stop_caching(program);
}

// Keeps a varying that the next link would leave out.
void active_varying(Real<PFNGLACTIVEVARYINGNVPROC> &real, GLuint program, const GLchar *name) {
    real(program, name);
    stop_caching(program);
}

void program_parameter(Real<PFNGLPROGRAMPARAMETERIPROC> &real, GLuint program, GLenum name,
                       GLint value) {
    real(program, name, value);
    note(program, [=](const Context &, Program &noted) { note_parameter(noted, name, value); });
}

void begin_transform_feedback(Real<PFNGLBEGINTRANSFORMFEEDBACKPROC> &real, GLenum mode) {
    real(mode);
    if (const Context *context = current_context()) {
        context->group->has_transform_feedback.store(true);
    }
}

void get_program_iv(Real<PFNGLGETPROGRAMIVPROC> &real, GLuint name, GLenum parameter,
                    GLint *value) {
    const ProgramRef program = find_program(current_context(), name);
    if (waits_for_link(parameter)) {
        const Stopwatch time(&RunReport::link_ns);
        real(name, parameter, value);
    } else {
        real(name, parameter, value);
    }
    answer_parameter(program, parameter, value);
}

void get_program_info_log(Real<PFNGLGETPROGRAMINFOLOGPROC> &real, GLuint name, GLsizei capacity,
                          GLsizei *size, GLchar *log) {
    if (!answer_info_log(find_program(current_context(), name), capacity, size, log)) {
        real(name, capacity, size, log);
    }
}

void get_info_log(Real<PFNGLGETINFOLOGARBPROC> &real, GLhandleARB name, GLsizei capacity,
                  GLsizei *size, GLcharARB *log) {
    const Context *context = current_context();
    if (!answer_info_log(find_shader(context, name), capacity, size, log) &&
        !answer_info_log(find_program(context, name), capacity, size, log)) {
        real(name, capacity, size, log);
    }
}

void get_object_parameter_iv(Real<PFNGLGETOBJECTPARAMETERIVARBPROC> &real, GLhandleARB name,
                             GLenum parameter, GLint *value) {
    const Context *context = current_context();
    if (answer_parameter(find_shader(context, name), real, parameter, value)) {
        return;
    }
    real(name, parameter, value);
    answer_parameter(find_program(context, name), parameter, value);
}

void get_object_parameter_fv(Real<PFNGLGETOBJECTPARAMETERFVARBPROC> &real, GLhandleARB name,
                             GLenum parameter, GLfloat *value) {
    const Context *context = current_context();
    real(name, parameter, value);
    GLint number = 0;
    Real<PFNGLGETSHADERIVPROC> query(current_gl().GetObjectParameterivARB);
    if (answer_parameter(find_shader(context, name), query, parameter, &number) ||
        answer_parameter(find_program(context, name), parameter, &number)) {
        *value = static_cast<GLfloat>(number);
    }
}

}  // namespace hooks
}  // namespace cairn::egl
