// What the types of GLSL's uniforms mean to a state.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread. Failure: none.
#pragma once

#include "gl/functions.h"

namespace cairn::gl::record {

// The target that a uniform of this type reads from; 0: it is no sampler.
GLenum target_of_sampler(GLenum type);
bool is_image(GLenum type);
// How many locations an attribute of this type takes.
GLuint locations_of(GLenum type);

}  // namespace cairn::gl::record
