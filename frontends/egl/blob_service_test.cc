// SPDX-License-Identifier: MIT
// An application's own functions, with a driver that has none of ours.
#include "blob_service.h"

#include <gtest/gtest.h>

#include <utility>

#include "testing/front_end.h"

namespace cairn::egl {
namespace {

EGLint g_error = EGL_SUCCESS;
EGLint g_answer = EGL_SUCCESS;

TEST(BlobServiceTest, OnlyWhatTheDriverAcceptsIsTheApplications) {
    testing::start_front_end();
    Vendor vendor;
    vendor.egl.GetError = []() -> EGLint { return std::exchange(g_error, EGL_SUCCESS); };
    vendor.egl.SetBlobCacheFuncsANDROID = [](EGLDisplay, EGLSetBlobFuncANDROID,
                                             EGLGetBlobFuncANDROID) { g_error = g_answer; };
    const auto set = [](const void *, EGLsizeiANDROID, const void *, EGLsizeiANDROID) {};
    const auto get = [](const void *, EGLsizeiANDROID, void *, EGLsizeiANDROID) {
        return EGLsizeiANDROID{0};
    };
    const EGLDisplay display = &vendor;
    g_error = EGL_BAD_ALLOC;  // of an earlier call
    g_answer = EGL_BAD_PARAMETER;
    set_own_blobs(vendor, display, set, get);
    EXPECT_EQ(testing::take_error(), EGL_BAD_PARAMETER);
    EXPECT_FALSE(has_own_blobs(display));
    g_answer = EGL_SUCCESS;
    set_own_blobs(vendor, display, set, get);
    EXPECT_EQ(testing::take_error(), EGL_SUCCESS);
    EXPECT_TRUE(has_own_blobs(display));
    g_answer = EGL_BAD_PARAMETER;
    set_own_blobs(vendor, display, set, get);
    EXPECT_EQ(testing::take_error(), EGL_BAD_PARAMETER);
    EXPECT_TRUE(has_own_blobs(display)) << "those that were set before";
    stop_serving_blobs(display);
    EXPECT_FALSE(has_own_blobs(display));
}

}  // namespace
}  // namespace cairn::egl
