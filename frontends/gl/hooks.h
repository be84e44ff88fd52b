// The GL entry points that the front end stands in front of: those that change or observe what it
// keeps back, and those that tell of what it adds. functions.inc lists them.
// SPDX-License-Identifier: MIT
//
// The names of one function (core, ARB, EXT) share a hook, which gets the driver's function that
// it stands in front of. Every hook passes a call through when no context is current or the object
// is not tracked.
#pragma once

#include "contexts.h"
#include "hook.h"

namespace cairn::gl {

template <typename Function>
struct Hook;
template <typename R, typename... A>
struct Hook<R (*)(A...)> {
    using Type = R(Real<R (*)(A...)> &real, A... arguments);
};

namespace hooks {
#define HOOKED(name, type, hook) Hook<type>::Type hook;
#define CALLED(name, type)
GL_FUNCTIONS(HOOKED, CALLED)
#undef HOOKED
#undef CALLED
}  // namespace hooks

// Our function to use in place of the vendor's for this "gl..." name; null for those that need
// none.
void *gl_hook(const char *name);

// Whether the function is Cairn's own: there is one also where the driver has none of this name.
bool is_own_function(const char *name);

}  // namespace cairn::gl
