// The real GLX vendor libraries behind the front end: those that GLVND would have chosen.
// SPDX-License-Identifier: MIT
//
// GLVND starts the front end before it knows of a screen, and asks it for all functions then. Which
// vendor stands behind them is only chosen at the first call about a screen: CAIRN_GLX_VENDOR, or
// else what the screen's server names (GLX_EXT_libglvnd). Before that, GLVND gets the dispatch
// functions of Mesa, if it is there: they are the same in all vendors.
//
// Most processes can meet one real vendor only: that of the first screen has all. Where NVIDIA's
// driver is there beside Mesa, each connection gets that of its server: one for all screens.
//
// Thread safety: any thread. Ownership: vendors live as long as the process. Failure: where nothing
// can be found out, GLVND's own fallback is chosen.
#pragma once

#include <cstdint>
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

// Starts the vendor of this name, or else, unless `only_wanted`, one that is probably right. False
// when there is none.
bool start_probable_vendor(const Host &host, const std::string &wanted, bool only_wanted);

// Whether each X server has the vendor that is its own. False: the first one's has all.
bool has_several_vendors();

// The vendor for a screen, or for the default screen of a display: chosen at the first of these
// calls for the connection, and the same for all that follow.
const Vendor &vendor_of_screen(Display *display, int screen);
const Vendor &vendor_of_display(Display *display);
// GLVND goes by the context where a call has one, so that the display may be closed, or null. Null
// for the context: the vendor of the one that is current.
const Vendor &vendor_of_context(Display *display, GLXContext context);
// With several vendors: a number of the connection while it is open, which no other one has. 0: it
// is closed, or has had no vendor.
uint64_t number_of(const Display *display);
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
