// SPDX-License-Identifier: MIT
// Memory that cannot be had, at every place where a hook asks for it.
#include <cairn/eglext_cairn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "control.h"
#include "display_cache.h"
#include "egl_hooks.h"
#include "gl/caches.h"
#include "gl/contexts.h"
#include "gl/share_group.h"
#include "gl/testing/driver.h"
#include "testing/front_end.h"

namespace {

// Allocations of this thread up to the first that fails; below 0: none does.
thread_local long t_left = -1;
thread_local bool t_is_lasting = false;  // those after it fail as well
thread_local long t_failures = 0;

bool fails() {
    if (t_left < 0) return false;
    if (t_left > 0) {
        --t_left;
        return false;
    }
    t_left = t_is_lasting ? 0 : -1;
    ++t_failures;
    return true;
}

}  // namespace

[[gnu::noinline]] void *operator new(std::size_t size) {
    void *memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}

namespace cairn::egl {
namespace {

using gl::GlFunctions;
using gl::testing::hook;
using gl::testing::t_driver;

// Memory can be had as long as this lives.
class Spared {
  public:
    ~Spared() { t_left = left_; }

  private:
    long left_ = std::exchange(t_left, -1);
};

// A driver has memory of its own. Counts its calls.
template <auto kMember>
struct Spare;
template <typename R, typename... A, R (*GlFunctions::*kMember)(A...)>
struct Spare<kMember> {
    static void stand_before(GlFunctions &gl) {
        real = gl.*kMember;
        gl.*kMember = [](A... arguments) {
            const Spared spared;
            ++calls;
            return real(arguments...);
        };
    }
    static inline R (*real)(A...) = nullptr;
    static inline int calls = 0;
};

// Runs with the first allocation failing, with the second... until none does; then again with all
// that follow failing as well. Returns how many failed.
long starve(const std::function<void()> &run) {
    long failures = 0;
    for (const bool is_lasting : {false, true}) {
        for (long allowed = 0;; ++allowed) {
            t_failures = 0;
            t_is_lasting = is_lasting;
            t_left = allowed;
            run();
            t_left = -1;
            failures += t_failures;
            if (t_failures == 0) break;
        }
    }
    return failures;
}

class NoMemoryTest : public ::testing::Test {
  protected:
    NoMemoryTest() {
        testing::start_front_end();
        setenv("CAIRN_DIR", folder_.c_str(), 1);
        gl::testing::fill(vendor_->gl);
#define X(name, ...) Spare<&GlFunctions::name>::stand_before(vendor_->gl);
        GL_FUNCTIONS(X, X)
#undef X
        vendor_->egl.QueryString = [](EGLDisplay, EGLint) { return "1.5"; };
        vendor_->egl.Initialize = [](EGLDisplay, EGLint *, EGLint *) -> EGLBoolean {
            return EGL_TRUE;
        };
        vendor_->egl.Terminate = [](EGLDisplay) -> EGLBoolean { return EGL_TRUE; };
        vendor_->egl.CreateContext = [](EGLDisplay, EGLConfig, EGLContext,
                                        const EGLint *) -> EGLContext { return new_handle(); };
        vendor_->egl.DestroyContext = [](EGLDisplay, EGLContext) -> EGLBoolean {
            --contexts_;
            return EGL_TRUE;
        };
        remember_display(display_, *vendor_);
    }
    // The cache stays open, as it does in applications.
    ~NoMemoryTest() override {
        gl::flush_caches();
        std::filesystem::remove_all(folder_);
    }

    static EGLContext new_handle() {
        ++contexts_;
        return reinterpret_cast<EGLContext>(++last_handle_);
    }
    EGLContext create_context() {
        return reinterpret_cast<PFNEGLCREATECONTEXTPROC>(egl_hook("eglCreateContext"))(
            display_, nullptr, EGL_NO_CONTEXT, nullptr);
    }
    void destroy_context(EGLContext handle) {
        reinterpret_cast<PFNEGLDESTROYCONTEXTPROC>(egl_hook("eglDestroyContext"))(display_, handle);
        gl::context_made_current(*vendor_, {});
    }

