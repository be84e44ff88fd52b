// SPDX-License-Identifier: MIT
// The way from GLVND to a display's cache, with a driver whose answers are the test's.
#include "control.h"

#include <cairn/eglext_cairn.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "display_cache.h"
#include "testing/front_end.h"

namespace cairn::egl {
namespace {

const char *g_version = "1.5";
EGLint g_reason = EGL_SUCCESS;

class ControlTest : public ::testing::Test {
  protected:
    ControlTest() {
        testing::start_front_end();
        vendor_->egl.QueryString = [](EGLDisplay, EGLint) { return g_version; };
        vendor_->egl.GetError = []() -> EGLint { return g_reason; };
        remember_display(display_, *vendor_);
        testing::g_dispatch_entry = control_entry("eglProgramCacheGetAttribANGLE")->function;
    }
    ~ControlTest() override {
        g_version = "1.5";
        testing::g_dispatch_entry = nullptr;
        testing::g_knows_displays = true;
        testing::take_error();
    }

    EGLint key_length() {
        const auto dispatch = reinterpret_cast<PFNEGLPROGRAMCACHEGETATTRIBANGLEPROC>(
            control_entry("eglProgramCacheGetAttribANGLE")->dispatch);
        return dispatch(display_, EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE);
    }

    // Never freed: displays are remembered for ever.
    Vendor *vendor_ = new Vendor;
    EGLDisplay display_ = new int;
};

TEST_F(ControlTest, ACallFindsItsWay) {
    EXPECT_EQ(key_length(), 20);
    EXPECT_EQ(testing::take_error(), EGL_SUCCESS);
}

TEST_F(ControlTest, TheDriversReasonIsTold) {
    g_version = nullptr;
    for (const EGLint reason : {EGL_CONTEXT_LOST, EGL_BAD_DISPLAY, EGL_NOT_INITIALIZED}) {
        g_reason = reason;
        EXPECT_EQ(key_length(), 0);
        EXPECT_EQ(testing::take_error(), reason);
    }
    g_reason = EGL_BAD_ALLOC;
    EXPECT_EQ(key_length(), 0);
    EXPECT_EQ(testing::take_error(), EGL_NOT_INITIALIZED);
}

TEST_F(ControlTest, ADisplayOfNobodyIsNone) {
    testing::g_knows_displays = false;
    EXPECT_EQ(key_length(), 0);
    EXPECT_EQ(testing::take_error(), EGL_BAD_DISPLAY);
}

TEST_F(ControlTest, AVendorWithoutTheCallsHasNoAccess) {
    testing::g_dispatch_entry = nullptr;
    EXPECT_EQ(key_length(), 0);
    EXPECT_EQ(testing::take_error(), EGL_BAD_ACCESS);
}

TEST_F(ControlTest, EveryEntryPointIsThereAndNoOther) {
    for (const char *name : {"eglProgramCacheGetAttribANGLE", "eglProgramCacheQueryANGLE",
                             "eglProgramCachePopulateANGLE", "eglProgramCacheResizeANGLE",
                             "eglGetProgramCacheAttribANGLE", "eglQueryProgramCacheANGLE",
                             "eglPopulateProgramCacheANGLE", "eglTrimProgramCacheANGLE"}) {
        ASSERT_NE(control_entry(name), nullptr) << name;
        EXPECT_NE(control_entry(name)->function, nullptr) << name;
        EXPECT_NE(control_entry(name)->dispatch, nullptr) << name;
    }
    EXPECT_EQ(control_entry("eglProgramCacheANGLE"), nullptr);
    EXPECT_EQ(control_entry(""), nullptr);
}

TEST(ControlAttributes, OursAreTakenOut) {
    const EGLint name = EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE;
    const EGLint given[] = {0x3098, 3, name, EGL_FALSE, 0x30fb, 1, EGL_NONE};
    const Attributes<EGLint> attributes(given, name);
    EXPECT_EQ(attributes.values, std::vector<EGLint>({EGL_FALSE}));
    EXPECT_EQ(attributes.list, std::vector<EGLint>({0x3098, 3, 0x30fb, 1, EGL_NONE}));
    const EGLint twice[] = {name, EGL_FALSE, name, 2, EGL_NONE};
    EXPECT_EQ(Attributes<EGLint>(twice, name).values, std::vector<EGLint>({EGL_FALSE, 2}));
    EXPECT_EQ(Attributes<EGLint>(nullptr, name).for_driver(), nullptr);
    EXPECT_TRUE(Attributes<EGLint>(nullptr, name).values.empty());
}
TEST(ControlAttributes, OfDisplaysAreLimits) {
    EXPECT_EQ(limit_in({100}), 100);
    EXPECT_EQ(limit_in({100, 0}), 0);
    EXPECT_EQ(limit_in({std::numeric_limits<EGLAttrib>::max()}), INT32_MAX);
    EXPECT_LT(limit_in({-1}), 0);
    EXPECT_LT(limit_in({std::numeric_limits<EGLAttrib>::min(), 100}), 0);
    const EGLAttrib name = EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE;
    const EGLAttrib given[] = {name, 100, 5, 6, EGL_NONE};
    EXPECT_EQ(Attributes<EGLAttrib>(given, name).list, std::vector<EGLAttrib>({5, 6, EGL_NONE}));
    EXPECT_EQ(Attributes<EGLAttrib>(nullptr, name).for_driver(), nullptr);
}

}  // namespace
}  // namespace cairn::egl
