// SPDX-License-Identifier: MIT
// What only GLX has: its first ways to make a context, several connections, indirect contexts.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "glx.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

// Never shown; for the calls that are older than pbuffers.
class HiddenWindow {
  public:
    explicit HiddenWindow(Connection &on)
        : display_(on.display), visual_(glx.GetVisualFromFBConfig(on.display, on.config)) {
        const Window root = RootWindow(display_, visual_->screen);
        XSetWindowAttributes attributes = {};
        attributes.colormap = XCreateColormap(display_, root, visual_->visual, AllocNone);
        id_ = XCreateWindow(display_, root, 0, 0, kPictureSize, kPictureSize, 0, visual_->depth,
                            InputOutput, visual_->visual, CWColormap | CWBorderPixel, &attributes);
    }
    ~HiddenWindow() {
        XDestroyWindow(display_, id_);
        XFree(visual_);
    }
    HiddenWindow(const HiddenWindow &) = delete;
    HiddenWindow &operator=(const HiddenWindow &) = delete;

    Window id() const { return id_; }
    XVisualInfo *visual() const { return visual_; }

  private:
    Display *display_;
    XVisualInfo *visual_;
    Window id_;
};

// An error of the server, which would end the process, is noted. Its code alone: the rest depends
// on how many requests there were.
int note_x_error(Display *display, XErrorEvent *event) {
    std::array<char, 128> text = {};
    XGetErrorText(display, event->error_code, text.data(), text.size());
    note("X error: %s", text.data());
    return 0;
}

class NotedErrors {
  public:
    explicit NotedErrors(Display *display)
        : display_(display), older_(XSetErrorHandler(note_x_error)) {}
    ~NotedErrors() {
        XSync(display_, False);
        XSetErrorHandler(older_);
    }
    NotedErrors(const NotedErrors &) = delete;
    NotedErrors &operator=(const NotedErrors &) = delete;

  private:
    Display *display_;
    XErrorHandler older_;
};

GLXContext new_context(const Connection &on, GLXContext share, Bool direct) {
    return glx.CreateNewContext(on.display, on.config, GLX_RGBA_TYPE, share, direct);
}

// glXCreateContext and glXMakeCurrent, sharing with a context of glXCreateNewContext.
void first_calls() {
    Connection &on = connection();
    const HiddenWindow window(on);
    const GLXContext first = glx.CreateContext(on.display, window.visual(), nullptr, True);
    note("current %d, direct %d", glx.MakeCurrent(on.display, window.id(), first),
         glx.IsDirect(on.display, first));
    prepare_current();
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldestVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldestFragment);
    const GLuint program = make_program({vertex, fragment});
    note_program("first", program);
    draw("first", program);
    const GLXContext second = new_context(on, first, True);
    note("current %d", glx.MakeCurrent(on.display, window.id(), second));
    prepare_current();
    draw("of the first", program);
    draw("second", make_program({vertex, fragment}));
    // What is destroyed while it is current lives until another one is.
    glx.DestroyContext(on.display, second);
    draw("destroyed", make_program({vertex, fragment}));
    note("released %d", glx.MakeCurrent(on.display, None, nullptr));
    glx.DestroyContext(on.display, first);
}

template <typename Function>
Function extension(const char *name) {
    return reinterpret_cast<Function>(proc_address(name));
}

