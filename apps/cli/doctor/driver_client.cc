// SPDX-License-Identifier: MIT
#include "doctor/driver_client.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

// The command is built where no headers of EGL, GL and X11 are installed. These are the few types and numbers
// that are needed, by the names that the headers have.
namespace cairn::cli::doctor {
namespace {

using EGLint = int;
using Handle = void *;
using Function = void (*)();
constexpr EGLint kEglNone = 0x3038, kEglExtensions = 0x3055, kEglSurfaceType = 0x3033,
                 kEglPbufferBit = 1, kEglRenderableType = 0x3040, kEglWidth = 0x3057,
                 kEglHeight = 0x3056, kEglContextMajor = 0x3098;
constexpr unsigned kEglEsApi = 0x30A0, kEglGlApi = 0x30A2, kPlatformX11 = 0x31D5,
                   kPlatformSurfaceless = 0x31DD, kPlatformDevice = 0x313F,
                   kPlatformWayland = 0x31D8, kPlatformGbm = 0x31D7;
constexpr unsigned kGlVendor = 0x1F00, kGlRenderer = 0x1F01, kGlVersion = 0x1F02,
                   kGlFormats = 0x87FE, kGlVertex = 0x8B31, kGlFragment = 0x8B30,
                   kGlLinkStatus = 0x8B82;

// What drivers print is no answer.
int take_standard_output() {
    const int output = ::dup(STDOUT_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return output;
}
int answers = -1;

void say(std::string_view name, std::string_view value) {
    std::string line(name);
    line.append("=").append(value.substr(0, 400));
    for (char &c : line) c = c == '\n' ? ' ' : c;
    line.append("\n");
    (void)!::write(answers, line.data(), line.size());
}

template <typename Type>
Type function_of(void *library, const char *name) {
    return library == nullptr ? nullptr : reinterpret_cast<Type>(::dlsym(library, name));
}

using Find = Function (*)(const char *name);

const char *text_or_empty(const unsigned char *text) {
    return text == nullptr ? "" : reinterpret_cast<const char *>(text);
}

int note_front_end(struct dl_phdr_info *info, size_t, void *) {
    const std::string_view path = info->dlpi_name;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("libEGL_cairn.so") || name.starts_with("libGLX_cairn.so")) {
        say("front", path);
    }
    return 0;
}

// Whether the driver links it: from a cache of Cairn's, or by itself.
bool link_program(Find find) {
    const auto create_shader = reinterpret_cast<unsigned (*)(unsigned)>(find("glCreateShader"));
    const auto shader_source =
        reinterpret_cast<void (*)(unsigned, int, const char *const *, const int *)>(
            find("glShaderSource"));
    const auto compile = reinterpret_cast<void (*)(unsigned)>(find("glCompileShader"));
    const auto create_program = reinterpret_cast<unsigned (*)()>(find("glCreateProgram"));
    const auto attach = reinterpret_cast<void (*)(unsigned, unsigned)>(find("glAttachShader"));
    const auto link = reinterpret_cast<void (*)(unsigned)>(find("glLinkProgram"));
    const auto status =
        reinterpret_cast<void (*)(unsigned, unsigned, int *)>(find("glGetProgramiv"));
    if (!create_shader || !shader_source || !compile || !create_program || !attach || !link ||
        !status) {
        return false;
    }
    constexpr const char *kVertex =
        "attribute vec4 place;\nvoid main() { gl_Position = place * 0.5; }\n";
    constexpr const char *kFragment =
        "#ifdef GL_ES\nprecision mediump float;\n#endif\n"
        "uniform vec4 shade;\nvoid main() { gl_FragColor = shade * 0.25; }\n";
    const unsigned program = create_program();
    for (const auto &[type, source] :
         {std::pair(kGlVertex, kVertex), std::pair(kGlFragment, kFragment)}) {
        const unsigned shader = create_shader(type);
        shader_source(shader, 1, &source, nullptr);
        compile(shader);
        attach(program, shader);
    }
    link(program);
    int is_linked = 0;
    status(program, kGlLinkStatus, &is_linked);
    return is_linked != 0;
}

// Of the current context.
void describe(Find find) {
    const auto get_string =
        reinterpret_cast<const unsigned char *(*)(unsigned)>(find("glGetString"));
    const auto get_integer = reinterpret_cast<void (*)(unsigned, int *)>(find("glGetIntegerv"));
    if (get_string == nullptr || get_integer == nullptr) {
        say("problem", "the driver has no glGetString");
        return;
    }
    say("vendor", text_or_empty(get_string(kGlVendor)));
    say("renderer", text_or_empty(get_string(kGlRenderer)));
    say("version", text_or_empty(get_string(kGlVersion)));
    int formats = 0;
    get_integer(kGlFormats, &formats);
    say("formats", std::to_string(formats));
    say("stage", "linking a program");
    say("linked", link_program(find) ? "1" : "0");
    ::dl_iterate_phdr(note_front_end, nullptr);
}

bool is_set(const char *variable) {
    const char *value = ::getenv(variable);
    return value != nullptr && *value != '\0';
}

struct Egl {
    explicit Egl(void *library) {
#define EGL_FUNCTION(member, name)                               \
    member = function_of<decltype(member)>(library, "egl" name); \
    is_whole = is_whole && member != nullptr
        EGL_FUNCTION(get_display, "GetDisplay");
        EGL_FUNCTION(initialize, "Initialize");
        EGL_FUNCTION(terminate, "Terminate");
        EGL_FUNCTION(query_string, "QueryString");
        EGL_FUNCTION(bind_api, "BindAPI");
        EGL_FUNCTION(choose_config, "ChooseConfig");
        EGL_FUNCTION(create_context, "CreateContext");
        EGL_FUNCTION(create_surface, "CreatePbufferSurface");
        EGL_FUNCTION(make_current, "MakeCurrent");
        EGL_FUNCTION(find, "GetProcAddress");
#undef EGL_FUNCTION
        get_platform_display =
            function_of<decltype(get_platform_display)>(library, "eglGetPlatformDisplay");
    }
    bool is_whole = true;
    Handle (*get_display)(void *) = nullptr;
    Handle (*get_platform_display)(unsigned, void *, const intptr_t *) = nullptr;
    unsigned (*initialize)(Handle, EGLint *, EGLint *) = nullptr;
    unsigned (*terminate)(Handle) = nullptr;
    const char *(*query_string)(Handle, EGLint) = nullptr;
    unsigned (*bind_api)(unsigned) = nullptr;
    unsigned (*choose_config)(Handle, const EGLint *, Handle *, EGLint, EGLint *) = nullptr;
    Handle (*create_context)(Handle, Handle, Handle, const EGLint *) = nullptr;
    Handle (*create_surface)(Handle, Handle, const EGLint *) = nullptr;
    unsigned (*make_current)(Handle, Handle, Handle, Handle) = nullptr;
    Find find = nullptr;
};

// The displays that programs here would open.
struct Place {
    const char *name;
    Handle display;
};
std::vector<Place> places(const Egl &egl) {
    const char *all = egl.query_string(nullptr, kEglExtensions);
    const std::string_view extensions = all == nullptr ? "" : all;
    std::vector<Place> found;
    const auto add = [&](const char *name, std::string_view extension, unsigned platform,
                         void *native) {
        if (egl.get_platform_display == nullptr) return;
        if (extensions.find(extension) == std::string_view::npos) return;
        found.push_back({name, egl.get_platform_display(platform, native, nullptr)});
    };
    if (is_set("WAYLAND_DISPLAY")) {
        add("Wayland", "EGL_EXT_platform_wayland", kPlatformWayland, nullptr);
    }
    if (is_set("DISPLAY")) add("X11", "EGL_EXT_platform_x11", kPlatformX11, nullptr);
    add("no window system", "EGL_MESA_platform_surfaceless", kPlatformSurfaceless, nullptr);
    if (extensions.find("EGL_EXT_device_enumeration") != std::string_view::npos) {
        const auto query = reinterpret_cast<unsigned (*)(EGLint, Handle *, EGLint *)>(
            egl.find("eglQueryDevicesEXT"));
        std::array<Handle, 8> devices = {};
        EGLint count = 0;
        if (query != nullptr && query(devices.size(), devices.data(), &count) != 0) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                add("a device", "EGL_EXT_platform_device", kPlatformDevice, devices[i]);
            }
        }
    }
    add("GBM", "EGL_KHR_platform_gbm", kPlatformGbm, nullptr);
    found.push_back({"the default display", egl.get_display(nullptr)});
    return found;
}

