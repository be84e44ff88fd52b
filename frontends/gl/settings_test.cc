// SPDX-License-Identifier: MIT
#include "settings.h"

#include <gtest/gtest.h>

namespace cairn::gl {
namespace {

TEST(SettingsTest, WhatChangesCompilingBelongsToTheDriver) {
    for (const char *name :
         {"NIR_DEBUG", "MESA_GL_VERSION_OVERRIDE", "LP_DEBUG", "LP_NATIVE_VECTOR_WIDTH",
          "__GL_FSAA_MODE", "__GL_YIELDING", "glsl_zero_init"}) {
        EXPECT_TRUE(changes_compiling(name)) << name;
    }
}

TEST(SettingsTest, WhatOnlyChangesRunningDoesNot) {
    for (const char *name :
         {"LP_NUM_THREADS", "GALLIUM_HUD", "GALLIUM_HUD_PERIOD", "MESA_GLSL_CACHE_DIR",
          "__GL_SYNC_TO_VBLANK", "__GL_SHADER_DISK_CACHE", "__GL_SHADER_DISK_CACHE_PATH",
          "__GL_THREADED_OPTIMIZATIONS", "__GL_YIELD", "HOME", ""}) {
        EXPECT_FALSE(changes_compiling(name)) << name;
    }
}

}  // namespace
}  // namespace cairn::gl
