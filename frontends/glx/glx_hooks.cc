// SPDX-License-Identifier: MIT
#include "glx_hooks.h"

#include <cstdint>

#include "common/run_report.h"
#include "gl/caches.h"
#include "gl/contexts.h"
#include "gl/driver_cache.h"
#include "gl/hook.h"
#include "gl/settings.h"
#include "gl/slots.h"
#include "vendor.h"

namespace cairn::glx {
namespace {

// The ways in which a call tells its vendor.
constexpr auto of_number = [](Display *display, int screen, auto...) -> const Vendor & {
    return vendor_of_screen(display, screen);
};
constexpr auto of_visual = [](Display *display, const XVisualInfo *visual,
                              auto...) -> const Vendor & {
    return visual == nullptr ? vendor_of_display(display)
                             : vendor_of_screen(display, visual->screen);
};
constexpr auto of_display = [](Display *display, auto...) -> const Vendor & {
    return vendor_of_display(display);
};
constexpr auto of_context = [](Display *display, GLXContext context, auto...) -> const Vendor & {
    return vendor_of_context(display, context);
};
constexpr auto of_context_alone = [](GLXContext context) -> const Vendor & {
    return vendor_of_context(nullptr, context);
};
constexpr auto of_current = [](auto...) -> const Vendor & { return vendor(); };

// The vendor's function, of the vendor that `screen` finds.
template <auto kMember, auto screen>
struct Forward;

template <typename R, typename... A, R (*GlxFunctions::*kMember)(A...), auto screen>
struct Forward<kMember, screen> {
    static R call(A... arguments) { return (screen(arguments...).glx.*kMember)(arguments...); }
};

// A GLXContext is the process's, whatever its display.
gl::ContextHandle handle_of(GLXContext context) {
    return {nullptr, context};
}

// The programs in memory of all contexts of GLX.
gl::ProgramMemory &programs() {
    return gl::the_only<gl::ProgramMemory>();
}

// Takes an attribute of glXCreateContextAttribsARB and its value into the options.
void take(gl::ContextOptions &options, int name, int value) {
    using Options = gl::ContextOptions;
    switch (name) {
        case GLX_CONTEXT_MAJOR_VERSION_ARB:
            options.major = value;
            break;
        case GLX_CONTEXT_MINOR_VERSION_ARB:
            options.minor = value;
            break;
        case GLX_CONTEXT_PROFILE_MASK_ARB:
            options.is_es = (value & GLX_CONTEXT_ES_PROFILE_BIT_EXT) != 0;
            options.profile = options.is_es ? Options().profile : static_cast<uint32_t>(value);
            break;
        case GLX_CONTEXT_FLAGS_ARB:
            options.add_flag_bits(static_cast<uint32_t>(value));
            break;
        case GLX_CONTEXT_OPENGL_NO_ERROR_ARB:
            options.flags |= value != 0 ? Options::kNoError : 0;
            break;
        case GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB:
            options.flags |= value == GLX_LOSE_CONTEXT_ON_RESET_ARB ? Options::kLosesOnReset : 0;
            break;
        // What does not change how anything compiles.
        case GLX_CONTEXT_RELEASE_BEHAVIOR_ARB:
        case GLX_RENDER_TYPE:
        case GLX_SCREEN:
            break;
        default:
            options.others.append("glx").append(reinterpret_cast<const char *>(&name), sizeof name);
            options.others.append(reinterpret_cast<const char *>(&value), sizeof value);
    }
}

gl::ContextOptions options_of(const int *attributes) {
    gl::ContextOptions options;
    for (const int *pair = attributes; pair != nullptr && pair[0] != None; pair += 2) {
        take(options, pair[0], pair[1]);
    }
    return options;
}

// A new context, of which the front end takes note. The server draws for an indirect one.
GLXContext entered(const Vendor &of, Display *display, GLXContext context, GLXContext share,
                   const int *attributes) {
    if (context == nullptr) return context;
    if (of.glx.IsDirect(display, context) == False) {
        // The driver may have given it the handle of one that went with its display.
        gl::context_left(handle_of(context), gl::hold_context(handle_of(context)), true);
        return context;
    }
    const auto enter = [&] {
        gl::open_switch();
        count(&RunReport::glx_contexts);
        gl::context_created(of, handle_of(context), handle_of(share), options_of(attributes),
                            &programs());
        return context;
    };
    // A context that we do not know would use deferred shaders of its sharers as if they were
    // compiled.
    return guarded(enter, [&] {
        of.glx.DestroyContext(display, context);
        return GLXContext{nullptr};
    });
}

GLXContext create_context(Display *display, XVisualInfo *visual, GLXContext share, Bool direct) {
    const Vendor &of = of_visual(display, visual);
    const GLXContext context =
        gl::telling_driver([&] { return of.glx.CreateContext(display, visual, share, direct); });
    return entered(of, display, context, share, nullptr);
}

GLXContext create_new_context(Display *display, GLXFBConfig config, int type, GLXContext share,
                              Bool direct) {
    const Vendor &of = vendor_of_display(display);
    const GLXContext context = gl::telling_driver(
        [&] { return of.glx.CreateNewContext(display, config, type, share, direct); });
    return entered(of, display, context, share, nullptr);
}

GLXContext create_context_with_config(Display *display, GLXFBConfigSGIX config, int type,
                                      GLXContext share, Bool direct) {
    const Vendor &of = vendor_of_display(display);
    const GLXContext context = gl::telling_driver(
        [&] { return of.glx.CreateContextWithConfigSGIX(display, config, type, share, direct); });
    return entered(of, display, context, share, nullptr);
}

GLXContext create_context_attribs(Display *display, GLXFBConfig config, GLXContext share,
                                  Bool direct, const int *attributes) {
    const Vendor &of = vendor_of_display(display);
    const GLXContext context = gl::telling_driver(
        [&] { return of.glx.CreateContextAttribsARB(display, config, share, direct, attributes); });
    return entered(of, display, context, share, attributes);
}

// The driver keeps a context that is current until it is released, and so does the thread. GLX has
// no call like eglTerminate: with its last context an application has probably done its drawing.
template <auto kMember>
void destroy_context(Display *display, GLXContext context) {
    gl::Context *held = gl::hold_context(handle_of(context));
    (vendor_of_context(display, context).glx.*kMember)(display, context);
    gl::context_left(handle_of(context), held, true);
    if (held != nullptr && !gl::has_contexts()) gl::attempt([] { gl::flush_caches(); });
}

// What is current on a thread, to be made current again when another context cannot be.
struct Current {
    Display *display = nullptr;
    GLXDrawable draw = None;
    GLXDrawable read = None;
    GLXContext context = nullptr;
    uint64_t connection = 0;  // see number_of()
    bool is_known = false;    // to the registry, as indirect ones are not
};
thread_local Current t_current;

// `make` makes `next` current, by `of`. Between two vendors GLVND would release the older context
// first, but it takes us for one.
template <typename Make>
Bool change_current(const Vendor &of, const Current &next, Make make) {
    const Vendor &older = vendor();
    // Another connection may have the address of one that was closed.
    const bool changes_vendor = t_current.connection != 0 && &older != &of &&
                                t_current.connection == number_of(t_current.display);
    if (changes_vendor && !older.glx.MakeCurrent(t_current.display, None, nullptr)) return False;
    const Bool done = make();
    if (done != False) {
        t_current = {};
        if (next.context != nullptr) {
            t_current = next;
            (void)vendor_of_display(next.display);  // so that the connection has a number
            t_current.connection = number_of(next.display);
            t_current.is_known = gl::driver_of(handle_of(next.context)) != nullptr;
        }
        gl::use_slots_of(of);
        gl::context_made_current(of, handle_of(next.context), next.draw);
    } else if (changes_vendor) {
        // The release was the end of a context that the application has destroyed.
        const bool is_gone =
            t_current.is_known && gl::driver_of(handle_of(t_current.context)) == nullptr;
        const bool is_back =
            !is_gone && older.glx.MakeContextCurrent(t_current.display, t_current.draw,
                                                     t_current.read, t_current.context);
        if (!is_back) {
            t_current = {};
            gl::context_made_current(older, handle_of(nullptr));
        }
    }
    return done;
}

Bool make_current(Display *display, GLXDrawable drawable, GLXContext context) {
    const Vendor &of = vendor_of_context(display, context);
    return change_current(of, {display, drawable, drawable, context},
                          [&] { return of.glx.MakeCurrent(display, drawable, context); });
}

template <auto kMember>
Bool make_context_current(Display *display, GLXDrawable draw, GLXDrawable read,
                          GLXContext context) {
    const Vendor &of = vendor_of_context(display, context);
    return change_current(of, {display, draw, read, context},
                          [&] { return (of.glx.*kMember)(display, draw, read, context); });
}

#define ENTRY(name, ...) \
    { "glX" #name, reinterpret_cast<void *>(__VA_ARGS__) }

const gl::NamedFunction kHooks[] = {
    ENTRY(CreateContext, &create_context),
    ENTRY(CreateContextAttribsARB, &create_context_attribs),
    ENTRY(CreateContextWithConfigSGIX, &create_context_with_config),
    ENTRY(CreateNewContext, &create_new_context),
    ENTRY(DestroyContext, &destroy_context<&GlxFunctions::DestroyContext>),
    ENTRY(FreeContextEXT, &destroy_context<&GlxFunctions::FreeContextEXT>),
    ENTRY(MakeContextCurrent, &make_context_current<&GlxFunctions::MakeContextCurrent>),
    ENTRY(MakeCurrent, &make_current),
    ENTRY(MakeCurrentReadSGI, &make_context_current<&GlxFunctions::MakeCurrentReadSGI>),
};

#define CORE(name, screen) \
    {"glX" #name, reinterpret_cast<void *>(&Forward<&GlxFunctions::name, screen>::call)},
#define EXTENSION(name, type, screen) CORE(name, screen)
const gl::NamedFunction kForwards[] = {GLX_FUNCTIONS(CORE) GLX_EXTENSION_FUNCTIONS(EXTENSION)};
#undef EXTENSION
#undef CORE

}  // namespace

void *glx_function(const char *name) {
    // A function of an extension that no vendor has is not there.
    void *function = has_several_vendors() ? vendor_function(name) : vendor().find(name);
    if (function == nullptr) return nullptr;
    if (void *hook = gl::function_of_name(kHooks, name)) return hook;
    if (void *forward = gl::function_of_name(kForwards, name)) return forward;
    return has_several_vendors() ? gl::slot_of(name) : function;
}

}  // namespace cairn::glx
