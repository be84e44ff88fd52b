// What objects of COM have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "base/guarded.h"
#include "com/types.h"

namespace cairn::d3d12 {

// How many references to an object there are. An object begins with one, its creator's. Any thread.
class ReferenceCount {
  public:
    uint32_t add() { return count_.fetch_add(1, std::memory_order_relaxed) + 1; }
    // At 0 the object is to be deleted: everything that was done with it is seen then.
    uint32_t remove() { return count_.fetch_sub(1, std::memory_order_acq_rel) - 1; }

  private:
    std::atomic<uint32_t> count_ = 1;
};

// Gives back a reference to an object, for smart pointers.
struct ReleaseReference {
    void operator()(Unknown *object) const { object->Release(); }
};

// The result of `body`, which is a call from outside: no exception leaves it.
template <typename Body>
Result without_exceptions(Body body) {
    return guarded(body, kOutOfMemory);
}

// Begins a call that returns an object of this interface in `object`. False: E_POINTER.
inline bool has_place_for(const Guid *iid, void **object) {
    if (object != nullptr) {
        *object = nullptr;
    }
    return object != nullptr && iid != nullptr;
}

}  // namespace cairn::d3d12
