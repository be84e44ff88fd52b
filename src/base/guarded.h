// Turns the standard library's exception for lack of memory into a value.
// SPDX-License-Identifier: MIT
//
// The layers are compiled so that an exception unwinds through them, and destructors release what
// was acquired. The exception ends at the C interface, in the body of a thread, in a destructor,
// and wherever work must be finished all the same.
//
// Thread safety: a pure function.
// Failure: no_memory, for any exception; the only others are those that embedders must not throw.
#pragma once

#include <bits/functexcept.h>
#include <cxxabi.h>

#include <type_traits>

#include "base/mutex.h"
#include "base/result.h"

namespace cairn {

// Throws by the standard library's own function, so that libraries in other people's processes need
// no code of their own for it.
[[noreturn]] inline void throw_no_memory() {
    std::__throw_bad_alloc();
}

// call() or, if it throws, `otherwise`, or otherwise() where that is a function. Does not stop the
// cancellation of a thread, for which libstdc++ gives the handler a null reference. The caller holds
// the locks that `call` requires.
template <typename Call, typename Otherwise>
__attribute__((no_sanitize("undefined")))
CAIRN_ANNOTATION(no_thread_safety_analysis) auto guarded(Call call, Otherwise otherwise)
    -> decltype(call()) {
    try {
        return call();
    } catch (abi::__forced_unwind &) {
        throw;
    } catch (...) {
        if constexpr (std::is_invocable_v<Otherwise>) {
            return otherwise();
        } else {
            return otherwise;
        }
    }
}

template <typename Call>
auto guarded(Call call) -> decltype(call()) {
    return guarded(call, Error::no_memory);
}

}  // namespace cairn
