// SPDX-License-Identifier: MIT
#include "settings.h"

#include <gtest/gtest.h>

namespace cairn::gl {
namespace {

TEST(SettingsTest, WhatChangesCompilingBelongsToTheDriver) {
    for (const char *name : {"NIR_DEBUG",      "MESA_GL_VERSION_OVERRIDE",
                             "LP_DEBUG",       "LP_NATIVE_VECTOR_WIDTH",
                             "LP_PERF",        "GALLIUM_OVERRIDE_CPU_CAPS",
                             "GALLIUM_NOSSE",  "GALLIUM_DRIVER",
                             "GALLIVM_PERF",   "ST_DEBUG",
                             "DRAW_USE_LLVM",  "DRAW_NO_FSE",
                             "SOFTPIPE_DEBUG", "D3D12_DEBUG",
                             "VIRGL_DEBUG",    "R600_NIR_DEBUG",
                             "RADV_DEBUG",     "MESA_GLSL",
                             "__GL_FSAA_MODE", "__GL_YIELDING",
                             "glsl_zero_init", "do_dce_before_clip_cull_analysis"}) {
        EXPECT_TRUE(changes_compiling(name)) << name;
    }
}

TEST(SettingsTest, WhatOnlyChangesRunningDoesNot) {
    for (const char *name :
         {"LP_NUM_THREADS", "GALLIUM_THREAD", "GALLIUM_HUD", "GALLIUM_HUD_PERIOD",
          "MESA_GLSL_CACHE_DIR", "__GL_SYNC_TO_VBLANK", "__GL_SHADER_DISK_CACHE",
          "__GL_SHADER_DISK_CACHE_PATH", "__GL_THREADED_OPTIMIZATIONS", "__GL_YIELD", "HOME", ""}) {
        EXPECT_FALSE(changes_compiling(name)) << name;
    }
}

}  // namespace
}  // namespace cairn::gl
