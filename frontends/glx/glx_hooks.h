// The front end's functions of GLX: those that follow contexts, and for all others that GLVND needs
// one that finds the vendor.
// SPDX-License-Identifier: MIT
#pragma once

namespace cairn::glx {

// Our function for this "glX..." name, or null where the vendor's own is used.
void *glx_function(const char *name);

}  // namespace cairn::glx
