// Where the lack of memory, which the standard library tells by an exception, becomes a value.
// SPDX-License-Identifier: MIT
//
// The layers are compiled so that an exception unwinds through them: destructors give back what was
// taken. It ends at the C interface, in the body of a thread, in a destructor, and wherever work
// must be finished all the same.
//
// Thread safety: a pure function.
// Failure: no_memory, for any exception; the only others are those that embedders must not throw.
#pragma once

#include <bits/functexcept.h>
#include <cxxabi.h>

#include "base/mutex.h"
#include "base/result.h"

namespace cairn {

// As the standard library does, which alone throws: what is loaded into other people's processes
// needs nothing of its own for that.
[[noreturn]] inline void throw_no_memory() {
    std::__throw_bad_alloc();
}

// call(), or `otherwise`. A thread that is being cancelled goes on being so. What `call` requires
// to be locked, the caller has locked.
template <typename Call, typename Otherwise>
CAIRN_ANNOTATION(no_thread_safety_analysis)
auto guarded(Call call, Otherwise otherwise) -> decltype(call()) {
    try {
        return call();
    } catch (abi::__forced_unwind &) {
        throw;
    } catch (...) {
        return otherwise;
    }
}

template <typename Call>
auto guarded(Call call) -> decltype(call()) {
    return guarded(call, Error::no_memory);
}

}  // namespace cairn
