// The GL entry points that the front end stands in front of: those that change or observe what it
// keeps back, and those that tell of what it adds. gl_functions.inc lists them.
// SPDX-License-Identifier: MIT
//
// The names of one function (core, ARB, EXT) share a hook, which gets the driver's function that
// it stands in front of. Every hook passes a call through when no context is current or the object
// is not tracked.
#pragma once

#include <memory>
#include <string>

#include "context.h"
#include "hook.h"

namespace cairn::egl {

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

// Copies a log as glGet...InfoLog does. REQUIRES: the capacity is not negative.
void copy_log(const std::string &log, GLsizei capacity, GLsizei *size, GLchar *buffer);

// Answers glGet...InfoLog of a shader or program (or null) whose log the driver does not have. A
// negative capacity is an error, which is the driver's to report.
template <typename Object>
bool answer_info_log(const std::shared_ptr<Object> &object, GLsizei capacity, GLsizei *size,
                     GLchar *log) {
    if (object == nullptr || capacity < 0) {
        return false;
    }
    const MutexLock lock(object->mutex);
    const Report *report = object->kept_report();
    if (report != nullptr) {
        copy_log(report->log, capacity, size, log);
    }
    return report != nullptr;
}

// Answers glGetShaderiv and its like where the driver, which `query` asks, does not know.
bool answer_parameter(const ShaderRef &shader, Real<PFNGLGETSHADERIVPROC> &query, GLenum name,
                      GLint *value);

}  // namespace cairn::egl