// A current context of OpenGL ES 2, or of OpenGL.
bool open_context(const Egl &egl, Handle display) {
    const char *all = egl.query_string(display, kEglExtensions);
    const std::string_view extensions = all == nullptr ? "" : all;
    struct Api {
        unsigned api;
        EGLint renderable;
        EGLint major;
    };
    for (const Api &api : {Api{kEglEsApi, 4, 2}, Api{kEglGlApi, 8, 1}}) {
        if (egl.bind_api(api.api) == 0) continue;
        const std::array<EGLint, 5> wanted = {kEglSurfaceType, kEglPbufferBit, kEglRenderableType,
                                              api.renderable, kEglNone};
        Handle config = nullptr;
        EGLint count = 0;
        if (egl.choose_config(display, wanted.data(), &config, 1, &count) == 0 || count == 0) {
            config = nullptr;
            if (extensions.find("EGL_KHR_no_config_context") == std::string_view::npos) continue;
        }
        const std::array<EGLint, 3> version = {kEglContextMajor, api.major, kEglNone};
        const Handle context = egl.create_context(display, config, nullptr, version.data());
        if (context == nullptr) continue;
        const std::array<EGLint, 5> size = {kEglWidth, 8, kEglHeight, 8, kEglNone};
        const Handle surface =
            config == nullptr ? nullptr : egl.create_surface(display, config, size.data());
        if (egl.make_current(display, surface, surface, context) != 0) return true;
    }
    return false;
}

