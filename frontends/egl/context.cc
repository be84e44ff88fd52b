// SPDX-License-Identifier: MIT
#include "context.h"

#include <map>
#include <memory>
#include <utility>

#include "common/run_report.h"
#include "gl_slots.h"
#include "settings.h"

namespace cairn::egl {
namespace {

struct ContextRegistry {
    Mutex mutex;
    // Guarded by mutex.
    std::map<std::pair<EGLDisplay, EGLContext>, Context *> contexts;
};

// A plain pointer, so that nothing has to run when a thread ends. A context that is current then is
// never freed, as in the driver.
thread_local Context *t_current = nullptr;

void release(Context *context) {
    if (context != nullptr && context->references.fetch_sub(1) == 1) {
        delete context;
    }
}

// The requested version matters only through the version of the context, which GL_VERSION tells.
bool is_in_request(EGLint attribute) {
    return attribute != EGL_CONTEXT_MAJOR_VERSION && attribute != EGL_CONTEXT_MINOR_VERSION &&
           attribute != EGL_CONTEXT_PRIORITY_LEVEL_IMG;
}

// The attributes as bytes. Which of them matter is the driver's secret.
std::string request_bytes(EGLenum api, const EGLint *attributes) {
    std::string bytes(reinterpret_cast<const char *>(&api), sizeof api);
    for (const EGLint *pair = attributes; pair != nullptr && pair[0] != EGL_NONE; pair += 2) {
        if (is_in_request(pair[0])) {
            bytes.append(reinterpret_cast<const char *>(pair), 2 * sizeof(EGLint));
        }
    }
    return bytes;
}

// Desktop contexts from version 3.2 on have the core profile unless they ask for another, and older
// ones have none; OpenGL ES 1 has nothing in common with its successors.
bool is_newer_kind(EGLenum api, const EGLint *attributes) {
    EGLint major = 1;
    EGLint minor = 0;
    for (const EGLint *pair = attributes; pair != nullptr && pair[0] != EGL_NONE; pair += 2) {
        major = pair[0] == EGL_CONTEXT_MAJOR_VERSION ? pair[1] : major;
        minor = pair[0] == EGL_CONTEXT_MINOR_VERSION ? pair[1] : minor;
    }
    return api == EGL_OPENGL_API ? major > 3 || (major == 3 && minor >= 2) : major >= 2;
}

// REQUIRES: the registry is locked.
Context *find(ContextRegistry &all, EGLDisplay display, EGLContext handle) {
    const auto found = all.contexts.find({display, handle});
    return found == all.contexts.end() ? nullptr : found->second;
}

// Takes the context into the registry, and returns its group.
std::shared_ptr<ShareGroup> enter(std::unique_ptr<Context> context, EGLDisplay display,
                                  EGLContext handle, EGLContext share) {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    const Context *shared = find(all, display, share);
    context->group =
        shared != nullptr ? shared->group : std::make_shared<ShareGroup>(context->gl());
    if (shared != nullptr &&
        (context->request != shared->request || context->is_newer != shared->is_newer)) {
        context->group->set_unlike();
    }
    Context *&place = all.contexts[{display, handle}];
    // eglTerminate may have destroyed a context of this handle without a word.
    release(std::exchange(place, context.release()));
    return place->group;
}

}  // namespace

Context *current_context() {
    Context *context = t_current;
    if (context != nullptr && !context->is_prepared) {
        attempt([&] { prepare(*context); });
    }
    if (context != nullptr && context->group->is_unsettled()) {
        // In a context like the one in which the application compiled them, while there is one.
        attempt([&] {
            for (const ShaderRef &shader : context->group->take_unsettled(context->traits)) {
                force_compile(*context, *shader);
            }
        });
    }
    return context;
}

Context *bound_context() {
    return t_current;
}

const GlFunctions &current_gl() {
    return t_current == nullptr ? vendors().front()->gl : t_current->gl();
}

Vendor *current_vendor() {
    return t_current == nullptr ? nullptr : t_current->vendor;
}

void context_created(Vendor &vendor, EGLDisplay display, EGLContext handle, EGLContext share,
                     EGLenum api, const EGLint *attributes, DisplayCache *programs) {
    count_process();
    count(&RunReport::contexts);
    auto context = std::make_unique<Context>();
    context->vendor = &vendor;
    context->programs = programs;
    context->request = request_bytes(api, attributes);
    context->is_newer = is_newer_kind(api, attributes);
    const std::shared_ptr<ShareGroup> group = enter(std::move(context), display, handle, share);
    if (t_current != nullptr && t_current->group == group && group->is_unsettled()) {
        // The last moment at which this is certain to be possible.
        current_context();
    }
}

Context *hold_context(EGLDisplay display, EGLContext handle) {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    Context *context = find(all, display, handle);
    if (context != nullptr) {
        context->references.fetch_add(1);
    }
    return context;
}

void context_left(EGLDisplay display, EGLContext handle, Context *held, bool was_destroyed) {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    if (was_destroyed && held != nullptr && find(all, display, handle) == held) {
        all.contexts.erase({display, handle});
        held->references.fetch_sub(1);  // the registry's; the caller's is left
    }
    release(held);
}

void context_made_current(Vendor &vendor, EGLDisplay display, EGLContext handle) {
    Context *next = handle != EGL_NO_CONTEXT ? hold_context(display, handle) : nullptr;
    release(std::exchange(t_current, next));
    use_gl_slots_of(handle == EGL_NO_CONTEXT ? *vendors().front() : vendor);
    // A process with a broker may be about to enter its sandbox: read files before that.
    if (settings().has_broker()) (void)current_context();
}

}  // namespace cairn::egl
