// EGL's functions, and its display without windows.
// SPDX-License-Identifier: MIT
//
// Thread safety: constant after load_window_system().
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>

// X(name)
#define CLIENT_EGL_FUNCTIONS(X) \
    X(BindAPI)                  \
    X(CreateContext)            \
    X(DestroyContext)           \
    X(GetCurrentContext)        \
    X(GetError)                 \
    X(GetPlatformDisplay)       \
    X(GetProcAddress)           \
    X(Initialize)               \
    X(MakeCurrent)              \
    X(QueryString)              \
    X(ReleaseThread)            \
    X(Terminate)

namespace client {

struct Egl {
#define X(name) decltype(&::egl##name) name = nullptr;
    CLIENT_EGL_FUNCTIONS(X)
#undef X
};

extern Egl egl;

EGLDisplay display();

struct NativeContext {
    EGLContext handle = EGL_NO_CONTEXT;
};

}  // namespace client
