// What an X server says of the GLX vendors for its screens, and when a connection to it ends.
// SPDX-License-Identifier: MIT
//
// The question goes through the application's own connection, by functions of the libX11 that made
// it: the front end has neither a connection nor a libX11.
//
// Thread safety: as the display's. Failure: no names, and false.
#pragma once

#include <string>
#include <vector>

struct _XDisplay;

namespace cairn::glx {

// The names of GLX_VENDOR_NAMES_EXT, best first; empty where the server does not have
// GLX_EXT_libglvnd on each of its screens, as GLVND wants it.
std::vector<std::string> vendor_names(_XDisplay *display, int screen);

// Has `ended` called when the application closes this connection; it is the same function in all
// calls. False where that cannot be done.
bool tell_of_end(_XDisplay *display, void (*ended)(_XDisplay *));

}  // namespace cairn::glx
