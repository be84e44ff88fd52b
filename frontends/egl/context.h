// An EGL context: which vendor it belongs to, what it shares, and whether programs can be cached in
// it.
// SPDX-License-Identifier: MIT
//
// Thread safety: the registry locks itself. EGL makes a context current on one thread at a time,
// and only that thread uses the Context; the ShareGroup has the state of several contexts.
// Ownership: counted: one for the registry until eglDestroyContext, one for the thread that it is
// current on.
#pragma once

#include <cairn/cairn.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "caches.h"
#include "display_cache.h"
#include "share_group.h"
#include "vendors.h"

namespace cairn::egl {

// The extension that the front end adds to those of a context.
inline constexpr const char *kControlExtension = "GL_ANGLE_program_cache_control";

struct Context {
    // Constant after construction.
    Vendor *vendor = nullptr;
    std::shared_ptr<ShareGroup> group;
    std::string request;    // what eglCreateContext was asked for, as bytes for the key
    bool is_newer = false;  // of the kind that the version asked for decides: see is_newer_kind()
    DisplayCache *programs = nullptr;  // of its display; null: nothing is cached in this context

    // Set by describe(), when the application first asks for extensions or other state.
    bool is_described = false;
    bool has_control = false;         // GL_ANGLE_program_cache_control is offered
    bool adds_control = false;        // and the driver does not
    bool numbers_extensions = false;  // GL_NUM_EXTENSIONS, glGetStringi

    // Set by prepare(), when the first call that matters is made in the context.
    bool is_prepared = false;
    bool has_cache = false;  // programs can be looked up and stored
    Key traits = {};         // hash of all that makes this context compile as it does
    cairn_cache *disk = nullptr;
    // `disk`, or null while the application keeps the driver's blobs itself: then only the
    // display's cache has programs.
    cairn_cache *cache = nullptr;
    std::vector<GLenum> binary_formats;
    PFNGLPROGRAMBINARYPROC program_binary = nullptr;
    PFNGLGETPROGRAMBINARYPROC get_program_binary = nullptr;
    bool has_hint = false;            // GL_PROGRAM_BINARY_RETRIEVABLE_HINT
    GLint attributes_max = 0;         // of vertices
    GLint draw_buffers_max = 0;       // 0: not known
    GLint separate_varyings_max = 0;  // 0: the context has no transform feedback

    std::atomic<unsigned> references = 1;

    const GlFunctions &gl() const { return vendor->gl; }
    bool has_format(GLenum format) const {
        return std::ranges::find(binary_formats, format) != binary_formats.end();
    }
    // GL_PROGRAM_CACHE_ENABLED_ANGLE: programs are cached when the display has room.
    bool is_enabled() const { return has_cache && group->is_uniform() && is_caching_on(); }
    bool can_cache() const { return is_enabled() && programs->is_on(); }
};

// Finds out whether and how programs can be cached in a context, by questions that its version and
// extensions allow, so that no GL error is made. REQUIRES: it is current on this thread and not
// prepared.
void prepare(Context &context);
// Finds out what the front end has to know of its extensions and state. REQUIRES: it is current on
// this thread.
void describe(Context &context);

// The context that is current on this thread, ready for use; null when there is none.
Context *current_context();

// The functions of the current context's vendor; of the first vendor when no context is current.
const GlFunctions &current_gl();

// The current context, not made ready: for questions about the context itself.
Context *bound_context();

// The object of this name in a context, which may be null; null when it is not tracked.
inline ShaderRef find_shader(const Context *context, GLuint name) {
    return context == nullptr ? nullptr : context->group->shader(name);
}
inline ProgramRef find_program(const Context *context, GLuint name) {
    return context == nullptr ? nullptr : context->group->program(name);
}

// To be called when EGL has made a context, and made one current. `attributes` is the list that
// ends in EGL_NONE, or null; `programs` is the display's cache, or null where this context shall
// cache no programs.
void context_created(Vendor &vendor, EGLDisplay display, EGLContext handle, EGLContext share,
                     EGLenum api, const EGLint *attributes, DisplayCache *programs);
// `handle` is EGL_NO_CONTEXT when nothing is current any more.
void context_made_current(Vendor &vendor, EGLDisplay display, EGLContext handle);

// To be called before and after eglDestroyContext. When EGL returns, another thread may already
// have made a new context of the same handle, which must stay. It is told from the older one by its
// address, as long as that one is held. Null where EGL will refuse the handle.
Context *hold_context(EGLDisplay display, EGLContext handle);
void context_left(EGLDisplay display, EGLContext handle, Context *held, bool was_destroyed);

// The vendor whose context is current on this thread, or null.
Vendor *current_vendor();

}  // namespace cairn::egl
