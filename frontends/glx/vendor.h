// The real GLX vendor libraries behind the front end: those that GLVND would have chosen.
// SPDX-License-Identifier: MIT
//
// GLVND starts the front end before it knows of a screen, and asks it for all functions then. Which
// vendor stands behind them is only chosen at the first call about a screen: CAIRN_GLX_VENDOR, or
// else what the screen's server names (GLX_EXT_libglvnd). Before that, GLVND gets the dispatch
// functions of a vendor that is probably the right one; they are the same in all vendors.
//
// Most processes can meet one real vendor only: that of the first screen has all. Where NVIDIA's
// driver is there beside Mesa, each connection gets that of its server: one for all screens.
//
// Thread safety: any thread. Ownership: vendors live as long as the process. Failure: where nothing
// can be found out, GLVND's own fallback is chosen.
#pragma once

#include <string>

#include "functions.inc"
#include "gl/vendor_library.h"
#include "glx.h"

namespace cairn::glx {

// A vendor's GLX functions. Where it has none, a function that does nothing and returns 0.
struct GlxFunctions {
#define X(name, screen) decltype(&glX##name) name = nullptr;
    GLX_FUNCTIONS(X)
#undef X
#define X(name, type, screen) type name = nullptr;
    GLX_EXTENSION_FUNCTIONS(X)
#undef X
};

struct Vendor : gl::Driver {
    std::string name;
    __PFNGLXMAINPROC main = nullptr;
    __GLXapiImports imports = {};
    GlxFunctions glx;

    bool resolve();
};

using Host = gl::Host<__GLXapiExports, __GLXvendorInfo>;

// Starts the vendor of this name, or else one that is probably right. False when there is none.
bool start_probable_vendor(const Host &host, const std::string &wanted);

// Whether each X server has the vendor that is its own. False: the first one's has all.
bool has_several_vendors();

// The vendor for a screen, or for the default screen of a display: chosen at the first of these
// calls for the connection, and the same for all that follow.
const Vendor &vendor_of_screen(Display *display, int screen);
const Vendor &vendor_of_display(Display *display);
// With several vendors: whether this connection, which has had a vendor, is still open.
bool is_open(const Display *display);
// The vendor of the thread's current context; where it has had none, the first that was chosen, or
// the probable one.
const Vendor &vendor();

// The function of a vendor that was started, or null.
void *vendor_function(const char *name);
// A vendor's dispatch function, or null.
void *dispatch_function(const GLubyte *name);
// GLVND has given a function of GLX this number.
void set_dispatch_index(const GLubyte *function_name, int index);

}  // namespace cairn::glx
