// The adapters as C++17, which is all that they need.
// SPDX-License-Identifier: MIT
#include <adapters/bgfx_callback.h>
#include <adapters/dawn_caching_interface.h>
#include <adapters/egl_blob_cache.h>
#include <adapters/sdl_gpu.h>
#ifdef HAS_VULKAN
#include <adapters/vulkan_pipeline_cache.h>
#endif

static_assert(__cplusplus < 202000);
