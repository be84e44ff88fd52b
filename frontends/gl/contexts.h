// All contexts of the process, and the one that is current on each thread.
// SPDX-License-Identifier: MIT
//
// Window systems tell of what becomes of contexts; the hooks ask which one is current.
//
// Thread safety: the registry locks itself. Ownership: a context is counted: one for the registry
// until it is destroyed, one for the thread that it is current on.
#pragma once

#include <compare>

#include "context.h"

namespace cairn::gl {

// A context as the window system names it. GLX has no display here: its handles are the process's.
struct ContextHandle {
    const void *display = nullptr;
    const void *context = nullptr;  // null: none
    // NOLINTNEXTLINE(modernize-use-nullptr): there is no pointer, clang-tidy 14 only thinks so
    auto operator<=>(const ContextHandle &) const = default;
};

// The functions that calls reach on threads where no context was made current yet.
void set_default_driver(const Driver &driver);
const Driver &default_driver();

// Plain pointers, so that nothing has to run when a thread ends. A context that is current then is
// never freed, as in the driver.
struct BoundContext {
    Context *context = nullptr;
    const Driver *driver = nullptr;
};
extern constinit thread_local BoundContext t_bound;

// The context that is current on this thread, ready for use; null when there is none.
Context *current_context();
// The same, not made ready: for questions about the context itself.
inline Context *bound_context() {
    return t_bound.context;
}
// The driver of the context that is current on this thread, be it one that the registry knows or
// not; the default one before any was.
inline const Driver &current_driver() {
    return t_bound.driver == nullptr ? default_driver() : *t_bound.driver;
}
inline const GlFunctions &current_gl() {
    return current_driver().gl;
}

// To be called when a context has been made, which shares objects with another, if any. A null
// `programs`: nothing is to be cached in it.
void context_created(const Driver &driver, ContextHandle handle, ContextHandle share,
                     const ContextOptions &options, ProgramMemory *programs,
                     bool offers_control = false);

// To be called when a context of this driver has been made current; its handle is null when nothing
// is current any more. `window` tells apart what it draws to when it draws to no framebuffer object.
void context_made_current(const Driver &driver, ContextHandle handle, uint64_t window = 0);

// To be called before and after a context is destroyed. When the driver returns, another thread may
// already have made a new context of the same handle, which must stay. It is told from the older
// one by its address, as long as that one is held. Null where there is no such context.
Context *hold_context(ContextHandle handle);
void context_left(ContextHandle handle, Context *held, bool was_destroyed);

// The driver of such a context that was not destroyed; null where there is none.
const Driver *driver_of(ContextHandle handle);
// Whether the process has a context that was not destroyed.
bool has_contexts();

}  // namespace cairn::gl
