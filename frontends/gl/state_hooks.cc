// SPDX-License-Identifier: MIT
// The hooks for a context's extensions and state: GL_ANGLE_program_cache_control and its one value.
// They also pass on calls in contexts that cannot have programs.
#include <cairn/eglext_cairn.h>

#include <string_view>
#include <type_traits>

#include "common/words.h"
#include "hooks.h"

namespace cairn::gl {
namespace {

// The context that offers the extension, described; or null.
Context *control_context() {
    Context *context = bound_context();
    if (context == nullptr || !context->offers_control) return nullptr;
    describe(*context);
    return context->has_control ? context : nullptr;
}

// How many extensions the driver has now; 0 where they have no numbers, or the name is its own.
GLint count_before_ours(const Context *context) {
    GLint count = 0;
    if (context != nullptr && context->adds_control && context->numbers_extensions) {
        current_gl().GetIntegerv(GL_NUM_EXTENSIONS, &count);
    }
    return count;
}

// glGetBooleanv and its like.
template <typename T>
void get_state(Real<void (*)(GLenum, T *)> &real, GLenum name, T *values) {
    const bool is_count = name == GL_NUM_EXTENSIONS;
    const bool is_ours = name == GL_PROGRAM_CACHE_ENABLED_ANGLE;
    const Context *context = is_count || is_ours ? control_context() : nullptr;
    if (context == nullptr || values == nullptr || !is_ours) {
        real(name, values);
    } else {
        *values = static_cast<T>(current_context()->is_enabled() ? 1 : 0);
    }
    // A boolean says only whether there are any.
    const GLint count = values != nullptr && is_count ? count_before_ours(context) : 0;
    if (count > 0) {
        *values = static_cast<T>(std::is_same_v<T, GLboolean> ? 1 : count + 1);
    }
}

}  // namespace

namespace hooks {

const GLubyte *get_string(Real<PFNGLGETSTRINGPROC> &real, GLenum name) {
    const GLubyte *of_driver = real(name);
    const Context *context =
        name == GL_EXTENSIONS && of_driver != nullptr ? control_context() : nullptr;
    if (context == nullptr || !context->adds_control) return of_driver;
    const auto *text = reinterpret_cast<const char *>(of_driver);
    return reinterpret_cast<const GLubyte *>(kept(with_word(text, kControlExtension)));
}

const GLubyte *get_string_i(Real<PFNGLGETSTRINGIPROC> &real, GLenum name, GLuint index) {
    if (name == GL_EXTENSIONS) {
        const GLint count = count_before_ours(control_context());
        if (count > 0 && index == static_cast<GLuint>(count)) {
            return reinterpret_cast<const GLubyte *>(kControlExtension);
        }
    }
    return real(name, index);
}

GLboolean is_enabled(Real<PFNGLISENABLEDPROC> &real, GLenum name) {
    if (name == GL_PROGRAM_CACHE_ENABLED_ANGLE && control_context() != nullptr) {
        return current_context()->is_enabled() ? GL_TRUE : GL_FALSE;
    }
    return real(name);
}

void get_boolean_v(Real<PFNGLGETBOOLEANVPROC> &real, GLenum name, GLboolean *values) {
    get_state(real, name, values);
}
void get_double_v(Real<PFNGLGETDOUBLEVPROC> &real, GLenum name, GLdouble *values) {
    get_state(real, name, values);
}
void get_float_v(Real<PFNGLGETFLOATVPROC> &real, GLenum name, GLfloat *values) {
    get_state(real, name, values);
}
void get_integer_v(Real<PFNGLGETINTEGERVPROC> &real, GLenum name, GLint *values) {
    get_state(real, name, values);
}
void get_integer64_v(Real<PFNGLGETINTEGER64VPROC> &real, GLenum name, GLint64 *values) {
    get_state(real, name, values);
}

GLsizei get_program_cache_identifier(Real<PFNGLGETPROGRAMCACHEIDENTIFIERCAIRNPROC> &real,
                                     GLsizei capacity, GLchar *identifier) {
    // Another Cairn behind this one.
    const GLsizei further = real(capacity, identifier);
    if (further > 0) return further;
    const Context *context = current_context();
    const char *name = context == nullptr || context->cache == nullptr
                           ? nullptr
                           : cairn_program_cache_identifier(context->cache);
    const std::string_view text = name == nullptr ? "" : name;
    if (capacity > 0 && identifier != nullptr) {
        identifier[text.copy(identifier, static_cast<size_t>(capacity) - 1)] = '\0';
    }
    return static_cast<GLsizei>(text.size());
}

// The driver judges the call: both functions or none.
void blob_cache_callbacks(Real<PFNGLBLOBCACHECALLBACKSANGLEPROC> &real, BlobSetFunction set,
                          BlobGetFunction get, const void *user) {
    real(set, get, user);
    Context *context = (set == nullptr) == (get == nullptr) ? current_context() : nullptr;
    if (context != nullptr && context->disk != nullptr) {
        const bool has_own = set != nullptr || context->programs->is_kept_off_disk;
        context->cache = has_own ? nullptr : context->disk;
    }
}

}  // namespace hooks
}  // namespace cairn::gl
