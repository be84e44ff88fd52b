// The real GLX vendor library behind the front end: the one that GLVND would have chosen.
// SPDX-License-Identifier: MIT
//
// GLVND starts the front end before it knows of a screen, and asks it for all functions then. Which
// vendor stands behind them is only chosen at the first call about a screen: CAIRN_GLX_VENDOR, or
// else what the screen's server names (GLX_EXT_libglvnd). Before that, GLVND gets the dispatch
// functions of a vendor that is probably the right one; they are the same in all vendors.
//
// A process has one real vendor. An application with screens of several vendors has that of the
// first screen on all of them, as with __GLX_VENDOR_LIBRARY_NAME.
//
// Thread safety: any thread. Ownership: vendors live as long as the process. Failure: where nothing
// can be found out, GLVND's own fallback is chosen.
#pragma once

#include <string>

#include "functions.inc"
#include "gl/functions.h"
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

    // The vendor's function, or null.
    void *function(const char *function_name) const {
        return imports.getProcAddress(reinterpret_cast<const GLubyte *>(function_name));
    }
};

// The arguments of __glx_Main.
struct Host {
    uint32_t version = 0;
    const __GLXapiExports *exports = nullptr;
    __GLXvendorInfo *self = nullptr;
};

// Starts the vendor of this name, or else one that is probably right. False when there is none.
bool start_probable_vendor(const Host &host, const std::string &wanted);

// The vendor for a screen, or for the default screen of a display, or for the calls of a thread
// with a context: chosen at the first of these calls, and the same for all that follow.
Vendor &vendor_of_screen(Display *display, int screen);
Vendor &vendor_of_display(Display *display);
// The vendor that was chosen; before that, the probable one.
Vendor &vendor();

// GLVND has given a function of GLX this number.
void set_dispatch_index(const GLubyte *function_name, int index);

}  // namespace cairn::glx
