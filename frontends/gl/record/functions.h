// A driver's functions while a front end records: see functions.inc.
// SPDX-License-Identifier: MIT
//
// Thread safety, ownership: as gl/functions.h.
#pragma once

#include "gl/functions.h"
#include "record/functions.inc"

// Of OpenGL ES only, whose headers a build of the front ends does not ask for.
extern "C" {
void glFramebufferTexture2DMultisampleEXT(GLenum target, GLenum attachment, GLenum textarget,
                                          GLuint texture, GLint level, GLsizei samples);
}

namespace cairn::gl::record {

// Where the driver has none, a function that does nothing and returns 0.
struct Functions {
#define X(name, like, ...) decltype(&::gl##like) name = nullptr;
    RECORD_FUNCTIONS(X, X, X, X)
#undef X
};

// `find` gives the driver's function of a name, or null.
const Functions *functions_of(void *(*find)(const char *name));

// Our function to use in place of the driver's while the front end records; null for those that need
// none.
void *hook_of(const char *name);

}  // namespace cairn::gl::record
