// The GL entry points that the front end stands in front of: those that change or observe what it
// keeps back, and those that tell of what it adds.
// SPDX-License-Identifier: MIT
//
// Not among them, because the driver's own state is always right for them: glShaderSource (the
// source is read back when it is compiled), glAttachShader and glDetachShader (the driver is asked
// at the link), glUseProgram, and everything about uniforms, attributes and blocks.
#pragma once

namespace cairn::egl {

// Our function to use in place of the vendor's for this "gl..." name; null for those that need
// none.
void *gl_hook(const char *name);

}  // namespace cairn::egl
