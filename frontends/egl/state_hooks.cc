// SPDX-License-Identifier: MIT
#include "state_hooks.h"

#include "blob_service.h"
#include "capabilities.h"

namespace cairn::egl {

Context *control_context() {
    Context *context = bound_context();
    if (context == nullptr) {
        return nullptr;
    }
    describe(*context);
    return context->has_control ? context : nullptr;
}

bool is_cache_enabled() {
    return current_context()->is_enabled();
}

const GLubyte *extensions_of_context(const Context &context, const GLubyte *of_driver) {
    if (!context.adds_control) {
        return of_driver;
    }
    const auto *text = reinterpret_cast<const char *>(of_driver);
    return reinterpret_cast<const GLubyte *>(kept(with_word(text, kControlExtension)));
}

GLint count_before_ours(const Context *context) {
    GLint count = 0;
    if (context != nullptr && context->adds_control && context->numbers_extensions) {
        current_gl().GetIntegerv(GL_NUM_EXTENSIONS, &count);
    }
    return count;
}

void note_own_blobs(bool has_own) {
    if (Context *context = current_context()) {
        context->cache = has_own || has_own_blobs(context->display) ? nullptr : context->disk;
    }
}

}  // namespace cairn::egl
