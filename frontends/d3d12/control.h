// ShaderCacheControl: switches kinds of caches off and on, and empties them.
// SPDX-License-Identifier: MIT
//
// Thread safety: all methods at once.
// Failure: see apply(); without a root, everything is enabled and cannot be changed.
#pragma once

#include <cairn/cairn_control.h>

#include "com/types.h"
#include "setting.h"

namespace cairn::d3d12 {

class CacheKinds {
  public:
    // `setting` must outlive it.
    explicit CacheKinds(const Setting &setting);
    ~CacheKinds();
    CacheKinds(const CacheKinds &) = delete;
    CacheKinds &operator=(const CacheKinds &) = delete;

    // From then on the driver is told of all changes to DRIVER_MANAGED. False: refused.
    bool register_driver(const cairn_driver_cache &driver);
    bool driver_cache_present() const;
    // Tells the driver of changes by other processes; cheap.
    void tell_driver() { cairn_control_tell_drivers(control_); }

    // As cairn_d3d12_shader_cache_control.
    Result apply(uint32_t kinds, uint32_t flags);

  private:
    Result result_of(int result) const;

    const Setting &setting_;
    cairn_control *control_ = nullptr;
};

}  // namespace cairn::d3d12
