// SPDX-License-Identifier: MIT
#include "glx.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "library.h"
#include "scene.h"
#include "window_system.h"

namespace client {

Glx glx;

namespace {

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

std::unique_ptr<Connection> &the_connection() {
    static std::unique_ptr<Connection> one;
    return one;
}

GLXContext create(Connection &on, Api api, GLXContext share) {
    if (api == Api::plain) {
        return glx.CreateNewContext(on.display, on.config, GLX_RGBA_TYPE, share, True);
    }
    const bool desktop = api == Api::core || api == Api::compatibility;
    const int profile = api == Api::core            ? GLX_CONTEXT_CORE_PROFILE_BIT_ARB
                        : api == Api::compatibility ? GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT_ARB
                                                    : GLX_CONTEXT_ES_PROFILE_BIT_EXT;
    const int attributes[] = {GLX_CONTEXT_MAJOR_VERSION_ARB,
                              desktop ? 4 : (api == Api::es2 ? 2 : 3),
                              GLX_CONTEXT_MINOR_VERSION_ARB,
                              desktop ? 5 : (api == Api::es2 ? 0 : 2),
                              GLX_CONTEXT_PROFILE_MASK_ARB,
                              profile,
                              GLX_CONTEXT_FLAGS_ARB,
                              api == Api::es3_debug ? GLX_CONTEXT_DEBUG_BIT_ARB : 0,
                              None};
    return glx.CreateContextAttribsARB(on.display, on.config, share, True, attributes);
}

}  // namespace

void load_window_system() {
    XInitThreads();
#ifdef CLIENT_LINKED
#define X(name) glx.name = &::glX##name;
#else
    void *library = open_library("libGL.so.1");
#define X(name) find(library, "glX" #name, glx.name);
#endif
    CLIENT_GLX_FUNCTIONS(X)
#undef X
    glx.CreateContextAttribsARB = reinterpret_cast<PFNGLXCREATECONTEXTATTRIBSARBPROC>(
        proc_address("glXCreateContextAttribsARB"));
}

Connection::Connection(const char *server) : display(XOpenDisplay(server)) {
    if (display == nullptr) {
        give_up("no X server");
    }
    constexpr int kAttributes[] = {GLX_DRAWABLE_TYPE,
                                   GLX_WINDOW_BIT | GLX_PBUFFER_BIT,
                                   GLX_RENDER_TYPE,
                                   GLX_RGBA_BIT,
                                   GLX_RED_SIZE,
                                   8,
                                   GLX_DOUBLEBUFFER,
                                   True,
                                   None};
    int count = 0;
    GLXFBConfig *found = glx.ChooseFBConfig(display, DefaultScreen(display), kAttributes, &count);
    if (found == nullptr || count == 0) {
        give_up("no configuration");
    }
    config = found[0];
    XFree(found);
}

Connection::~Connection() {
    XCloseDisplay(display);
}

Connection &connection() {
    static std::once_flag once;
    std::call_once(once, [] { the_connection() = std::make_unique<Connection>(); });
    return *the_connection();
}

void open_display() {
    connection();
}

void close_display() {
    the_connection().reset();
}

void *proc_address(const char *name) {
    return reinterpret_cast<void *>(glx.GetProcAddressARB(reinterpret_cast<const GLubyte *>(name)));
}

NativeContext::NativeContext(Connection &where, GLXContext made) : on(where), handle(made) {
    if (handle == nullptr) {
        give_up("no context");
    }
    constexpr int kSize[] = {GLX_PBUFFER_WIDTH, kPictureSize, GLX_PBUFFER_HEIGHT, kPictureSize,
                             None};
    drawable = glx.CreatePbuffer(on.display, on.config, kSize);
}

NativeContext::~NativeContext() {
    if (glx.GetCurrentContext() == handle) {
        glx.MakeContextCurrent(on.display, None, None, nullptr);
    }
    glx.DestroyContext(on.display, handle);
    glx.DestroyPbuffer(on.display, drawable);
}

NativeContext *create_context(Api api, const NativeContext *share) {
    Connection &on = connection();
    return new NativeContext(on, create(on, api, share == nullptr ? nullptr : share->handle));
}

void destroy_context(NativeContext *context) {
    delete context;
}

void make_current(const NativeContext *context) {
    const Bool done = context == nullptr
                          ? glx.MakeContextCurrent(connection().display, None, None, nullptr)
                          : glx.MakeContextCurrent(context->on.display, context->drawable,
                                                   context->drawable, context->handle);
    if (done == False) {
        give_up("not current");
    }
}

void release_thread() {}

int held_programs() {
    return -1;
}

}  // namespace client
