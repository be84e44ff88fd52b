// How many references to an object there are.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once. An object begins with one reference, its creator's.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::d3d12 {

class ReferenceCount {
  public:
    uint32_t add() { return count_.fetch_add(1, std::memory_order_relaxed) + 1; }
    // At 0 the object is to be deleted: everything that was done with it is seen then.
    uint32_t remove() { return count_.fetch_sub(1, std::memory_order_acq_rel) - 1; }

  private:
    std::atomic<uint32_t> count_ = 1;
};

}  // namespace cairn::d3d12
