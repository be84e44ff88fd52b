// What is known of one program object: everything set before a link that can change its result, and
// the link's log.
// SPDX-License-Identifier: MIT
//
// Settings are kept as the list of calls that made them rather than as their effect. Which calls
// the driver refused need then not be known: the same calls in the same order have the same effect.
// A call that the driver is certain to accept leaves nothing of the calls before it that set the
// same, so these leave the list; it leaves the list itself when a new program has what it sets.
// Calls of different kinds, and those about different names or parameters, do not meet: whether one
// is refused, and what it does, is the same in any order. So the list is kept by kind and subject,
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

#include <memory>
#include <optional>
#include <vector>

#include "mutex.h"
#include "requests.h"

namespace cairn::egl {

struct Context;

struct Program {
    explicit Program(GLuint program_name) : name(program_name) {}

    // Constant after construction.
    const GLuint name;

    enum class Effect {
        uncertain,  // the driver may refuse the call
        replaces,   // it sets its target, whatever was set before
        resets,     // the same, and a new program has its target set so
    };

    Mutex mutex;
    // Guarded by mutex.
    std::vector<Call> settings;
    bool is_understood = true;  // false: every link goes to the driver
    bool is_separable = false;  // was, at some time
    bool was_linked = false;    // successfully, or by a binary: it may be in use
    GLint hint = GL_FALSE;      // GL_PROGRAM_BINARY_RETRIEVABLE_HINT for the next link
    // What the driver would say after a link that was a hit; nothing where it does say so.
    std::optional<Report> cached_report;
    std::optional<GLint> cached_hint;

    // Guarded by the share group's mutex.
    bool is_deleted = false;  // by the application; lives on while it is in use

    // REQUIRES: mutex is held.
    const Report *kept_report() const { return cached_report ? &*cached_report : nullptr; }
    void add_setting(Call call, Effect effect);
    // From now on the driver's answers are right, because it has linked the program itself.
    void forget_cached_link();
};

using ProgramRef = std::shared_ptr<Program>;

// glLinkProgram of a program that is tracked, by the driver's function `link`.
void link_program(Context &context, Program &program, Real<void (*)(GLuint)> &link);

// What has to be done before the driver links a program that is not tracked: its shaders may be,
// and may have been put off.
void compile_attached(Context &context, GLuint program);

// A program that the driver has made and linked in one call: links of it again are the driver's.
void note_shader_program(Context &context, GLuint name);

// glCreateShaderProgramv by the driver's function `create`. Returns the name, 0 when the driver
// refused.
GLuint create_shader_program(Context &context, Real<PFNGLCREATESHADERPROGRAMVPROC> &create,
                             GLenum type, GLsizei count, const GLchar *const *sources);

}  // namespace cairn::egl
