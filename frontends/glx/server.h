// What an X server says of the GLX vendors for its screens.
// SPDX-License-Identifier: MIT
//
// The question goes through the application's own connection, by functions of the libX11 that made
// it: the front end has neither a connection nor a libX11.
//
// Thread safety: as the display's. Failure: no names.
#pragma once

#include <string>
#include <vector>

struct _XDisplay;

namespace cairn::glx {

// The names of GLX_VENDOR_NAMES_EXT, best first; empty where the server does not have
// GLX_EXT_libglvnd on each of its screens, as GLVND wants it.
std::vector<std::string> vendor_names(_XDisplay *display, int screen);

}  // namespace cairn::glx
