// SPDX-License-Identifier: MIT
#include "subject.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

namespace conformance {

Egl egl;
Gl gl;
Subject subject = Subject::cairn;

namespace {

[[noreturn]] void give_up(const char *what) {
    const auto error = egl.GetError == nullptr ? 0 : egl.GetError();
    std::fprintf(stderr, "%s (EGL error %#x)\n", what, static_cast<unsigned>(error));
    std::exit(3);
}

// eglGetProcAddress finds everything in both subjects.
template <typename Function>
void find(decltype(&::eglGetProcAddress) get, const char *name, Function &function) {
    function = reinterpret_cast<Function>(get(name));
}

void find_all(decltype(&::eglGetProcAddress) get) {
#define X(name) find(get, "egl" #name, egl.name);
    CONFORMANCE_EGL(X)
#undef X
#define X(name) find(get, "gl" #name, gl.name);
    CONFORMANCE_GL(X)
#undef X
    find(get, "eglProgramCacheGetAttribANGLE", egl.GetAttrib);
    find(get, "eglProgramCacheQueryANGLE", egl.Query);
    find(get, "eglProgramCachePopulateANGLE", egl.Populate);
    find(get, "eglProgramCacheResizeANGLE", egl.Resize);
    find(get, "eglGetProgramCacheAttribANGLE", egl.DraftGetAttrib);
    find(get, "eglQueryProgramCacheANGLE", egl.DraftQuery);
    find(get, "eglPopulateProgramCacheANGLE", egl.DraftPopulate);
    find(get, "eglTrimProgramCacheANGLE", egl.DraftTrim);
}

constexpr EGLAttrib kAnglePlatform = 0x3202;
// Vulkan on SwiftShader.
constexpr EGLAttrib kAngleAttributes[] = {0x3203, 0x3450, 0x3209, 0x3487};
// GL_ANGLE_program_binary_readiness_query.
constexpr GLenum kBinaryReady = 0x96BE;

// Keys that have come with a compile. Stays empty but in ANGLE.
std::set<Key> g_shader_keys;

// Compiles, and notes what of it is in the cache.
template <typename Compile>
auto noting_shaders(Compile compile) {
    const EGLDisplay display = get_display();
    std::set<Key> before;
    for (const Entry &entry : contents(display)) {
        before.insert(entry.key);
    }
    const auto result = compile();
    for (const Entry &entry : contents(display)) {
        if (!before.contains(entry.key)) {
            g_shader_keys.insert(entry.key);
        }
    }
    return result;
}

GLuint compile(GLenum type, const std::string &source) {
    const GLuint shader = gl.CreateShader(type);
    const char *text = source.c_str();
    gl.ShaderSource(shader, 1, &text, nullptr);
    gl.CompileShader(shader);
    GLint compiled = GL_FALSE;
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    return shader;
}

std::string version_line(const Source &source) {
    return "#version " + std::to_string(source.language) + " es\n";
}

std::string vertex_source(const Source &source) {
    return version_line(source) + "//" + source.comment +
           "\nin vec4 corner; in vec4 other; out vec4 varying_value;\n"
           "void main() { gl_Position = corner + other * 0.0; varying_value = corner; }\n";
}

std::string fragment_source(const Source &source) {
    const std::string name = source.is_broken ? "missing_value" : "varying_value";
    return version_line(source) + "precision highp float;\nin vec4 " + name +
           ";\nlayout(location = " + std::to_string(source.output) +
           ") out vec4 color;\nvoid main() { color = vec4(" + std::to_string(source.variant) +
           ".0 / 255.0, 0.0, 0.0, 1.0) + " + name + " * 0.0; }\n";
}

}  // namespace

void load(Subject which, const char *library) {
    subject = which;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(3);
    }
    const auto get =
        reinterpret_cast<decltype(&::eglGetProcAddress)>(dlsym(handle, "eglGetProcAddress"));
    find_all(get);
}

bool has_control() {
    return egl.GetAttrib != nullptr && egl.Query != nullptr && egl.Populate != nullptr &&
           egl.Resize != nullptr;
}

EGLDisplay get_display(const std::vector<EGLAttrib> &attributes) {
    std::vector<EGLAttrib> all = attributes;
    const bool is_angle = subject == Subject::angle;
    if (is_angle) {
        all.insert(all.end(), std::begin(kAngleAttributes), std::end(kAngleAttributes));
    }
    all.push_back(EGL_NONE);
    return egl.GetPlatformDisplay(is_angle ? kAnglePlatform : EGL_PLATFORM_SURFACELESS_MESA,
                                  EGL_DEFAULT_DISPLAY, all.data());
}

EGLDisplay fresh_display(EGLint limit) {
    const EGLDisplay display = get_display();
    if (display == EGL_NO_DISPLAY || egl.Initialize(display, nullptr, nullptr) == EGL_FALSE) {
        give_up("there is no display");
    }
    egl.Resize(display, limit, EGL_PROGRAM_CACHE_RESIZE_ANGLE);
    return display;
}

Key key_of(int number) {
    Key key = {};
    key[0] = static_cast<uint8_t>(number);
    key[19] = 0x77;
    return key;
}