// Functions that GLVND reaches by numbers: those by which contexts are made and left, and some that
// have nothing to do with that.
void extension_calls() {
    Connection &on = connection();
    const HiddenWindow window(on);
    const auto create =
        extension<PFNGLXCREATECONTEXTWITHCONFIGSGIXPROC>("glXCreateContextWithConfigSGIX");
    const auto release = extension<PFNGLXFREECONTEXTEXTPROC>("glXFreeContextEXT");
    const auto import = extension<PFNGLXIMPORTCONTEXTEXTPROC>("glXImportContextEXT");
    const auto id_of = extension<PFNGLXGETCONTEXTIDEXTPROC>("glXGetContextIDEXT");
    const auto renderer =
        extension<PFNGLXQUERYCURRENTRENDERERSTRINGMESAPROC>("glXQueryCurrentRendererStringMESA");
    const auto interval = extension<PFNGLXSWAPINTERVALMESAPROC>("glXSwapIntervalMESA");
    const auto interval_now = extension<PFNGLXGETSWAPINTERVALMESAPROC>("glXGetSwapIntervalMESA");

    const GLXContext first = create(on.display, on.config, GLX_RGBA_TYPE, nullptr, True);
    note("current %d", glx.MakeCurrent(on.display, window.id(), first));
    prepare_current();
    const GLuint program = make_program(kOldestVertex, kOldestFragment);
    const GLXContext second = create(on.display, on.config, GLX_RGBA_TYPE, first, True);
    note("current %d", glx.MakeCurrent(on.display, window.id(), second));
    prepare_current();
    draw("of the first", program);
    draw("second", make_program(kOldestVertex, kOldestFragment));
    note("renderer %s", renderer(GLX_RENDERER_DEVICE_ID_MESA));
    note("interval set %d, is %d", interval(1), interval_now());

    // Of another process, as it were. Direct contexts cannot be imported.
    const GLXContext indirect = new_context(on, nullptr, False);
    const GLXContext imported = import(on.display, id_of(indirect));
    note("imported %d, direct %d", imported != nullptr, glx.IsDirect(on.display, imported));
    release(on.display, imported);
    note("imported %d", import(on.display, id_of(first)) != nullptr);
    glx.DestroyContext(on.display, indirect);
    glx.MakeCurrent(on.display, None, nullptr);
    glx.DestroyContext(on.display, second);
    glx.DestroyContext(on.display, first);
}

void copied_context() {
    Connection &on = connection();
    const Context first(new NativeContext(on, new_context(on, nullptr, True)));
    const Context second(new NativeContext(on, new_context(on, nullptr, True)));
    make_current(nullptr);
    {
        const NotedErrors errors(on.display);
        glx.CopyContext(on.display, first.native()->handle, second.native()->handle,
                        GL_ALL_ATTRIB_BITS);
    }
    second.make_current();
    draw("copied", make_program(kOldestVertex, kOldestFragment));
}

// The server refuses versions that do not exist. The next context is none the worse for it.
void refused_context() {
    Connection &on = connection();
    {
        const NotedErrors errors(on.display);
        const int attributes[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 9, None};
        note("refused %d", glx.CreateContextAttribsARB(on.display, on.config, nullptr, True,
                                                       attributes) == nullptr);
    }
    const Context context(Api::core);
    note("core");
    draw("after that", make_program(kCoreVertex, R"(#version 430 core
in vec2 place;
out vec4 color;
void main() { color = vec4(place, 0.5, 1.0); }
)"));
}

// The server draws for these, and has no shaders. Debian's Xvfb takes their calls and draws nothing,
// so that there is no picture to look at.
void indirect_context() {
    Connection &on = connection();
    const HiddenWindow window(on);
    const GLXContext indirect = glx.CreateContext(on.display, window.visual(), nullptr, False);
    note("current %d, direct %d", glx.MakeCurrent(on.display, window.id(), indirect),
         glx.IsDirect(on.display, indirect));
    gl.Clear(GL_COLOR_BUFFER_BIT);
    gl.Finish();
    // One that has shaders, beside it.
    const Context direct(new NativeContext(on, new_context(on, nullptr, True)));
    draw("direct", make_program(kOldestVertex, kOldestFragment));
    note("current %d", glx.MakeCurrent(on.display, window.id(), indirect));
    gl.Finish();
    direct.make_current();
    draw("direct again", make_program(kOldestVertex, kOldestFragment));
    glx.DestroyContext(on.display, indirect);
}

// A program of a connection of its own.
void draw_on_a_connection(const char *title) {
    Connection on;
    const Context context(new NativeContext(on, new_context(on, nullptr, True)));
    const GLuint program = make_program(kOldestVertex, kOldestFragment);
    note_program(title, program);
    draw(title, program);
}

void connections_in_turn() {
    for (int round = 0; round < 4; ++round) {
        draw_on_a_connection("on a connection");
    }
}

// The connection goes, and its context with it, although nobody has destroyed that.
void forgotten_contexts() {
    for (int round = 0; round < 3; ++round) {
        Connection on;
        const GLXContext context = new_context(on, nullptr, True);
        const HiddenWindow window(on);
        note("current %d", glx.MakeCurrent(on.display, window.id(), context));
        prepare_current();
        draw("forgotten", make_program(kOldestVertex, kOldestFragment));
        glx.MakeCurrent(on.display, None, nullptr);
    }
    draw_on_a_connection("after them");
}

// Contexts of two connections, in turn, which share nothing.
void draw_beside(Connection &other) {
    const Context first(Api::plain);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldestVertex);
    const GLuint program = make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kOldestFragment)});
    const Context second(new NativeContext(other, new_context(other, nullptr, True)));
    note("strange names: %d %d", gl.IsShader(vertex), gl.IsProgram(program));
    draw("second", make_program(kOldestVertex, kOldestFragment));
    first.make_current();
    draw("first", program);
    draw("first again", make_program(kOldestVertex, kOldestFragment));
}

