// SPDX-License-Identifier: MIT
// Several contexts, several threads, and with `vendors` several vendors.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr int kThreads = 2;
constexpr int kPrograms = 24;

constexpr const char *kOldVertex = R"(#version 140
varying vec4 shade;
void main() { gl_Position = ftransform(); shade = gl_Color; }
)";
constexpr const char *kOldFragment = R"(#version 140
varying vec4 shade;
void main() { gl_FragColor = shade; }
)";

std::string numbered_fragment(int number) {
    return "#version 300 es\nprecision highp float;\nin vec2 place;\nout vec4 color;\n"
           "void main() { color = vec4(place, float(" +
           std::to_string(number) + ") / 64.0, 1.0); }\n";
}

struct Outcome {
    GLint linked = 0;
    GLenum error = GL_NO_ERROR;
    std::array<unsigned char, 4> pixel = {};
};

Outcome try_program(GLuint vertex, int number) {
    const std::string source = numbered_fragment(number);
    const GLuint program = make_program({vertex, make_shader(GL_FRAGMENT_SHADER, source.c_str())});
    Outcome outcome;
    gl.GetProgramiv(program, GL_LINK_STATUS, &outcome.linked);
    gl.UseProgram(program);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.ReadPixels(kPictureSize / 2, kPictureSize / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                  outcome.pixel.data());
    outcome.error = gl.GetError();
    return outcome;
}

using Outcomes = std::vector<Outcome>;

void note_outcomes(const std::array<Outcomes, kThreads> &all) {
    for (const Outcomes &outcomes : all) {
        for (const Outcome &one : outcomes) {
            note("linked %d error %#x pixel %d %d %d %d", one.linked, one.error, one.pixel[0],
                 one.pixel[1], one.pixel[2], one.pixel[3]);
        }
    }
}

// Every thread makes the same programs, at the same time.
void run_threads(EGLContext share, GLuint shared_vertex) {
    std::array<Outcomes, kThreads> all;
    std::vector<std::thread> threads;
    for (Outcomes &outcomes : all) {
        threads.emplace_back([&outcomes, share, shared_vertex] {
            {
                const Context context(Api::es3, share);
                for (int number = 0; number < kPrograms; ++number) {
                    const GLuint vertex =
                        shared_vertex != 0 ? shared_vertex : make_shader(GL_VERTEX_SHADER, kVertex);
                    outcomes.push_back(try_program(vertex, number));
                }
            }
            egl.ReleaseThread();
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    note_outcomes(all);
}

}  // namespace

void two_contexts() {
    const Context first(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const Context second(Api::es3, first.handle());
    // Compiled in one, linked in the other, drawn in the first.
    const GLuint program = make_program({vertex, fragment});
    note_program("linked in the second", program);
    draw("second", program);
    first.make_current();
    draw("first", program);
    // A third, which shares nothing: the names are not there.
    const Context third(Api::es3);
    note("strange names: %d %d", gl.IsShader(vertex), gl.IsProgram(program));
    gl.CompileShader(vertex);
    gl.LinkProgram(program);
    note_errors("strange names");
    draw("third", make_program(kVertex, kOtherFragment));
}

void context_goes() {
    auto first = std::make_unique<Context>(Api::es3);
    const Context second(Api::es3, first->handle());
    first->make_current();
    const GLuint program = make_program(kVertex, kFragment);
    const GLuint unlinked = make_unlinked(
        {make_shader(GL_VERTEX_SHADER, kVertex), make_shader(GL_FRAGMENT_SHADER, kOtherFragment)});
    // The objects live on with the other context.
    second.make_current();
    first.reset();
    draw("linked before", program);
    gl.LinkProgram(unlinked);
    draw("linked after", unlinked);
    release_current();
    // Not current any more and made current again.
    second.make_current();
    draw("again", program);
}

// OpenGL ES 2 and 3 may share.
void older_context() {
    const Context third(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const Context second(Api::es2, third.handle());
    const GLuint program = make_program({vertex, fragment});
    note_program("compiled elsewhere", program);
    draw("elsewhere", program);
    third.make_current();
    draw("here", make_program(kVertex, kOtherFragment));
}

// These need not compile alike.
void unlike_contexts() {
    const Context third(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const Context second(Api::es3_debug, third.handle());
    const GLuint program = make_program({vertex, fragment});
    note_program("compiled elsewhere", program);
    draw("elsewhere", program);
    third.make_current();
    draw("here", make_program(kVertex, kOtherFragment));
}

// The older profile compiles a shader that only it can, although the newer one links it.
void unlike_profiles() {
    const Context old(Api::compatibility);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldFragment);
    const Context core(Api::core, old.handle());
    note_program("compiled in the older profile", make_program({vertex, fragment}));
}

// The same when nothing is current as the newer one is made.
void unlike_later() {
    const Context old(Api::compatibility);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldFragment);
    release_current();
    const Context core(Api::core, old.handle());
    old.make_current();
    const GLuint program = make_unlinked({vertex, fragment});
    core.make_current();
    gl.LinkProgram(program);
    note_program("compiled in the older profile", program);
}

void two_threads() {
    display();
    run_threads(EGL_NO_CONTEXT, 0);
}

void threads_share_shader() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    gl.Finish();
    run_threads(context.handle(), vertex);
    draw("after the threads", make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kFragment)}));
}

