// A guard around every hook: a lack of memory ends neither the process nor the call.
// SPDX-License-Identifier: MIT
//
// A hook is a function with the driver's function as its first argument. Where the hook runs out of
// memory, the driver alone answers the call, and is asked once.
//
// Thread safety: a Real belongs to one call.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>

#include "base/guarded.h"
#include "common/crash_guard.h"

namespace cairn::gl {

// For work that a call of the application can do without.
template <typename Call>
void attempt(Call call) {
    guarded(call, [] {});
}

struct NamedFunction {
    const char *name;
    void *function;
};

// Null when none has this name.
inline void *function_of_name(std::span<const NamedFunction> functions, const char *name) {
    for (const NamedFunction &one : functions) {
        if (strcmp(one.name, name) == 0) return one.function;
    }
    return nullptr;
}

// The driver's function that a hook stands in front of.
template <typename Function>
class Real;

template <typename R, typename... A>
class Real<R (*)(A...)> {
  public:
    explicit Real(R (*function)(A...)) : function_(function) {}
    Real(const Real &) = delete;
    Real &operator=(const Real &) = delete;

    R operator()(A... arguments) {
        const InsideDriver inside;
        was_called_ = true;
        if constexpr (std::is_void_v<R>) {
            function_(arguments...);
        } else {
            return result_ = function_(arguments...);
        }
    }
    bool was_called() const { return was_called_; }
    // The answer that the driver gave, or gives now.
    R answer(A... arguments) {
        if (!was_called_) return (*this)(arguments...);
        return static_cast<R>(result_);
    }

  private:
    R (*function_)(A...);
    bool was_called_ = false;
    std::conditional_t<std::is_void_v<R>, int, R> result_ = {};
};

}  // namespace cairn::gl
