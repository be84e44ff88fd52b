// SPDX-License-Identifier: MIT
#include "hooks.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/crash_guard.h"
#include "record/functions.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// The function that the application calls: the hook, or the driver where the hook lacks memory.
template <auto kMember, auto kFunction>
struct Entry;

template <auto kMember, typename R, typename... A, R (*kFunction)(Real<R (*)(A...)> &, A...)>
struct Entry<kMember, kFunction> {
    static R call(A... arguments) {
        const InsideFrontEnd inside;
        Real<R (*)(A...)> real(current_gl().*kMember);
        return guarded([&] { return kFunction(real, arguments...); },
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
    const auto *found = std::ranges::lower_bound(
        kHooks, std::string_view(name), {}, [](const NamedFunction &hook) { return hook.name; });
    if (found != std::end(kHooks) && found->name == std::string_view(name)) return found->function;
    return settings().records_recipes ? record::hook_of(name) : nullptr;
}

bool is_own_function(const char *name) {
    return std::string_view(name).ends_with("CAIRN");
}

}  // namespace cairn::gl
