// The front end's functions of GLX: those that follow contexts, and for all others that GLVND needs
// one that finds the vendor.
// SPDX-License-Identifier: MIT
#pragma once

namespace cairn::glx {

// The function to use for this "glX..." name, or null where no vendor has one.
void *glx_function(const char *name);

}  // namespace cairn::glx
