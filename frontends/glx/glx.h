// GLX as applications and GLVND see it, without those macros of X11 that have common names.
// SPDX-License-Identifier: MIT
#pragma once

#include <GL/glx.h>
#include <GL/glxext.h>
#include <glvnd/libglxabi.h>

// Mesa's, which no header has.
using GetScreenDriverProc = const char *(*)(Display *, int);

#undef Always
#undef Status
#undef Success
