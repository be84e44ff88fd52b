// What is known of one program object: everything set before a link that can change its result, and
// the link's log. SPDX-License-Identifier: MIT
//
// Settings are kept as the list of calls that made them rather than as their effect. Which calls
// the driver refused need then not be known: the same calls in the same order have the same effect.
// Calls of different kinds, and those that give a location to different names, do not meet: whether
// one is refused, and what it does, is the same in any order. So the list is kept by kind and name,
// and by time only among calls of the same: Chromium, for one, makes them in another order in each
// process. A call that is repeated moves behind those that it meets, which leaves the effect as it
// is.
//
// What must stay true: all that can change a link is in `settings`, or `is_understood` is false. A
// binary may bring bindings and varyings along. One from the cache was made under the very settings
// that it is found by, so it brings nothing new; one that the application gives may bring anything.
//
// Thread safety: `mutex` guards everything but the constants. Ownership: the share group's table
// and links in progress.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mutex.h"
#include "vendors.h"

namespace cairn::egl {

struct Context;

// Kinds of settings; the numbers are part of the key.
enum class Setting : uint32_t {
    attribute_location = 1,
    fragment_location = 2,
    transform_feedback = 3,
    parameter = 4,
};

struct Program {
    explicit Program(GLuint program_name) : name(program_name) {}

    // Constant after construction.
    const GLuint name;

    Mutex mutex;
    // Guarded by mutex.
    struct Call {
        Setting setting;
        std::string subject;  // the name that is given a location, without "[0]"; else empty
        std::string arguments;
        bool operator==(const Call &) const = default;
    };
    std::vector<Call> settings;
    bool is_understood = true;    // false: every link goes to the driver
    bool is_separable = false;    // was, at some time
    bool was_linked = false;      // successfully, or by a binary: it may be in use
    bool has_cached_log = false;  // the last link was a hit: its log is `log`, not the driver's
    std::string log;
    GLint log_length = 0;
    bool has_hint = false;  // the application has set GL_PROGRAM_BINARY_RETRIEVABLE_HINT, to `hint`
    GLint hint = 0;
    bool has_cached_hint = false;  // the last link was a hit: the driver's hint is not what it
                                   // would be, `cached_hint` is
    GLint cached_hint = 0;

    // Guarded by the share group's mutex.
    bool is_deleted = false;  // by the application; lives on while it is in use

    // REQUIRES: mutex is held.
    void add_setting(Setting setting, std::string subject, std::string arguments);
    // From now on the driver's answers are right, because it has linked the program itself.
    void forget_cached_link();
};

using ProgramRef = std::shared_ptr<Program>;

inline GLint program_value(const GlFunctions &gl, GLuint program, GLenum name) {
    GLint value = 0;
    gl.GetProgramiv(program, name, &value);
    return value;
}

// glLinkProgram of a program that is tracked, by the driver's function `link`.
void link_program(Context &context, Program &program, void (*link)(GLuint));

// What has to be done before the driver links a program that is not tracked: its shaders may be,
// and may have been put off.
void compile_attached(Context &context, GLuint program);

// glCreateShaderProgramv by the driver's function `create`. Returns the name, 0 when the driver
// refused.
GLuint create_shader_program(Context &context, PFNGLCREATESHADERPROGRAMVPROC create, GLenum type,
                             GLsizei count, const GLchar *const *sources);

}  // namespace cairn::egl
