// SPDX-License-Identifier: MIT
#include "gl_hooks.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace cairn::egl {
namespace {

// The function that the application calls: the hook, or the driver where the hook lacks memory.
template <auto Member, auto Function>
struct Entry;

template <auto Member, typename R, typename... A, R (*Function)(Real<R (*)(A...)> &, A...)>
struct Entry<Member, Function> {
    static R call(A... arguments) {
        Real<R (*)(A...)> real(current_gl().*Member);
        return guarded([&] { return Function(real, arguments...); },
                       [&] { return real.answer(arguments...); });
    }
};

#define HOOKED(name, type, hook) \
    {"gl" #name, reinterpret_cast<void *>(&Entry<&GlFunctions::name, &hooks::hook>::call)},
#define CALLED(name, type)
// In order of name, which gl_hook() searches by halving.
const NamedFunction kHooks[] = {GL_FUNCTIONS(HOOKED, CALLED)};
#undef HOOKED
#undef CALLED

}  // namespace

void *gl_hook(const char *name) {
    const auto *found = std::lower_bound(std::begin(kHooks), std::end(kHooks), name,
                                         [](const NamedFunction &hook, const char *wanted) {
                                             return strcmp(hook.name, wanted) < 0;
                                         });
    const bool is_hooked = found != std::end(kHooks) && strcmp(found->name, name) == 0;
    return is_hooked ? found->function : nullptr;
}

void copy_log(const std::string &log, GLsizei capacity, GLsizei *size, GLchar *buffer) {
    size_t copied = 0;
    if (capacity > 0 && buffer != nullptr) {
        copied = std::min(log.size(), static_cast<size_t>(capacity) - 1);
        memcpy(buffer, log.data(), copied);
        buffer[copied] = '\0';
    }
    if (size != nullptr) {
        *size = static_cast<GLsizei>(copied);
    }
}

}  // namespace cairn::egl