void two_connections() {
    Connection other;
    draw_beside(other);
}

// The second connection is to another server.
void two_servers() {
    Connection other(std::getenv("CLIENT_OTHER_DISPLAY"));
    draw_beside(other);
}

void note_vendor(Connection &on) {
    const auto renderer = reinterpret_cast<PFNGLXQUERYRENDERERSTRINGMESAPROC>(
        glx.GetProcAddressARB(reinterpret_cast<const GLubyte *>("glXQueryRendererStringMESA")));
    const auto interval = reinterpret_cast<PFNGLXGETSWAPINTERVALMESAPROC>(
        glx.GetProcAddressARB(reinterpret_cast<const GLubyte *>("glXGetSwapIntervalMESA")));
    note("GL %s, client %s, renderer %s, interval %d",
         reinterpret_cast<const char *>(gl.GetString(GL_VENDOR)),
         glx.GetClientString(on.display, GLX_VENDOR),
         renderer(on.display, 0, 0, GLX_RENDERER_VENDOR_ID_MESA), interval());
}

// The second connection is to a server of another driver. At the end a third one is made current
// after the second was closed with its context current.
void two_vendors() {
    auto other = std::make_unique<Connection>(std::getenv("CLIENT_OTHER_DISPLAY"));
    draw_beside(*other);
    const Context first(Api::plain);
    note_vendor(connection());
    const GLXContext handle = new_context(*other, nullptr, True);
    {
        const HiddenWindow window(*other);
        for (int round = 0; round < 2; ++round) {
            note("current %d", glx.MakeCurrent(other->display, window.id(), handle));
            note_vendor(*other);
            draw("other", make_program(kOldestVertex, kOldestFragment));
            first.make_current();
            note_vendor(connection());
        }
        note("current %d", glx.MakeCurrent(other->display, window.id(), handle));
    }
    other.reset();
    first.make_current();
    draw("first", make_program(kOldestVertex, kOldestFragment));
    note_vendor(connection());
}

// Functions of extensions that tell a screen or a context, on a thread without a context.
void questions_to_two_vendors() {
    Connection other(std::getenv("CLIENT_OTHER_DISPLAY"));
    const auto id_of = reinterpret_cast<PFNGLXGETCONTEXTIDEXTPROC>(
        glx.GetProcAddressARB(reinterpret_cast<const GLubyte *>("glXGetContextIDEXT")));
    const auto driver_of = reinterpret_cast<const char *(*)(Display *, int)>(
        glx.GetProcAddressARB(reinterpret_cast<const GLubyte *>("glXGetScreenDriver")));
    for (Connection *on : {&connection(), &other}) {
        const GLXContext context = new_context(*on, nullptr, True);
        note("twin's ID %d, driver %s", id_of(context) == 4242, driver_of(on->display, 0));
        glx.DestroyContext(on->display, context);
    }
}

