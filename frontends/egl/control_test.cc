// SPDX-License-Identifier: MIT
// The way from GLVND to a display's cache, with a driver whose answers are the test's.
#include "control.h"

#include <cairn/eglext_cairn.h>
#include <gtest/gtest.h>

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
        testing::g_dispatch_entry = control_function("eglProgramCacheGetAttribANGLE");
    }
    ~ControlTest() override {
        g_version = "1.5";
        testing::g_dispatch_entry = nullptr;
        testing::g_knows_displays = true;
        testing::take_error();
    }

    EGLint key_length() {
        const auto dispatch = reinterpret_cast<PFNEGLPROGRAMCACHEGETATTRIBANGLEPROC>(
            control_dispatch("eglProgramCacheGetAttribANGLE"));
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
        EXPECT_NE(control_function(name), nullptr) << name;
        EXPECT_NE(control_dispatch(name), nullptr) << name;
    }
    EXPECT_EQ(control_function("eglProgramCacheANGLE"), nullptr);
    EXPECT_EQ(control_dispatch(""), nullptr);
}

TEST(ControlAttributes, OfContextsAreTakenOut) {
    const EGLint name = EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE;
    const EGLint given[] = {0x3098, 3, name, EGL_FALSE, 0x30fb, 1, EGL_NONE};
    const ContextAttributes attributes(given);
    EXPECT_EQ(attributes.enabled, EGL_FALSE);
    EXPECT_EQ(attributes.list, std::vector<EGLint>({0x3098, 3, 0x30fb, 1, EGL_NONE}));
    const EGLint twice[] = {name, EGL_FALSE, name, 2, EGL_NONE};
    EXPECT_EQ(ContextAttributes(twice).enabled, 2);
    EXPECT_EQ(ContextAttributes(nullptr).for_driver(), nullptr);
    EXPECT_FALSE(ContextAttributes(nullptr).enabled);
}

TEST(ControlAttributes, OfDisplaysAreTakenOut) {
    const EGLAttrib name = EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE;
    const EGLAttrib given[] = {name, 100, 5, 6, EGL_NONE};
    const DisplayAttributes attributes(given);
    EXPECT_EQ(attributes.limit, 100);
    EXPECT_EQ(attributes.list, std::vector<EGLAttrib>({5, 6, EGL_NONE}));
    const EGLAttrib large[] = {name, EGLAttrib{1} << 40, EGL_NONE};
    EXPECT_EQ(DisplayAttributes(large).limit, INT32_MAX);
    const EGLAttrib negative[] = {name, -1, EGL_NONE};
    EXPECT_FALSE(DisplayAttributes(negative).is_valid);
    EXPECT_FALSE(DisplayAttributes(nullptr).limit);
    EXPECT_EQ(DisplayAttributes(nullptr).for_driver(), nullptr);
}

}  // namespace
}  // namespace cairn::egl
