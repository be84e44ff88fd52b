// Where calls from outside come in: no exception leaves them.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include "com/types.h"

namespace cairn::d3d12 {

// The result of `body`; E_OUTOFMEMORY for an exception of the standard library, which here always
// means that memory cannot be had. Others, such as that of pthread_cancel, are not ours to keep.
template <typename Body>
Result without_exceptions(const Body &body) {
    try {
        return body();
    } catch (const std::exception &) {
        return kOutOfMemory;
    }
}

}  // namespace cairn::d3d12
