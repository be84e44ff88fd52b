// SPDX-License-Identifier: MIT
#include "display.h"

#include <EGL/eglext.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "gl.h"

namespace cairn::warm {
namespace {

#define PLAYER_EGL_FUNCTIONS(X) \
    X(BindAPI)                  \
    X(ChooseConfig)             \
    X(CreateContext)            \
    X(CreatePbufferSurface)     \
    X(DestroyContext)           \
    X(DestroySurface)           \
    X(GetConfigAttrib)          \
    X(GetDisplay)               \
    X(GetPlatformDisplay)       \
    X(GetProcAddress)           \
    X(Initialize)               \
    X(MakeCurrent)              \
    X(QueryString)              \
    X(ReleaseThread)            \
    X(Terminate)

struct EglFunctions {
#define FUNCTION(name) decltype(&::egl##name) name = nullptr;
    PLAYER_EGL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
EglFunctions egl;

// The library stays open: drivers run until the process ends.
bool load_egl() {
    void *library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
    bool has_all = library != nullptr;
    const auto load = [&](auto &function, const char *name) {
        if (has_all)
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        has_all = has_all && function != nullptr;
    };
#define FUNCTION(name) load(egl.name, "egl" #name);
    PLAYER_EGL_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return has_all;
}

bool has_extension(EGLDisplay display, std::string_view name) {
    const char *all = egl.QueryString(display, EGL_EXTENSIONS);
    const std::string text = " " + std::string(all == nullptr ? "" : all) + " ";
    return text.find(" " + std::string(name) + " ") != std::string::npos;
}

bool is_set(const char *variable) {
    const char *value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

// Where the application draws, if somebody is logged in there; else where nobody looks.
std::vector<EGLDisplay> displays() {
    std::vector<EGLDisplay> found;
    const auto add = [&](std::string_view extension, EGLenum platform, void *native) {
        if (!has_extension(EGL_NO_DISPLAY, extension)) return;
        const EGLDisplay display = egl.GetPlatformDisplay(platform, native, nullptr);
        if (display != EGL_NO_DISPLAY) found.push_back(display);
    };
    if (is_set("DISPLAY")) add("EGL_EXT_platform_x11", EGL_PLATFORM_X11_EXT, nullptr);
    add("EGL_MESA_platform_surfaceless", EGL_PLATFORM_SURFACELESS_MESA, nullptr);
    if (has_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
        const auto query =
            reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(egl.GetProcAddress("eglQueryDevicesEXT"));
        std::array<EGLDeviceEXT, 8> devices = {};
        EGLint count = 0;
        if (query != nullptr && query(devices.size(), devices.data(), &count) != EGL_FALSE) {
            for (EGLint i = 0; i < count; ++i) {
                add("EGL_EXT_platform_device", EGL_PLATFORM_DEVICE_EXT,
                    devices[static_cast<size_t>(i)]);
            }
        }
    }
    found.push_back(egl.GetDisplay(EGL_DEFAULT_DISPLAY));
    return found;
}

// The attributes that frontends/egl reads back as these options: they are a part of each program's
// key.
std::vector<EGLint> attributes_of(const recipe::ContextKind &kind) {
    constexpr uint32_t kCore = EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT;
    constexpr uint32_t kNoError = 8, kLosesOnReset = 16, kBits = 7;
    std::vector<EGLint> list;
    const auto add = [&](EGLint name, uint32_t value) {
        list.push_back(name);
        list.push_back(static_cast<EGLint>(value));
    };
    // The first version of OpenGL means any.
    if (kind.is_es != 0 || kind.major > 1 || kind.minor > 0) {
        add(EGL_CONTEXT_MAJOR_VERSION, kind.major);
        add(EGL_CONTEXT_MINOR_VERSION, kind.minor);
    }
    if (kind.is_es == 0 && kind.profile != kCore) {
        add(EGL_CONTEXT_OPENGL_PROFILE_MASK, kind.profile);
    }
    // ContextOptions::add_flag_bits() moved the others up.
    const uint32_t bits = (kind.flags & kBits) | (kind.flags >> 8 & ~kBits);
    if (bits != 0) add(EGL_CONTEXT_FLAGS_KHR, bits);
    if ((kind.flags & kNoError) != 0) add(EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE);
    if ((kind.flags & kLosesOnReset) != 0) {
        add(kind.is_es != 0 ? EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT
                            : EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
            EGL_LOSE_CONTEXT_ON_RESET);
    }
    constexpr std::string_view kOurs = "egl";
    std::string_view others = kind.others;
    while (others.size() >= kOurs.size() + 8 && others.starts_with(kOurs)) {
        std::array<EGLint, 2> pair = {};
        std::memcpy(pair.data(), others.data() + kOurs.size(), sizeof pair);
        list.insert(list.end(), pair.begin(), pair.end());
        others.remove_prefix(kOurs.size() + sizeof pair);
    }
    list.push_back(EGL_NONE);
    return list;
}

int version_of_context(bool is_es) {
    const auto *text = reinterpret_cast<const char *>(gl.GetString(GL_VERSION));
    if (text == nullptr) return 0;
    std::string_view version = text;
    constexpr std::string_view kEs = "OpenGL ES ";
    if (is_es && version.starts_with(kEs)) version.remove_prefix(kEs.size());
    if (version.size() < 3 || version[1] != '.') return 0;
    return 100 * (version[0] - '0') + (version[2] - '0');
}

std::string name_of(const recipe::ContextKind &kind) {
    return std::string(kind.is_es != 0 ? "OpenGL ES " : "OpenGL ") + std::to_string(kind.major) +
           "." + std::to_string(kind.minor);
}

}  // namespace

std::string Display::open(const recipe::ContextKind &kind) {
    if (!load_egl()) return "there is no libEGL.so.1 of GLVND";
    std::string problem = "no display can be had";
    for (const EGLDisplay display : displays()) {
        problem = open_display(display, kind);
        if (problem.empty()) return problem;
        egl.Terminate(display);
    }
    return problem;
}

std::string Display::open_display(EGLDisplay display, const recipe::ContextKind &kind) {
    if (display == EGL_NO_DISPLAY || egl.Initialize(display, nullptr, nullptr) == EGL_FALSE) {
        return "no display can be had";
    }
    display_ = display;
    is_es_ = kind.is_es != 0;
    std::string missing = "the driver has no " + name_of(kind);
    if (egl.BindAPI(is_es_ ? EGL_OPENGL_ES_API : EGL_OPENGL_API) == EGL_FALSE) return missing;
    recipe::Surface usual = {8, 8, 8, 8, 24, 8, 0};
    const bool needs_config = !has_extension(display, "EGL_KHR_no_config_context");
    config_ = needs_config ? best_config(usual) : nullptr;
    if (needs_config && config_ == nullptr) return "the display has no pbuffers";
    const std::vector<EGLint> attributes = attributes_of(kind);
    // Recipes may have any numbers; only errors stop those that mean nothing.
    for (size_t i = 0; i + 1 < attributes.size(); i += 2) {
        if (attributes[i] == EGL_CONTEXT_OPENGL_NO_ERROR_KHR) {
            return "programs of contexts without errors are not made";
        }
    }
    context_ = egl.CreateContext(display, config_, EGL_NO_CONTEXT, attributes.data());
    if (context_ == EGL_NO_CONTEXT) return missing;
    load_functions(egl.GetProcAddress);
    if (!draw_into(usual) &&
        egl.MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_FALSE) {
        egl.DestroyContext(display, context_);
        return "the context cannot be used without a window";
    }
    version_ = version_of_context(is_es_);
    return "";
}

EGLConfig Display::best_config(const recipe::Surface &surface) const {
    const std::array<EGLint, 5> wanted = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                          is_es_ ? EGL_OPENGL_ES2_BIT : EGL_OPENGL_BIT, EGL_NONE};
    std::array<EGLConfig, 1024> configs = {};
    EGLint count = 0;
    if (egl.ChooseConfig(display_, wanted.data(), configs.data(), configs.size(), &count) ==
        EGL_FALSE) {
        return nullptr;
    }
    const auto distance = [&](EGLConfig config) {
        const auto off = [&](EGLint name, uint32_t bits) {
            EGLint value = 0;
            egl.GetConfigAttrib(display_, config, name, &value);
            return std::abs(value - static_cast<EGLint>(std::min(bits, 64u)));
        };
        return 100 * (off(EGL_RED_SIZE, surface.red) + off(EGL_GREEN_SIZE, surface.green) +
                      off(EGL_BLUE_SIZE, surface.blue) + off(EGL_ALPHA_SIZE, surface.alpha) +
                      off(EGL_SAMPLES, surface.samples)) +
               off(EGL_DEPTH_SIZE, surface.depth) + off(EGL_STENCIL_SIZE, surface.stencil);
    };
    EGLConfig best = nullptr;
    int least = INT_MAX;
    for (EGLint i = 0; i < count; ++i) {
        const EGLConfig config = configs[static_cast<size_t>(i)];
        const int off = distance(config);
        if (off < least) {
            least = off;
            best = config;
        }
    }
    return best;
}

bool Display::draw_into(const recipe::Surface &surface) {
    auto found = std::ranges::find(drawables_, surface, &Drawable::surface);
    if (found == drawables_.end()) {
        const EGLConfig config = config_ != nullptr ? config_ : best_config(surface);
        const std::array<EGLint, 5> size = {EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE};
        const EGLSurface handle = config == nullptr
                                      ? EGL_NO_SURFACE
                                      : egl.CreatePbufferSurface(display_, config, size.data());
        if (handle == EGL_NO_SURFACE) return false;
        // A hostile list of states has no end of them.
        if (drawables_.size() >= 64) {
            egl.DestroySurface(display_, drawables_.front().handle);
            drawables_.erase(drawables_.begin());
        }
        found = drawables_.insert(drawables_.end(), {surface, handle});
    }
    return egl.MakeCurrent(display_, found->handle, found->handle, context_) != EGL_FALSE;
}

std::string Display::cache() const {
    // Of Cairn's front end.
    using Identifier = GLsizei (*)(GLsizei capacity, GLchar * identifier);
    const auto identifier =
        reinterpret_cast<Identifier>(egl.GetProcAddress("glGetProgramCacheIdentifierCAIRN"));
    std::array<char, 256> name = {};
    if (identifier != nullptr) (void)identifier(name.size(), name.data());
    name.back() = '\0';
    return name.data();
}

Display::~Display() {
    if (display_ == EGL_NO_DISPLAY || context_ == EGL_NO_CONTEXT) return;
    egl.MakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    for (const Drawable &drawable : drawables_) egl.DestroySurface(display_, drawable.handle);
    egl.DestroyContext(display_, context_);
    egl.Terminate(display_);
    egl.ReleaseThread();
}

}  // namespace cairn::warm
