// GLX's functions, and connections to an X server.
// SPDX-License-Identifier: MIT
//
// Thread safety: the functions are constant after load_window_system(). A Connection is used by all
// threads: libX11 locks it.
#pragma once

#include <GL/glx.h>
// After glx.h, which it completes.
#include <GL/glxext.h>

// X(name)
#define CLIENT_GLX_FUNCTIONS(X) \
    X(ChooseFBConfig)           \
    X(CopyContext)              \
    X(CreateContext)            \
    X(CreateNewContext)         \
    X(CreatePbuffer)            \
    X(DestroyContext)           \
    X(DestroyPbuffer)           \
    X(GetCurrentContext)        \
    X(GetClientString)          \
    X(GetProcAddressARB)        \
    X(GetVisualFromFBConfig)    \
    X(IsDirect)                 \
    X(MakeContextCurrent)       \
    X(MakeCurrent)              \
    X(QueryExtension)           \
    X(QueryExtensionsString)    \
    X(QueryServerString)

namespace client {

struct Glx {
#define X(name) decltype(&::glX##name) name = nullptr;
    CLIENT_GLX_FUNCTIONS(X)
#undef X
    PFNGLXCREATECONTEXTATTRIBSARBPROC CreateContextAttribsARB = nullptr;
};

extern Glx glx;

// To an X server, with what all its contexts have in common.
struct Connection {
    // Null: to that of DISPLAY.
    explicit Connection(const char *server = nullptr);
    ~Connection();
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    Display *display = nullptr;
    GLXFBConfig config = nullptr;
};

// The one that open_display() makes.
Connection &connection();

struct NativeContext {
    // With a drawable of its own.
    NativeContext(Connection &where, GLXContext made);
    ~NativeContext();
    NativeContext(const NativeContext &) = delete;
    NativeContext &operator=(const NativeContext &) = delete;

    Connection &on;
    GLXContext handle;
    GLXPbuffer drawable;
};

}  // namespace client