// Where a call has a context, GLVND does not look at the display. And a new connection may have the
// address of one that was closed, with its context current.
void odd_displays() {
    const Context first(Api::plain);
    note("direct %d", glx.IsDirect(nullptr, first.native()->handle));
    auto other = std::make_unique<Connection>(std::getenv("CLIENT_OTHER_DISPLAY"));
    const GLXContext handle = new_context(*other, nullptr, True);
    {
        const HiddenWindow window(*other);
        note("current %d", glx.MakeCurrent(other->display, window.id(), handle));
        note_vendor(*other);
    }
    Display *const closed = other->display;
    other.reset();
    note("direct %d", glx.IsDirect(closed, handle));
    {
        Connection again;
        const Context second(new NativeContext(again, new_context(again, nullptr, True)));
        draw("second", make_program(kOldestVertex, kOldestFragment));
        note_vendor(again);
    }
    first.make_current();
    Connection other_again(std::getenv("CLIENT_OTHER_DISPLAY"));
    const Context third(new NativeContext(other_again, new_context(other_again, nullptr, True)));
    note_vendor(other_again);
    draw("third", make_program(kOldestVertex, kOldestFragment));
}

// The second context is of another connection than the first one, and shares with it.
void shared_between_connections() {
    Connection other;
    const Context first(Api::plain);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldestVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldestFragment);
    const Context second(
        new NativeContext(other, new_context(other, first.native()->handle, True)));
    const GLuint program = make_program({vertex, fragment});
    note_program("of the other's shaders", program);
    draw("second", program);
    first.make_current();
    draw("first", program);
}

// Each thread has a connection of its own.
void connections_of_threads() {
    constexpr int kPrograms = 8;
    std::array<int, 2> linked = {};
    std::vector<std::thread> threads;
    threads.reserve(linked.size());
    for (int &number : linked) {
        threads.emplace_back([&number] {
            Connection on;
            const Context context(new NativeContext(on, new_context(on, nullptr, True)));
            for (int k = 0; k < kPrograms; ++k) {
                const std::string fragment =
                    "void main() { gl_FragColor = vec4(" + std::to_string(k) + ".0 / 8.0); }\n";
                GLint status = GL_FALSE;
                gl.GetProgramiv(make_program(kOldestVertex, fragment.c_str()), GL_LINK_STATUS,
                                &status);
                number += status;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    note("linked %d %d", linked[0], linked[1]);
}

// What a program asks before it makes a context.
void questions() {
    Display *display = XOpenDisplay(nullptr);
    int error = 0;
    int event = 0;
    const Bool has_glx = glx.QueryExtension(display, &error, &event);
    note("GLX %d", has_glx);
    if (has_glx == True) {
        for (const int name : {GLX_VENDOR, GLX_VERSION, GLX_EXTENSIONS}) {
            note("server: %s", glx.QueryServerString(display, DefaultScreen(display), name));
            note("client: %s", glx.GetClientString(display, name));
        }
        note("all: %s", glx.QueryExtensionsString(display, DefaultScreen(display)));
    }
    XCloseDisplay(display);
}

constexpr Scenario kScenarios[] = {
    {"first_calls", &first_calls},
    {"extension_calls", &extension_calls},
    {"copied_context", &copied_context},
    {"refused_context", &refused_context},
    {"indirect_context", &indirect_context},
    {"connections_in_turn", &connections_in_turn},
    {"forgotten_contexts", &forgotten_contexts},
    {"two_connections", &two_connections},
    {"two_servers", &two_servers},
    {"two_vendors", &two_vendors},
    {"odd_displays", &odd_displays},
    {"questions_to_two_vendors", &questions_to_two_vendors},
    {"shared_between_connections", &shared_between_connections},
    {"connections_of_threads", &connections_of_threads},
    {"questions", &questions},
};

}  // namespace

std::span<const Scenario> own_scenarios() {
    return kScenarios;
}

}  // namespace client
