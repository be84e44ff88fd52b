// One shader object: whether the driver has compiled it, and which source.
// SPDX-License-Identifier: MIT
//
// An application's source stays here until the driver needs it: a shader whose compile the cache
// answers never gives it any. After such a compile the shader is *deferred*; code that needs the
// compiled shader calls force_compile() first.
//
// Thread safety: `mutex` guards everything but the constants; the functions below take it
// themselves.
// Ownership: shared by the share group's table and by links in progress.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mutex.h"
#include "requests.h"

namespace cairn::gl {

struct Context;

// What glShaderSource was given.
struct Source {
    Key hash = {};     // of the text, and of how it is divided
    std::string text;  // all strings in a row; empty once the driver has it
    // The strings, as the application gave them: drivers count lines in each of them.
    std::vector<const GLchar *> strings;
    std::vector<GLint> sizes;
    uint64_t hash_ns = 0;   // that it took to take it
    std::string beginning;  // of the text, where the user wants it kept
};
using SourceRef = std::shared_ptr<Source>;

struct Shader {
    enum class State {
        untouched,  // never compiled; or compiled in a way that is not understood: only the driver
                    // knows
        deferred,   // known to compile, the driver has not been asked
        compiled,   // the driver has compiled it, and `key` names what
        failed,     // the driver has refused it
    };

    Shader(GLuint shader_name, GLenum shader_type) : name(shader_name), type(shader_type) {}

    // Constant after construction.
    const GLuint name;
    const GLenum type;

    Mutex mutex;
    // Guarded by mutex.
    State state = State::untouched;
    bool may_include = false;  // the last compile may have read named strings: it is untouched then
    bool is_binary = false;    // was given SPIR-V or another binary: never deferred again
    Key key = {};              // of the last compile; valid when deferred or compiled
    Key source_hash = {};      // of the source of that
    SourceRef source;          // the present one; null: only the driver has it
    SourceRef compiled;        // that of the last compile, while deferred
    SourceRef driver_source;   // the last of these that the driver was given; null: it has another
    Report report;             // what the driver would say, while deferred
    uint64_t compile_ns = 0;   // that the driver took, when it compiled
    uint64_t lookup_ns = 0;    // that answering from the cache took, when deferred
    uint64_t unaccounted_ns = 0;  // of compile_ns, what no link has been accounted with
    std::string beginning;        // of the source of the last compile, where it is kept

    void note_compile_ns(uint64_t spent_ns) {
        compile_ns = spent_ns;
        unaccounted_ns += spent_ns;
    }
    // The driver does not have the present source. REQUIRES: mutex is held.
    bool keeps_source() const { return source != nullptr && source != driver_source; }
    // The report that the driver does not have; null where it has one. REQUIRES: mutex is held.
    const Report *kept_report() const { return state == State::deferred ? &report : nullptr; }
};

using ShaderRef = std::shared_ptr<Shader>;

// Whether a source has a directive that includes another (GL_ARB_shading_language_include), so that
// the driver compiles more than this source. In doubt, yes.
bool may_include_others(std::string_view source);

// The same as glShaderSource would take it; null where the driver may have to judge it.
SourceRef source_of(std::span<const GLchar *const> strings);

// glShaderSource of a shader that is tracked, by the driver's function `give` where the source is
// not taken.
void take_source(Context &context, Shader &shader, Real<PFNGLSHADERSOURCEPROC> &give, GLsizei count,
                 const GLchar *const *strings, const GLint *sizes);

// Gives the driver the present source, if it has another. REQUIRES: the shader is locked, and not
// deferred with another source.
void give_source(const Context &context, Shader &shader);

// glCompileShader of a shader that is tracked, by the driver's function `compile`.
void compile_shader(Context &context, Shader &shader, Real<void (*)(GLuint)> &compile);

// Makes the driver compile a deferred shader. Afterwards the driver's state is as it would be
// without the front end, but for a source that the application has set since.
void force_compile(Context &context, Shader &shader);

}  // namespace cairn::gl
