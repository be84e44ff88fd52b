// SPDX-License-Identifier: MIT
#include "contexts.h"

#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "common/crash_guard.h"
#include "common/run_report.h"
#include "driver_cache.h"
#include "hook.h"
#include "record/recorder.h"
#include "settings.h"

namespace cairn::gl {
namespace {

struct ContextRegistry {
    Mutex mutex;
    std::map<ContextHandle, Context *> contexts;  // guarded by mutex
};

std::atomic<const Driver *> g_default_driver = nullptr;

void release(Context *context) {
    if (context != nullptr && context->references.fetch_sub(1) == 1) {
        delete context;
    }
}

// REQUIRES: the registry is locked.
Context *find(ContextRegistry &all, ContextHandle handle) {
    const auto found = all.contexts.find(handle);
    return found == all.contexts.end() ? nullptr : found->second;
}

// Takes the context into the registry, and returns its group.
std::shared_ptr<ShareGroup> enter(std::unique_ptr<Context> context, ContextHandle handle,
                                  ContextHandle share) {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    const Context *shared = find(all, share);
    context->group =
        shared != nullptr ? shared->group : std::make_shared<ShareGroup>(context->gl());
    if (shared != nullptr &&
        (context->request != shared->request || context->is_newer != shared->is_newer)) {
        context->group->set_unlike();
    }
    Context *&place = all.contexts[handle];
    // The driver may have destroyed a context of this handle without a word, with its display.
    release(std::exchange(place, context.release()));
    return place->group;
}

}  // namespace

constinit thread_local BoundContext t_bound;

void set_default_driver(const Driver &driver) {
    g_default_driver.store(&driver, std::memory_order_release);
}

Context *current_context() {
    Context *context = t_bound.context;
    if (context != nullptr && !context->is_prepared) {
        const Stopwatch time(&RunReport::overhead_ns);
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

const Driver &default_driver() {
    return *g_default_driver.load(std::memory_order_acquire);
}

void context_created(const Driver &driver, ContextHandle handle, ContextHandle share,
                     const ContextOptions &options, ProgramMemory *programs, bool offers_control) {
    const InsideFrontEnd inside;
    count_process();
    count(&RunReport::contexts);
    auto context = std::make_unique<Context>();
    context->driver = &driver;
    context->programs = programs;
    context->options = options;
    context->request = options.bytes();
    context->is_newer = options.is_newer_kind();
    context->offers_control = offers_control;
    const std::shared_ptr<ShareGroup> group = enter(std::move(context), handle, share);
    if (t_bound.context != nullptr && t_bound.context->group == group && group->is_unsettled()) {
        // The last moment at which this is certain to be possible.
        current_context();
    }
}

Context *hold_context(ContextHandle handle) {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    Context *context = find(all, handle);
    if (context != nullptr) {
        context->references.fetch_add(1);
    }
    return context;
}

void context_left(ContextHandle handle, Context *held, bool was_destroyed) {
    const InsideFrontEnd inside;
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    if (was_destroyed && held != nullptr && find(all, handle) == held) {
        all.contexts.erase(handle);
        held->references.fetch_sub(1);  // the registry's; the caller's is left
    }
    release(held);
}

const Driver *driver_of(ContextHandle handle) {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    const Context *context = find(all, handle);
    return context == nullptr ? nullptr : context->driver;
}

bool has_contexts() {
    auto &all = the_only<ContextRegistry>();
    const MutexLock lock(all.mutex);
    return !all.contexts.empty();
}

void context_made_current(const Driver &driver, ContextHandle handle, uint64_t window) {
    const InsideFrontEnd inside;
    Context *next = handle.context != nullptr ? hold_context(handle) : nullptr;
    release(std::exchange(t_bound.context, next));
    t_bound.driver = handle.context != nullptr ? &driver : nullptr;
    if (next != nullptr) {
        next->window = window;
        if (next->recording != nullptr) next->recording->tracker().draw_to_window(window);
    }
    // A process with a broker may be about to enter its sandbox: read files before that.
    // What a pack has for the driver must be in place before anything is drawn, with programs or not.
    if (settings().has_broker() || has_driver_cache()) (void)current_context();
}

}  // namespace cairn::gl
