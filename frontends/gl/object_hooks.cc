// SPDX-License-Identifier: MIT
// The hooks for the calls that make, compile, link and delete shaders and programs, and for the
// questions about them.
#include <optional>

#include "common/run_report.h"
#include "hooks.h"
#include "record/recorder.h"

namespace cairn::gl {
namespace {

// Makes the driver compile a deferred shader, and forgets the compiled source: for calls after
// which only the driver knows the shader. Null when it is not tracked.
ShaderRef hand_over(GLuint name) {
    Context *context = current_context();
    ShaderRef shader = find_shader(context, name);
    if (shader != nullptr) {
        const MutexLock lock(shader->mutex);
        force_compile(*context, *shader);
        give_source(*context, *shader);
        shader->state = Shader::State::untouched;
        shader->may_include = false;
    }
    return shader;
}

// Makes a program that is not cached.
template <typename Function, typename... A>
GLuint create_bypassed(Context *context, Detail why, Real<Function> &real, A... arguments) {
    const uint64_t start = monotonic_ns();
    const GLuint name = real(arguments...);
    count_bypassed(context, why, monotonic_ns() - start);
    if (context != nullptr && name != 0) {
        note_shader_program(*context, name);
        record::record_other_link(context->recording.get(), name);
    }
    return name;
}

// A driver that links on threads of its own lets these questions, which follow a link, wait for it.
bool waits_for_link(GLenum parameter) {
    return parameter == GL_LINK_STATUS || parameter == GL_INFO_LOG_LENGTH ||
           parameter == GL_COMPLETION_STATUS_KHR;
}

// Answers glGetShaderiv and its like where the driver, which `query` asks, does not know.
bool answer_parameter(const ShaderRef &shader, Real<PFNGLGETSHADERIVPROC> &query, GLenum name,
                      GLint *value) {
    if (shader == nullptr || value == nullptr) return false;
    const MutexLock lock(shader->mutex);
    if (name == GL_SHADER_SOURCE_LENGTH && shader->keeps_source()) {
        *value = static_cast<GLint>(shader->source->text.size()) + 1;
        return true;
    }
    if (shader->state != Shader::State::deferred) return false;
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

// The same for a program whose last link was a hit.
bool answer_parameter(const ProgramRef &program, GLenum name, GLint *value) {
    if (program == nullptr || value == nullptr) return false;
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

// Copies as much of the text as there is room for, and a zero.
void copy_text(std::string_view text, GLsizei capacity, GLsizei *size, GLchar *copy) {
    size_t copied = 0;
    if (capacity > 0 && copy != nullptr) {
        copied = text.copy(copy, static_cast<size_t>(capacity) - 1);
        copy[copied] = '\0';
    }
    if (size != nullptr) {
        *size = static_cast<GLsizei>(copied);
    }
}

// Answers glGet...InfoLog of a shader or program (or null) whose log the driver does not have. A
// negative capacity is an error, which is the driver's to report.
template <typename Object>
bool answer_info_log(const std::shared_ptr<Object> &object, GLsizei capacity, GLsizei *size,
                     GLchar *log) {
    if (object == nullptr || capacity < 0) return false;
    const MutexLock lock(object->mutex);
    const Report *report = object->kept_report();
    if (report == nullptr) return false;
    copy_text(report->log, capacity, size, log);
    return true;
}

}  // namespace

namespace hooks {

GLuint create_shader(Real<PFNGLCREATESHADERPROC> &real, GLenum type) {
    const Context *context = current_context();
    const GLuint name = real(type);
    if (context != nullptr && name != 0) {
        context->group->add_shader(name, type);
    }
    return name;
}

GLuint create_program(Real<PFNGLCREATEPROGRAMPROC> &real) {
    const Context *context = current_context();
    const GLuint name = real();
    if (context != nullptr && name != 0) {
        context->group->add_program(name);
    }
    return name;
}

void delete_program(Real<PFNGLDELETEPROGRAMPROC> &real, GLuint name) {
    const Context *context = current_context();
    real(name);
    // To delete an object of the other kind is an error.
    if (context != nullptr && context->group->program(name) != nullptr) {
        context->group->deleted(name);
    }
}

void delete_shader(Real<PFNGLDELETESHADERPROC> &real, GLuint name) {
    const Context *context = current_context();
    real(name);
    if (context != nullptr && context->group->shader(name) != nullptr) {
        context->group->deleted(name);
    }
}

void delete_object(Real<PFNGLDELETEOBJECTARBPROC> &real, GLhandleARB name) {
    const Context *context = current_context();
    real(name);
    if (context != nullptr) {
        context->group->deleted(name);
    }
}

void shader_source(Real<PFNGLSHADERSOURCEPROC> &real, GLuint name, GLsizei count,
                   const GLchar *const *strings, const GLint *sizes) {
    Context *context = current_context();
    if (const ShaderRef shader = find_shader(context, name)) {
        take_source(*context, *shader, real, count, strings, sizes);
    } else {
        real(name, count, strings, sizes);
    }
}

void get_shader_source(Real<PFNGLGETSHADERSOURCEPROC> &real, GLuint name, GLsizei capacity,
                       GLsizei *size, GLchar *source) {
    const ShaderRef shader = find_shader(current_context(), name);
    if (shader != nullptr && capacity >= 0) {
        const MutexLock lock(shader->mutex);
        if (shader->keeps_source()) {
            copy_text(shader->source->text, capacity, size, source);
            return;
        }
    }
    real(name, capacity, size, source);
}

void compile_shader(Real<PFNGLCOMPILESHADERPROC> &real, GLuint name) {
    const Stopwatch time(&RunReport::compile_ns, &RunReport::compile_calls);
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
    const Stopwatch time(&RunReport::compile_ns, &RunReport::compile_calls);
    if (const ShaderRef shader = hand_over(name)) {
        const MutexLock lock(shader->mutex);
        shader->may_include = true;
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
    for (GLsizei i = 0; shaders != nullptr && i < names; ++i) {
        if (const ShaderRef shader = hand_over(shaders[i])) {
            const MutexLock lock(shader->mutex);
            shader->is_binary = true;
        }
    }
    real(names, shaders, format, binary, size);
}

void specialize_shader(Real<PFNGLSPECIALIZESHADERPROC> &real, GLuint name, const GLchar *entry,
                       GLuint constants, const GLuint *index, const GLuint *value) {
    hand_over(name);
    real(name, entry, constants, index, value);
}

void link_program(Real<PFNGLLINKPROGRAMPROC> &real, GLuint name) {
    const Stopwatch time(&RunReport::link_ns, &RunReport::link_calls);
    Context *context = current_context();
    if (const ProgramRef program = find_program(context, name)) {
        const auto link = [&] {
            link_tracked(*context, *program, real);
            return true;
        };
        if (guarded(link, [&] { return real.was_called(); })) return;
        const MutexLock lock(program->mutex);
        program->forget_cached_link();
        // It may succeed. To ask could wait for the driver.
        program->was_linked = true;
    }
    if (context != nullptr) {
        attempt([&] { compile_attached(*context, name); });
        record::record_other_link(context->recording.get(), name);
    }
    const uint64_t start = monotonic_ns();
    real(name);
    count_bypassed(context, Detail::program_not_known, monotonic_ns() - start);
}

GLuint create_shader_program(Real<PFNGLCREATESHADERPROGRAMVPROC> &real, GLenum type,
                             GLsizei sources, const GLchar *const *source) {
    const Stopwatch time(&RunReport::link_ns, &RunReport::link_calls);
    Context *context = current_context();
    std::optional<GLuint> made;
    Detail why_not = Detail::program_not_known;
    if (context != nullptr) {
        made = create_cached(*context, real, type, sources, source, why_not);
    }
    return made ? *made : create_bypassed(context, why_not, real, type, sources, source);
}

GLuint create_shader_program_of_one(Real<PFNGLCREATESHADERPROGRAMEXTPROC> &real, GLenum type,
                                    const GLchar *source) {
    const Stopwatch time(&RunReport::link_ns, &RunReport::link_calls);
    return create_bypassed(current_context(), Detail::program_not_known, real, type, source);
}

void program_binary(Real<PFNGLPROGRAMBINARYPROC> &real, GLuint name, GLenum format,
                    const void *binary, GLsizei size) {
    real(name, format, binary, size);
    count(&RunReport::own_binaries);
    const Context *context = current_context();
    const ProgramRef program = find_program(context, name);
    if (program == nullptr) return;
    const MutexLock lock(program->mutex);
    program->is_understood = false;
    // Other calls are errors, and leave the program as it was linked before.
    if (size >= 0 && context->has_format(format)) {
        program->forget_cached_link();
        program->was_linked = true;
        record::record_other_link(context->recording.get(), name);
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

void get_shader_iv(Real<PFNGLGETSHADERIVPROC> &real, GLuint name, GLenum parameter, GLint *value) {
    if (!answer_parameter(find_shader(current_context(), name), real, parameter, value)) {
        // A driver that compiles on threads of its own lets these wait.
        const Stopwatch time(&RunReport::compile_ns);
        real(name, parameter, value);
    }
}

void get_shader_info_log(Real<PFNGLGETSHADERINFOLOGPROC> &real, GLuint name, GLsizei capacity,
                         GLsizei *size, GLchar *log) {
    if (!answer_info_log(find_shader(current_context(), name), capacity, size, log)) {
        const Stopwatch time(&RunReport::compile_ns);
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

void get_program_iv(Real<PFNGLGETPROGRAMIVPROC> &real, GLuint name, GLenum parameter,
                    GLint *value) {
    if (answer_parameter(find_program(current_context(), name), parameter, value)) return;
    if (waits_for_link(parameter)) {
        const Stopwatch time(&RunReport::link_ns);
        real(name, parameter, value);
    } else {
        real(name, parameter, value);
    }
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
    if (!answer_parameter(find_shader(context, name), real, parameter, value) &&
        !answer_parameter(find_program(context, name), parameter, value)) {
        real(name, parameter, value);
    }
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
}  // namespace cairn::gl
