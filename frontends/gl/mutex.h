// A mutex that the thread which holds it may lock again, and objects that live as long as the
// process.
// SPDX-License-Identifier: MIT
//
// Recursive because a driver may call the application's debug callback from inside a compile or
// link, on the same thread, while an object is locked; an application that queries the object there
// must not stop for ever. Order of locks: program, then shader, then share group; the registry of
// contexts and the caches are locked alone, but for the list of all ProgramMemory, which is locked
// last. A display's blobs are locked before the caches. Trivially
// destructible: nothing runs at process exit, where other threads may still hold one.
#pragma once

#include "base/mutex.h"

namespace cairn::gl {

using Mutex = RecursiveMutex;

// The process's one object of this type, which is never destroyed: a front end never ends.
template <typename T>
T &the_only() {
    static auto *object = new T;
    return *object;
}

}  // namespace cairn::gl