void ask_egl() {
    say("stage", "loading libEGL.so.1");
    const Egl egl(::dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL));
    if (!egl.is_whole) {
        say("problem", "there is no libEGL.so.1");
        return;
    }
    say("stage", "opening a display");
    for (const Place &place : places(egl)) {
        say("stage", std::string("opening a display, of ") + place.name);
        if (place.display == nullptr || egl.initialize(place.display, nullptr, nullptr) == 0) {
            continue;
        }
        say("stage", "making a context");
        if (open_context(egl, place.display)) {
            say("platform", place.name);
            describe(egl.find);
            say("stage", "ending");
            egl.make_current(place.display, nullptr, nullptr, nullptr);
            egl.terminate(place.display);
            return;
        }
        egl.terminate(place.display);
    }
    say("problem", "no display gives a context");
}

struct Glx {
    Glx(void *library, void *x11) {
#define X_FUNCTION(from, member, name)                  \
    member = function_of<decltype(member)>(from, name); \
    is_whole = is_whole && member != nullptr
        X_FUNCTION(x11, open_display, "XOpenDisplay");
        X_FUNCTION(x11, close_display, "XCloseDisplay");
        X_FUNCTION(x11, default_screen, "XDefaultScreen");
        X_FUNCTION(library, choose, "glXChooseFBConfig");
        X_FUNCTION(library, create_context, "glXCreateNewContext");
        X_FUNCTION(library, create_pbuffer, "glXCreatePbuffer");
        X_FUNCTION(library, make_current, "glXMakeContextCurrent");
        X_FUNCTION(library, destroy_context, "glXDestroyContext");
        X_FUNCTION(library, find, "glXGetProcAddress");
#undef X_FUNCTION
    }
    bool is_whole = true;
    Handle (*open_display)(const char *) = nullptr;
    int (*close_display)(Handle) = nullptr;
    int (*default_screen)(Handle) = nullptr;
    Handle *(*choose)(Handle, int, const int *, int *) = nullptr;
    Handle (*create_context)(Handle, Handle, int, Handle, int) = nullptr;
    unsigned long (*create_pbuffer)(Handle, Handle, const int *) = nullptr;
    int (*make_current)(Handle, unsigned long, unsigned long, Handle) = nullptr;
    void (*destroy_context)(Handle, Handle) = nullptr;
    Function (*find)(const unsigned char *) = nullptr;
};
Function (*glx_find)(const unsigned char *) = nullptr;

void ask_glx() {
    constexpr int kDrawableType = 0x8010, kPbufferBit = 4, kRgbaType = 0x8014, kWidth = 0x8041,
                  kHeight = 0x8040;
    say("stage", "loading libGLX.so.0");
    const Glx glx(::dlopen("libGLX.so.0", RTLD_NOW | RTLD_GLOBAL),
                  ::dlopen("libX11.so.6", RTLD_NOW | RTLD_GLOBAL));
    if (!glx.is_whole) {
        say("problem", "there is no libGLX.so.0, or no libX11.so.6");
        return;
    }
    say("stage", "opening the X display");
    const Handle display = glx.open_display(nullptr);
    if (display == nullptr) {
        say("no-server", "1");
        return;
    }
    say("stage", "making a context");
    const std::array<int, 3> wanted = {kDrawableType, kPbufferBit, 0};
    int count = 0;
    Handle *configs = glx.choose(display, glx.default_screen(display), wanted.data(), &count);
    if (configs == nullptr || count == 0) {
        say("problem", "the X server has no configuration for GLX");
        return;
    }
    const Handle context = glx.create_context(display, configs[0], kRgbaType, nullptr, 1);
    const std::array<int, 5> size = {kWidth, 8, kHeight, 8, 0};
    const unsigned long pbuffer = glx.create_pbuffer(display, configs[0], size.data());
    if (context == nullptr || glx.make_current(display, pbuffer, pbuffer, context) == 0) {
        say("problem", "no context can be had");
        return;
    }
    say("platform", "GLX");
    glx_find = glx.find;
    describe(
        [](const char *name) { return glx_find(reinterpret_cast<const unsigned char *>(name)); });
    say("stage", "ending");
    glx.make_current(display, 0, 0, nullptr);
    glx.destroy_context(display, context);
    glx.close_display(display);
}

}  // namespace

void ask_driver(const std::string &api) {
    // A driver that hangs does not outlive a `cairn doctor` that is interrupted. Where that was before the
    // call, nobody reads the answers.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd reader = {STDOUT_FILENO, 0, 0};
    if (::poll(&reader, 1, 0) > 0) ::_exit(1);
    answers = take_standard_output();
    api == "glx" ? ask_glx() : ask_egl();
    say("done", "1");
    ::_exit(0);
}

}  // namespace cairn::cli::doctor
