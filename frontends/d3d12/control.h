// ShaderCacheControl: switches kinds of caches off and on, and empties them.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread.
#pragma once

#include <cairn/cairn_control.h>

#include "com/types.h"
#include "setting.h"

namespace cairn::d3d12 {

// As cairn_d3d12_shader_cache_control, with the control of the setting's root; null: there is no
// memory. Without a root, everything is enabled and cannot be changed.
Result apply_control(const Setting &setting, cairn_control *control, uint32_t kinds,
                     uint32_t flags);

}  // namespace cairn::d3d12