void populate(EGLDisplay display, int number, size_t size) {
    const Key key = key_of(number);
    const Bytes binary(size, static_cast<uint8_t>(number));
    egl.Populate(display, key.data(), 20, binary.data(), static_cast<EGLint>(size));
}

EGLint count(EGLDisplay display) {
    return egl.GetAttrib(display, EGL_PROGRAM_CACHE_SIZE_ANGLE);
}

std::vector<Entry> contents(EGLDisplay display) {
    std::vector<Entry> all;
    const EGLint entries = count(display);
    for (EGLint index = 0; index < entries; ++index) {
        EGLint key_size = 0;
        EGLint size = 0;
        egl.Query(display, index, nullptr, &key_size, nullptr, &size);
        if (key_size != 20 || size < 0) {
            give_up("an entry has no size");
        }
        Entry entry;
        entry.binary.resize(static_cast<size_t>(size));
        egl.Query(display, index, entry.key.data(), &key_size, entry.binary.data(), &size);
        if (egl.GetError() != EGL_SUCCESS) {
            give_up("an entry cannot be read");
        }
        all.push_back(entry);
    }
    return all;
}

std::vector<Entry> programs(EGLDisplay display) {
    std::vector<Entry> all = contents(display);
    std::erase_if(all, [](const Entry &entry) { return g_shader_keys.contains(entry.key); });
    return all;
}

std::vector<int> order(EGLDisplay display) {
    std::vector<int> numbers;
    for (const Entry &entry : contents(display)) {
        numbers.push_back(entry.key[0]);
    }
    return numbers;
}

bool is_enabled() {
    GLint value = 7;
    gl.GetIntegerv(GL_PROGRAM_CACHE_ENABLED_ANGLE, &value);
    if (value != 0 && value != 1) {
        give_up("GL_PROGRAM_CACHE_ENABLED_ANGLE is not told");
    }
    return value == 1;
}

EGLContext create_context(EGLDisplay display, const std::vector<EGLint> &attributes) {
    std::vector<EGLint> all = {EGL_CONTEXT_MAJOR_VERSION, 3};
    all.insert(all.end(), attributes.begin(), attributes.end());
    all.push_back(EGL_NONE);
    return egl.CreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, all.data());
}

Context::Context(EGLDisplay display, const std::vector<EGLint> &attributes)
    : display_(display), handle_(create_context(display, attributes)) {
    if (handle_ == EGL_NO_CONTEXT) {
        give_up("there is no context");
    }
    make_current();
    GLuint texture = 0;
    GLuint framebuffer = 0;
    gl.GenTextures(1, &texture);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 1, 1);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    gl.Viewport(0, 0, 1, 1);
}

Context::~Context() {
    release_current(display_);
    egl.DestroyContext(display_, handle_);
}

void Context::make_current() const {
    if (egl.MakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, handle_) == EGL_FALSE) {
        give_up("the context does not become current");
    }
}

void release_current(EGLDisplay display) {
    egl.MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

GLuint link(const Source &source) {
    const GLuint program = gl.CreateProgram();
    const auto compile_both = [&source] {
        return std::array{compile(GL_VERTEX_SHADER, vertex_source(source)),
                          compile(GL_FRAGMENT_SHADER, fragment_source(source))};
    };
    auto shaders = subject == Subject::angle ? noting_shaders(compile_both) : compile_both();
    if (source.fragment_first) {
        std::swap(shaders[0], shaders[1]);
    }
    for (const GLuint shader : shaders) {
        gl.AttachShader(program, shader);
        gl.DeleteShader(shader);
    }
    if (source.bound != nullptr) {
        gl.BindAttribLocation(program, 3, source.bound);
    }
    if (source.has_varying) {
        const char *name = "varying_value";
        gl.TransformFeedbackVaryings(program, 1, &name, GL_INTERLEAVED_ATTRIBS);
    }
    if (source.prepare != nullptr) {
        source.prepare(program);
    }
    gl.LinkProgram(program);
    GLint linked = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    // ANGLE stores a binary when threads of its own are done with it.
    for (GLint ready = GL_FALSE; subject == Subject::angle && linked && ready == GL_FALSE;) {
        gl.GetProgramiv(program, kBinaryReady, &ready);
    }
    return program;
}

bool link_once(const Source &source) {
    const GLuint program = link(source);
    GLint linked = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    gl.DeleteProgram(program);
    return linked != GL_FALSE;
}

int drawn_by(GLuint program) {
    constexpr std::array<float, 6> kCorners = {-1, -1, 3, -1, -1, 3};
    gl.ClearColor(0, 0, 0, 0);
    gl.Clear(GL_COLOR_BUFFER_BIT);
    gl.UseProgram(program);
    const auto corner = static_cast<GLuint>(gl.GetAttribLocation(program, "corner"));
    gl.VertexAttribPointer(corner, 2, GL_FLOAT, GL_FALSE, 0, kCorners.data());
    gl.EnableVertexAttribArray(corner);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    std::array<uint8_t, 4> pixel = {};
    gl.ReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel.data());
    gl.UseProgram(0);
    return pixel[0];
}

}  // namespace conformance