// A driver that frees a context on one thread gives its handle to the next one that is made on
// another thread.
void contexts_come_and_go() {
    constexpr int kRounds = 100;
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kPlainFragment);
    gl.Finish();
    std::array<int, kThreads> linked = {};
    std::vector<std::thread> threads;
    for (int &number : linked) {
        threads.emplace_back([&number, share = context.handle(), vertex, fragment] {
            for (int round = 0; round < kRounds; ++round) {
                const Context mine(Api::es3, share);
                const GLuint program = make_program({vertex, fragment});
                GLint status = GL_FALSE;
                gl.GetProgramiv(program, GL_LINK_STATUS, &status);
                number += status;
                gl.DeleteProgram(program);
            }
            egl.ReleaseThread();
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    note("linked: %d %d", linked[0], linked[1]);
}

// Every device with the vendor that answers for it, and that of its display.
void note_devices() {
    const auto query =
        reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(egl.GetProcAddress("eglQueryDevicesEXT"));
    const auto string_of = reinterpret_cast<PFNEGLQUERYDEVICESTRINGEXTPROC>(
        egl.GetProcAddress("eglQueryDeviceStringEXT"));
    EGLDeviceEXT devices[8] = {};
    EGLint count = 0;
    note("queried %d", query(0, nullptr, &count));
    note("devices %d", count);
    note("queried %d", query(8, devices, &count));
    for (EGLint i = 0; i < count; ++i) {
        note("device %s", string_of(devices[i], EGL_EXTENSIONS));
        const EGLDisplay one = egl.GetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr);
        note("initialised %d", egl.Initialize(one, nullptr, nullptr));
        note("vendor %s", egl.QueryString(one, EGL_VENDOR));
    }
}

// The second vendor answers one platform, which nobody else knows; see fake_vendor.cc.
void vendors() {
    constexpr EGLenum kFakePlatform = 0x7fff0001;
    const EGLDisplay fake = egl.GetPlatformDisplay(kFakePlatform, nullptr, nullptr);
    note("fake display %d", fake != EGL_NO_DISPLAY);
    EGLint major = 0;
    note("initialised %d", egl.Initialize(fake, &major, nullptr));
    note("vendor %s", egl.QueryString(fake, EGL_VENDOR));
    note("other vendor %s", egl.QueryString(display(), EGL_VENDOR));
    const Context real(Api::es3);
    const GLuint program = make_program(kVertex, kFragment);
    draw("real", program);
    egl.BindAPI(EGL_OPENGL_ES_API);
    const EGLContext handle = egl.CreateContext(fake, nullptr, EGL_NO_CONTEXT, nullptr);
    note("fake context %d", handle != EGL_NO_CONTEXT);
    for (int round = 0; round < 3; ++round) {
        note("current %d", egl.MakeCurrent(fake, EGL_NO_SURFACE, EGL_NO_SURFACE, handle));
        note("renderer %s", reinterpret_cast<const char *>(gl.GetString(GL_RENDERER)));
        note("created %u", gl.CreateShader(GL_VERTEX_SHADER));
        real.make_current();
        note("renderer %s", reinterpret_cast<const char *>(gl.GetString(GL_RENDERER)));
        draw("real again", program);
    }
    // A call that only the fake vendor has, by its own dispatch function.
    using FakeCall = int (*)(EGLDisplay, int);
    const auto call = reinterpret_cast<FakeCall>(egl.GetProcAddress("eglFakeAddCAIRN"));
    note("extension %d", call != nullptr ? call(fake, 41) : -1);
    using QueryDriver = const char *(*)(EGLDisplay);
    const auto driver =
        reinterpret_cast<QueryDriver>(egl.GetProcAddress("eglGetDisplayDriverName"));
    note("driver %s", driver != nullptr ? driver(display()) : "unknown");
    note("driver %s", driver != nullptr ? driver(fake) : "unknown");
    note_devices();
    note("refused %d", egl.MakeCurrent(fake, EGL_NO_SURFACE, EGL_NO_SURFACE, real.handle()));
    note("error %#x", static_cast<unsigned>(egl.GetError()));
    // GLVND leaves nothing current between two vendors then; with Cairn the older one stays, as it
    // does within one vendor.
    real.make_current();
    draw("still real", program);
    note("terminated %d", egl.Terminate(fake));
}

void beside() {
    constexpr EGLenum kFakePlatform = 0x7fff0001;
    const EGLDisplay fake = egl.GetPlatformDisplay(kFakePlatform, nullptr, nullptr);
    egl.Initialize(fake, nullptr, nullptr);
    using GetAttrib = EGLint (*)(EGLDisplay, EGLenum);
    const auto key_length =
        reinterpret_cast<GetAttrib>(egl.GetProcAddress("eglProgramCacheGetAttribANGLE"));
    for (const EGLDisplay one : {fake, display()}) {
        const EGLint value = key_length(one, 0x3456);
        const auto error = static_cast<unsigned>(egl.GetError());
        note("vendor %s, error %x, value %d", egl.QueryString(one, EGL_VENDOR), error, value);
        const std::string extensions = egl.QueryString(one, EGL_EXTENSIONS);
        note("named %d", extensions.find("EGL_ANGLE_program_cache_control") != std::string::npos);
    }
}

void switched() {
    const Context context(Api::es3);
    using GetAttrib = EGLint (*)(EGLDisplay, EGLenum);
    const auto held =
        reinterpret_cast<GetAttrib>(egl.GetProcAddress("eglProgramCacheGetAttribANGLE"));
    for (int round = 0; round < 4; ++round) {
        draw("round", make_program(kVertex, kFragment));
        if (held != nullptr && std::getenv("EGL_CLIENT_SHOW_HELD") != nullptr) {
            constexpr EGLenum kSize = 0x3455;
            constexpr GLenum kEnabled = 0x93AC;
            GLint enabled = -1;
            gl.GetIntegerv(kEnabled, &enabled);
            note("held %d, enabled %d", held(display(), kSize), enabled);
        }
        const std::string variable = "EGL_CLIENT_AFTER_" + std::to_string(round);
        const char *command = std::getenv(variable.c_str());
        if (command != nullptr && std::system(command) != 0) {
            note("%s failed", variable.c_str());
        }
    }
}

}  // namespace client
