// A GL context: whose driver it belongs to, what it shares, and whether programs can be cached in it.
// SPDX-License-Identifier: MIT
//
// Thread safety: a context is current on one thread at a time, and only that thread uses the
// Context; the ShareGroup has the state of several contexts. Ownership: counted, see contexts.h.
#pragma once

#include <cairn/cairn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "account.h"
#include "caches.h"
#include "functions.h"
#include "program_memory.h"
#include "share_group.h"

namespace cairn::gl {

namespace record {
class Recording;
}

// The extension that the front end adds to those of a context.
inline constexpr const char *kControlExtension = "GL_ANGLE_program_cache_control";

// What an application asks for when it makes a context, in words of no window system.
struct ContextOptions {
    bool is_es = false;  // OpenGL ES
    // The version matters only through that of the context, which GL_VERSION tells.
    int major = 1;
    int minor = 0;
    uint32_t profile = GL_CONTEXT_CORE_PROFILE_BIT;  // GL_CONTEXT_..._PROFILE_BIT
    uint32_t flags = 0;                              // of those below
    // Attributes that no other member stands for, as bytes. Which of them matter is the driver's
    // secret.
    std::string others = {};

    // The bits of EGL_CONTEXT_FLAGS_KHR and GLX_CONTEXT_FLAGS_ARB, and what others ask for by
    // attributes of their own. Bits of the two words that are not among these move up by 8.
    static constexpr uint32_t kDebug = 1;
    static constexpr uint32_t kForwardCompatible = 2;
    static constexpr uint32_t kRobustAccess = 4;
    static constexpr uint32_t kNoError = 8;
    static constexpr uint32_t kLosesOnReset = 16;
    void add_flag_bits(uint32_t word) { flags |= (word & 7) | (word & ~7u) << 8; }

    // All that may decide how the context compiles, as bytes for the key.
    std::string bytes() const;
    // Desktop contexts from version 3.2 on have the core profile unless they ask for another, and
    // older ones have none; OpenGL ES 1 has nothing in common with its successors.
    bool is_newer_kind() const {
        return is_es ? major >= 2 : major > 3 || (major == 3 && minor >= 2);
    }
};

struct Context {
    // Constant after construction.
    const Driver *driver = nullptr;
    std::shared_ptr<ShareGroup> group;
    ContextOptions options;
    std::string request;                // bytes() of its options
    bool is_newer = false;              // is_newer_kind() of its options
    bool offers_control = false;        // GL_ANGLE_program_cache_control, from version 2 on
    ProgramMemory *programs = nullptr;  // null: nothing is cached in this context

    // Set by describe(), when the application first asks for extensions or other state.
    bool is_described = false;
    bool has_control = false;         // GL_ANGLE_program_cache_control is offered
    bool adds_control = false;        // and the driver does not
    bool numbers_extensions = false;  // GL_NUM_EXTENSIONS, glGetStringi

    // Set by prepare(), when the first call that matters is made in the context.
    bool is_prepared = false;
    bool has_cache = false;  // programs can be looked up and stored
    Key traits = {};         // hash of all that makes this context compile as it does
    uint64_t digest = 0;     // of the same but for the driver, see ProgramParts
    Account *account = &account_of_none();
    Detail no_cache_because = Detail::none;  // where there is none
    cairn_cache *disk = nullptr;
    // `disk`, or null while the application keeps the driver's blobs itself: then programs are in
    // memory only.
    cairn_cache *cache = nullptr;
    std::vector<GLenum> binary_formats;
    PFNGLPROGRAMBINARYPROC program_binary = nullptr;
    PFNGLGETPROGRAMBINARYPROC get_program_binary = nullptr;
    // Null: what is made and drawn in this context is not recorded.
    std::shared_ptr<record::Recording> recording;
    uint64_t window = 0;              // see context_made_current()
    bool has_hint = false;            // GL_PROGRAM_BINARY_RETRIEVABLE_HINT
    GLint attributes_max = 0;         // of vertices
    GLint draw_buffers_max = 0;       // 0: not known
    GLint separate_varyings_max = 0;  // 0: the context has no transform feedback

    std::atomic<unsigned> references = 1;

    const GlFunctions &gl() const { return driver->gl; }
    bool has_format(GLenum format) const {
        return std::ranges::find(binary_formats, format) != binary_formats.end();
    }
    // GL_PROGRAM_CACHE_ENABLED_ANGLE: programs are cached when there is room.
    bool is_enabled() const { return has_cache && group->is_uniform() && is_caching_on(); }
    bool can_cache() const { return is_enabled() && programs->is_on(); }
    // Why it cannot; none: it can.
    Detail why_not() const {
        if (!has_cache) return no_cache_because;
        if (!group->is_uniform()) return Detail::contexts_differ;
        if (!is_caching_on()) return Detail::switched_off;
        return programs->is_on() ? Detail::none : Detail::memory_off;
    }
};

// Finds out whether and how programs can be cached in a context, by questions that its version and
// extensions allow, so that no GL error is made. REQUIRES: it is current on this thread and not
// prepared.
void prepare(Context &context);
// Finds out what the front end has to know of its extensions and state. REQUIRES: it is current on
// this thread.
void describe(Context &context);

// The object of this name in a context, which may be null; null when it is not tracked.
inline ShaderRef find_shader(const Context *context, GLuint name) {
    return context == nullptr ? nullptr : context->group->shader(name);
}
inline ProgramRef find_program(const Context *context, GLuint name) {
    return context == nullptr ? nullptr : context->group->program(name);
}

}  // namespace cairn::gl
