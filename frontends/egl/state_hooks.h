// The hooks for a context's extensions and state: GL_ANGLE_program_cache_control and its one value.
// SPDX-License-Identifier: MIT
//
// Templates over the vendor's function, as in shader_hooks.h. Every hook passes a call through when
// no context is current, or none that could have programs.
#pragma once

#include <cairn/eglext_cairn.h>

#include "context.h"
#include "words.h"

namespace cairn::egl {

// The context that offers the extension, described; or null.
Context *control_context();

// GL_PROGRAM_CACHE_ENABLED_ANGLE. REQUIRES: a context is current.
bool is_cache_enabled();

// Its answer to glGetString(GL_EXTENSIONS), from the driver's.
const GLubyte *extensions_of_context(const Context &context, const GLubyte *of_driver);

// How many extensions the driver has now; 0 where they have no numbers, or the name is its own.
GLint count_before_ours(const Context *context);

// glBlobCacheCallbacksANGLE was called in the current context.
void note_own_blobs(bool has_own);

template <auto Real>
const GLubyte *get_string(GLenum name) {
    const GLubyte *text = (current_gl().*Real)(name);
    const Context *context = name == GL_EXTENSIONS && text != nullptr ? control_context() : nullptr;
    return context == nullptr ? text : extensions_of_context(*context, text);
}

template <auto Real>
const GLubyte *get_string_i(GLenum name, GLuint index) {
    if (name == GL_EXTENSIONS) {
        const GLint count = count_before_ours(control_context());
        if (count > 0 && index == static_cast<GLuint>(count)) {
            return reinterpret_cast<const GLubyte *>(kControlExtension);
        }
    }
    return (current_gl().*Real)(name, index);
}

template <auto Real>
GLboolean is_enabled(GLenum name) {
    if (name == GL_PROGRAM_CACHE_ENABLED_ANGLE && control_context() != nullptr) {
        return is_cache_enabled() ? GL_TRUE : GL_FALSE;
    }
    return (current_gl().*Real)(name);
}

// glGetBooleanv and its like.
template <auto Real, typename T>
void get_state(GLenum name, T *values) {
    const bool is_count = name == GL_NUM_EXTENSIONS;
    const bool is_ours = name == GL_PROGRAM_CACHE_ENABLED_ANGLE;
    const Context *context = is_count || is_ours ? control_context() : nullptr;
    if (context == nullptr || values == nullptr || !is_ours) {
        (current_gl().*Real)(name, values);
    } else {
        *values = static_cast<T>(is_cache_enabled() ? 1 : 0);
    }
    // A boolean says only whether there are any.
    const GLint count = values != nullptr && is_count ? count_before_ours(context) : 0;
    if (count > 0) {
        *values = static_cast<T>(sizeof(T) == sizeof(GLboolean) ? 1 : count + 1);
    }
}

template <auto Real>
void get_boolean_v(GLenum name, GLboolean *values) {
    get_state<Real>(name, values);
}
template <auto Real>
void get_double_v(GLenum name, GLdouble *values) {
    get_state<Real>(name, values);
}
template <auto Real>
void get_float_v(GLenum name, GLfloat *values) {
    get_state<Real>(name, values);
}
template <auto Real>
void get_integer_v(GLenum name, GLint *values) {
    get_state<Real>(name, values);
}
template <auto Real>
void get_integer64_v(GLenum name, GLint64 *values) {
    get_state<Real>(name, values);
}

// The driver judges the call: both functions or none.
template <auto Real>
void blob_cache_callbacks(BlobSetFunction set, BlobGetFunction get, const void *user) {
    (current_gl().*Real)(set, get, user);
    if ((set == nullptr) == (get == nullptr)) {
        note_own_blobs(set != nullptr);
    }
}

}  // namespace cairn::egl
