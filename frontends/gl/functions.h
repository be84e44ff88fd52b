// A driver's GL functions, as the front end calls them.
// SPDX-License-Identifier: MIT
//
// Thread safety: constant once a front end has filled them. Ownership: drivers live as long as the
// process.
#pragma once

#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>

#include "functions.inc"

namespace cairn::gl {

// Types that glext.h leaves out, because the functions are as old as OpenGL 1.
using PFNGLGETINTEGERVPROC = void (*)(GLenum name, GLint *values);
using PFNGLGETBOOLEANVPROC = void (*)(GLenum name, GLboolean *values);
using PFNGLGETDOUBLEVPROC = void (*)(GLenum name, GLdouble *values);
using PFNGLGETFLOATVPROC = void (*)(GLenum name, GLfloat *values);
using PFNGLISENABLEDPROC = GLboolean (*)(GLenum name);
using PFNGLGETSTRINGPROC = const GLubyte *(*)(GLenum name);

// Of GL_ANGLE_blob_cache, which it does not know.
using BlobSetFunction = void (*)(const void *key, GLsizeiptr key_size, const void *value,
                                 GLsizeiptr value_size, const void *user);
using BlobGetFunction = GLsizeiptr (*)(const void *key, GLsizeiptr key_size, void *value,
                                       GLsizeiptr value_size, const void *user);
using PFNGLBLOBCACHECALLBACKSANGLEPROC = void (*)(BlobSetFunction set, BlobGetFunction get,
                                                  const void *user);

// No driver has it: which cache the programs of the context that is current go to, as `cairn ls` calls
// it. Copies as much of the identifier as there is room for, and a zero; returns its size without
// that, or 0 where there is no cache. For the player of `cairn warm`.
using PFNGLGETPROGRAMCACHEIDENTIFIERCAIRNPROC = GLsizei (*)(GLsizei capacity, GLchar *identifier);

// Where the driver has none, a function that does nothing and returns 0.
struct GlFunctions {
#define X(name, type, ...) type name = nullptr;
    GL_FUNCTIONS(X, X)
#undef X
};

namespace record {
struct Functions;
}

struct Driver {
    GlFunctions gl;
    const record::Functions *recorded = nullptr;  // null: the front end does not record
    const void *code = nullptr;                   // an address in its library
    // The function of a name, or null.
    void *(*find)(const char *name) = nullptr;
    unsigned table = 0;  // see slots.h
};

// The function, or one that stands for it where it is null.
void *or_missing(void *function);
// Whether `function` only stands for a function that the driver does not have.
bool is_missing(const void *function);

// Fills in all functions; `find` gives the driver's function of a name, or null.
template <typename Find>
void fill(GlFunctions &gl, Find find) {
#define X(name, type, ...) gl.name = reinterpret_cast<type>(or_missing(find("gl" #name)));
    GL_FUNCTIONS(X, X)
#undef X
}

}  // namespace cairn::gl
