// SPDX-License-Identifier: MIT
// The hooks for the calls that set something for the next link of a program.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/words.h"
#include "hooks.h"

namespace cairn::gl {
namespace {

// An argument of a call as bytes.
std::string argument(uint64_t number) {
    return {reinterpret_cast<const char *>(&number), sizeof number};
}
std::string argument(const char *text) {
    return {text, strlen(text) + 1};
}

enum class Effect {
    uncertain,  // the driver may refuse the call
    replaces,   // it sets its target, whatever was set before
    resets,     // the same, and a new program has its target set so
};

// No sensible program has so many different settings. It bounds the list of an application that
// makes up new ones again and again.
constexpr size_t kSettingsMax = 4096;

bool comes_before(const Call &one, const Call &other) {
    return std::tie(*one.setting, *one.subject) < std::tie(*other.setting, *other.subject);
}

// REQUIRES: the program is locked.
void add_setting(Program &program, Call call, Effect effect) {
    std::vector<Call> &settings = program.settings;
    std::erase_if(settings, [&](const Call &older) {
        const bool is_replaced = effect != Effect::uncertain && older.setting == call.setting &&
                                 older.target == call.target;
        return is_replaced || older == call;
    });
    if (effect == Effect::resets) return;
    if (settings.size() >= kSettingsMax) {
        program.is_understood = false;
        return;
    }
    const auto place = std::upper_bound(settings.begin(), settings.end(), call, comes_before);
    settings.insert(place, std::move(call));
}

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
           !starts_with_any(name, kReserved);
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
    if (program == nullptr) return;
    const MutexLock lock(program->mutex);
    guarded([&] { note(*context, *program); }, [&] { program->is_understood = false; });
}

// Links of the program go to the driver from now on.
void stop_caching(GLuint name) {
    note(name, [](const Context &, Program &program) { program.is_understood = false; });
}

// `text` may be null, which the driver will judge.
void note_setting(GLuint name, SettingKind setting, uint64_t number, const char *text) {
    note(name, [=](const Context &context, Program &program) {
        if (text == nullptr) return;
        // Every driver accepts locations below this one; it may refuse others.
        const GLint limit = setting == SettingKind::attribute_location ? context.attributes_max
                                                                       : context.draw_buffers_max;
        const bool is_certain = number < static_cast<uint64_t>(limit) && is_plain_name(text);
        add_setting(
            program,
            {setting, base_name(text), std::string(text), argument(number) + argument(text)},
            is_certain ? Effect::replaces : Effect::uncertain);
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
    if (is_refused_unread(context, count, mode)) return;
    std::string arguments = argument(mode);
    arguments += argument(static_cast<uint64_t>(count));
    bool is_certain = true;
    for (GLsizei i = 0; varyings != nullptr && i < count; ++i) {
        if (varyings[i] == nullptr) {
            program.is_understood = false;
            return;
        }
        arguments += argument(varyings[i]);
        is_certain &= !is_special_varying(varyings[i]);
    }
    const bool is_initial = count == 0 && mode == GL_INTERLEAVED_ATTRIBS;
    add_setting(
        program,
        {SettingKind::transform_feedback, std::string(), std::string(), std::move(arguments)},
        is_initial   ? Effect::resets
        : is_certain ? Effect::replaces
                     : Effect::uncertain);
}

// REQUIRES: the program is locked.
void note_parameter(Program &program, GLenum parameter, GLint value) {
    if (parameter == GL_PROGRAM_BINARY_RETRIEVABLE_HINT) {
        // It does not change what a link makes. Other values are refused.
        program.hint = value == GL_FALSE || value == GL_TRUE ? value : program.hint;
        return;
    }
    auto effect = Effect::uncertain;
    if (parameter == GL_PROGRAM_SEPARABLE) {
        program.is_separable |= value != GL_FALSE;
        // A driver without such programs refuses both values, which has the same effect.
        effect = value == GL_FALSE ? Effect::resets : value == GL_TRUE ? Effect::replaces : effect;
    }
    const std::string target = argument(parameter);
    add_setting(
        program,
        {SettingKind::parameter, target, target, target + argument(static_cast<uint64_t>(value))},
        effect);
}

}  // namespace

namespace hooks {

void bind_attrib_location(Real<PFNGLBINDATTRIBLOCATIONPROC> &real, GLuint program, GLuint index,
                          const GLchar *name) {
    real(program, index, name);
    note_setting(program, SettingKind::attribute_location, index, name);
}

void bind_frag_data_location(Real<PFNGLBINDFRAGDATALOCATIONPROC> &real, GLuint program,
                             GLuint color, const GLchar *name) {
    real(program, color, name);
    note_setting(program, SettingKind::fragment_location, color, name);
}

void bind_frag_data_location_indexed(Real<PFNGLBINDFRAGDATALOCATIONINDEXEDPROC> &real,
                                     GLuint program, GLuint color, GLuint index,
                                     const GLchar *name) {
    real(program, color, index, name);
    note_setting(program, SettingKind::fragment_location, uint64_t{index} << 32 | color, name);
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

}  // namespace hooks
}  // namespace cairn::gl
