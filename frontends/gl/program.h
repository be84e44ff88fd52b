// One program object: everything set before a link that can change its result, and the link's log.
// SPDX-License-Identifier: MIT
//
// A program keeps its settings as the list of calls that made them, not as their effect. So it need
// not know which calls the driver refused: the same calls in the same order have the same effect.
//
// - A call that the driver is certain to accept replaces the calls before it that set the same. If
//   it sets what a new program has, it leaves the list, too.
// - Calls of different kinds, or about different names or parameters, have the same effect in any
//   order. So the list is sorted by kind and subject, and by time only among calls about the same
//   subject: Chromium makes its calls in another order in each process.
// - A call that is repeated moves behind the others about its subject, which does not change the
//   effect.
//
// Invariant: `settings` holds all that can change a link, or `is_understood` is false. A binary may
// bring bindings and varyings along. A binary from the cache was made under the settings by which
// it is found, so it brings nothing new; a binary of the application may bring anything.
//
// Thread safety: `mutex` guards everything but the constants. Ownership: the share group's table
// and links in progress.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "history/outcome.h"
#include "mutex.h"
#include "requests.h"

namespace cairn::gl {

struct Context;

struct Program {
    explicit Program(GLuint program_name) : name(program_name) {}

    // Constant after construction.
    const GLuint name;

    Mutex mutex;
    // Guarded by mutex.
    std::vector<Call> settings;
    bool is_understood = true;  // false: every link goes to the driver
    bool is_separable = false;  // was, at some time
    bool was_linked = false;    // successfully, or by a binary: it may be in use
    GLint hint = GL_FALSE;      // GL_PROGRAM_BINARY_RETRIEVABLE_HINT for the next link
    // After a link that was a hit: the answers of a linked driver, where this one gives others.
    std::optional<Report> cached_report;
    std::optional<GLint> cached_hint;

    // REQUIRES: mutex is held.
    const Report *kept_report() const { return cached_report ? &*cached_report : nullptr; }
    // From now on the driver's answers are right, because it has linked the program itself.
    void forget_cached_link() {
        cached_report.reset();
        cached_hint.reset();
    }
};

using ProgramRef = std::shared_ptr<Program>;

// glLinkProgram of a program that is tracked, by a binary from the cache, or else by the driver's
// function `link`, whose result is stored where the link is of a kind that is cached.
void link_tracked(Context &context, Program &program, Real<void (*)(GLuint)> &link);

// The same for glCreateShaderProgramv. Returns the name, 0 when the driver refused, or nothing for
// a program of a kind that is not cached: then `why_not` says why.
std::optional<GLuint> create_cached(Context &context, Real<PFNGLCREATESHADERPROGRAMVPROC> &create,
                                    GLenum type, GLsizei count, const GLchar *const *sources,
                                    Detail &why_not);

// Counts a link that is not answered from the cache and not stored. `context` may be null.
void count_bypassed(Context *context, Detail why, uint64_t spent_ns);

// Compiles deferred shaders before the driver links a program itself.
void compile_attached(Context &context, GLuint program);

// To be called for a program that the driver has made and linked in one call. Later links of it go
// to the driver.
ProgramRef note_shader_program(Context &context, GLuint name);

}  // namespace cairn::gl
