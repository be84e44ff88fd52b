// SPDX-License-Identifier: MIT
// What only EGL has: several vendors, devices, a program cache that can be asked.
#include <string>

#include "egl.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

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
    note("refused %d",
         egl.MakeCurrent(fake, EGL_NO_SURFACE, EGL_NO_SURFACE, real.native()->handle));
    note("error %#x", static_cast<unsigned>(egl.GetError()));
    // GLVND leaves nothing current between two vendors then; with Cairn the older one stays, as it
    // does within one vendor.
    real.make_current();
    draw("still real", program);
    note("terminated %d", egl.Terminate(fake));
}

// Asks each vendor's display for its program cache.
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

constexpr Scenario kScenarios[] = {
    {"vendors", &vendors},
    {"beside", &beside},
};

}  // namespace

std::span<const Scenario> own_scenarios() {
    return kScenarios;
}

}  // namespace client