    static inline int contexts_ = 0;
    static inline uintptr_t last_handle_ = 0;
    const std::string folder_ =
        (std::filesystem::temp_directory_path() / ("cairn-no-memory-" + std::to_string(getpid())))
            .string();
    // Never freed: displays are remembered for ever.
    Vendor *vendor_ = new Vendor;
    EGLDisplay display_ = vendor_;
};

// As testing::link_anew(), where only the front end lacks memory.
std::string link_anew_without_memory(const std::string &source) {
    const GLuint shader = hook<PFNGLCREATESHADERPROC>("glCreateShader")(GL_VERTEX_SHADER);
    const GLuint program = hook<PFNGLCREATEPROGRAMPROC>("glCreateProgram")();
    {
        const Spared spared;
        t_driver.attached[program] = {shader};
    }
    const char *text = source.c_str();
    hook<PFNGLSHADERSOURCEPROC>("glShaderSource")(shader, 1, &text, nullptr);
    hook<PFNGLCOMPILESHADERPROC>("glCompileShader")(shader);
    hook<PFNGLLINKPROGRAMPROC>("glLinkProgram")(program);
    const Spared spared;
    return t_driver.linked[program];
}

TEST_F(NoMemoryTest, ProgramsAreWhatTheirSourcesSay) {
    const EGLContext handle = create_context();
    gl::context_made_current(*vendor_, {display_, handle});
    int wrong = 0;
    int number = 0;
    const long failures = starve([&] {
        // One is linked for the first time, one is linked again; the first has memory.
        for (const char *kind : {"new ", "old "}) {
            std::string source;
            {
                const Spared spared;
                source = kind + std::to_string(kind[0] == 'n' ? ++number : 0);
            }
            const std::string made = link_anew_without_memory(source);
            const Spared spared;
            // Without any memory a link may fail, but it never makes another program.
            wrong += made != source && (!t_is_lasting || !made.empty());
        }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(failures, 20);
    EXPECT_EQ(gl::testing::link_anew("after"), "after");
    destroy_context(handle);
}

TEST_F(NoMemoryTest, ASettingThatCannotBeNotedEndsTheCachingOfItsProgram) {
    const EGLContext handle = create_context();
    gl::context_made_current(*vendor_, {display_, handle});
    const auto bind = hook<PFNGLBINDATTRIBLOCATIONPROC>("glBindAttribLocation");
    (void)gl::current_context();
    int noted = 0;
    int ended = 0;
    starve([&] {
        GLuint name = 0;
        {
            const Spared spared;
            name = hook<PFNGLCREATEPROGRAMPROC>("glCreateProgram")();
        }
        bind(name, 0, "a name that is too long for a string without memory of its own");
        const Spared spared;
        const gl::ProgramRef program = gl::find_program(gl::current_context(), name);
        noted += program->is_understood && program->settings.size() == 1;
        ended += !program->is_understood;
        EXPECT_TRUE(!program->is_understood || program->settings.size() == 1);
    });
    EXPECT_EQ(noted, 2);
    EXPECT_GT(ended, 4);
    destroy_context(handle);
}

// Calls the hook in front of a function with zeros. How often the driver is asked.
template <auto kMember>
struct Zeros;
template <typename R, typename... A, R (*GlFunctions::*kMember)(A...)>
struct Zeros<kMember> {
    static int calls_of_driver(const char *name) {
        Spare<kMember>::real = [](A...) -> R { return R(); };
        Spare<kMember>::calls = 0;
        hook<R (*)(A...)>(name)(A()...);
        return Spare<kMember>::calls;
    }
};

TEST_F(NoMemoryTest, EveryHookAsksTheDriverOnce) {
    const auto expect_once = [this](const char *name, int (*calls_of_driver)(const char *)) {
        int wrong = 0;
        starve([&] {
            EGLContext handle = EGL_NO_CONTEXT;
            {
                const Spared spared;
                handle = create_context();
                gl::context_made_current(*vendor_, {display_, handle});
            }
            wrong += calls_of_driver(name) != 1;
            const Spared spared;
            destroy_context(handle);
        });
        EXPECT_EQ(wrong, 0) << name;
    };
#define CALLED(name, type)
#define HOOKED(name, type, function) \
    expect_once("gl" #name, Zeros<&GlFunctions::name>::calls_of_driver);
    GL_FUNCTIONS(HOOKED, CALLED)
#undef HOOKED
#undef CALLED
}

TEST_F(NoMemoryTest, AContextIsMadeAndKnownOrNeither) {
    int made = 0;
    const long failures = starve([&] {
        const int before = contexts_;
        testing::take_error();
        const EGLContext handle = create_context();
        const Spared spared;
        if (handle == EGL_NO_CONTEXT) {
            EXPECT_EQ(testing::take_error(), EGL_BAD_ALLOC);
            EXPECT_EQ(contexts_, before);
            return;
        }
        ++made;
        gl::context_made_current(*vendor_, {display_, handle});
        EXPECT_NE(gl::bound_context(), nullptr);
        destroy_context(handle);
        EXPECT_EQ(contexts_, before);
    });
    EXPECT_GT(made, 1);
    EXPECT_GT(failures, 5);
}

TEST_F(NoMemoryTest, ADisplayBeginsAndEndsAllTheSame) {
    const auto initialize = reinterpret_cast<PFNEGLINITIALIZEPROC>(egl_hook("eglInitialize"));
    const auto terminate = reinterpret_cast<PFNEGLTERMINATEPROC>(egl_hook("eglTerminate"));
    const auto length = reinterpret_cast<PFNEGLPROGRAMCACHEGETATTRIBANGLEPROC>(
        control_entry("eglProgramCacheGetAttribANGLE")->function);
    const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(egl_hook("eglQueryDevicesEXT"));
    starve([&] {
        EXPECT_TRUE(initialize(display_, nullptr, nullptr) == EGL_TRUE ||
                    testing::take_error() == EGL_BAD_ALLOC);
        EXPECT_TRUE(length(display_, EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE) == 20 ||
                    testing::take_error() == EGL_BAD_ALLOC);
        EGLint devices = 0;
        EXPECT_EQ(query(0, nullptr, &devices), EGLBoolean{EGL_TRUE});
        EXPECT_EQ(terminate(display_), EGLBoolean{EGL_TRUE});
    });
}

// Else the new object would have the settings of the older one.
TEST(ShareGroupWithoutMemory, ANameThatIsGivenAgainIsNotTheOlderObject) {
    GlFunctions gl = {};
    gl.IsProgram = gl.IsShader = [](GLuint) -> GLboolean { return GL_TRUE; };
    const long failures = starve([&] {
        std::optional<Spared> spared(std::in_place);
        gl::ShareGroup group(gl);
        const gl::ProgramRef program = group.add_program(1);
        group.add_shader(2, GL_VERTEX_SHADER);
        const gl::ShaderRef shader = group.shader(2);
        spared.reset();
        try {
            group.add_program(1);
        } catch (const std::bad_alloc &) {
        }
        try {
            group.add_shader(2, GL_VERTEX_SHADER);
        } catch (const std::bad_alloc &) {
        }
        spared.emplace();
        EXPECT_NE(group.program(1), program);
        EXPECT_NE(group.shader(2), shader);
    });
    EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace cairn::egl
