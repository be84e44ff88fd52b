// SPDX-License-Identifier: MIT
// An application's own functions, with a driver that has none of ours.
#include "blob_service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "control.h"
#include "display_cache.h"
#include "egl_hooks.h"
#include "testing/front_end.h"

// The driver's cache stays open for as long as the process lives, and its writer has what it holds
// in memory that a leak check does not look into.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
using KeptForEver = __lsan::ScopedDisabler;
#else
struct KeptForEver {
    KeptForEver() {}
};
#endif

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
    EXPECT_FALSE(display_cache(display).is_kept_off_disk);
    g_answer = EGL_SUCCESS;
    set_own_blobs(vendor, display, set, get);
    EXPECT_EQ(testing::take_error(), EGL_SUCCESS);
    EXPECT_TRUE(display_cache(display).is_kept_off_disk);
    g_answer = EGL_BAD_PARAMETER;
    set_own_blobs(vendor, display, set, get);
    EXPECT_EQ(testing::take_error(), EGL_BAD_PARAMETER);
    EXPECT_TRUE(display_cache(display).is_kept_off_disk) << "those that were set before";
    stop_serving_blobs(display);
    EXPECT_FALSE(display_cache(display).is_kept_off_disk);
}

// A driver that is initialised by another thread just when it has said that it is not.
struct Driver {
    bool is_initialised = false;
    bool is_raced = false;
    EGLSetBlobFuncANDROID set = nullptr;
    EGLGetBlobFuncANDROID get = nullptr;
};
Driver g_driver;
EGLDisplay g_display = EGL_NO_DISPLAY;

template <typename Function>
Function hook(const char *name) {
    return reinterpret_cast<Function>(egl_hook(name));
}

const char *query_string(EGLDisplay, EGLint name) {
    if (!g_driver.is_initialised) {
        if (std::exchange(g_driver.is_raced, false)) {
            hook<PFNEGLINITIALIZEPROC>("eglInitialize")(g_display, nullptr, nullptr);
        }
        return nullptr;
    }
    return name == EGL_EXTENSIONS ? "EGL_ANDROID_blob_cache" : "1.5";
}

void set_functions(EGLDisplay, EGLSetBlobFuncANDROID set, EGLGetBlobFuncANDROID get) {
    g_error = g_driver.set == nullptr ? EGL_SUCCESS : EGL_BAD_PARAMETER;
    if (g_driver.set == nullptr) {
        g_driver.set = set;
        g_driver.get = get;
    }
}

EGLint take_driver_error() {
    return std::exchange(g_error, EGL_SUCCESS);
}

void *driver_function(const char *name) {
    const std::string_view wanted = name;
    return wanted == "eglQueryString"                ? reinterpret_cast<void *>(&query_string)
           : wanted == "eglGetError"                 ? reinterpret_cast<void *>(&take_driver_error)
           : wanted == "eglSetBlobCacheFuncsANDROID" ? reinterpret_cast<void *>(&set_functions)
                                                     : nullptr;
}

// Removed when the process ends: a control file that goes before has memory emptied, as by
// `cairn control --clear`, while other tests count what is there.
struct Folder {
    ~Folder() { std::filesystem::remove_all(path); }
    const std::string path =
        (std::filesystem::temp_directory_path() / ("cairn-blobs-" + std::to_string(getpid())))
            .string();
} g_folder;

TEST(BlobServiceTest, ADisplayThatIsInitialisedAgainMeanwhileIsServed) {
    const KeptForEver kept;
    testing::start_front_end();
    setenv("CAIRN_DIR", g_folder.path.c_str(), 1);
    // Never freed: displays are remembered for ever.
    auto *vendor = new Vendor;
    g_display = vendor;
    vendor->find = driver_function;
    vendor->egl.QueryString = query_string;
    vendor->egl.GetError = take_driver_error;
    vendor->egl.SetBlobCacheFuncsANDROID = set_functions;
    vendor->egl.Initialize = [](EGLDisplay, EGLint *, EGLint *) -> EGLBoolean {
        return g_driver.is_initialised = true;
    };
    vendor->egl.Terminate = [](EGLDisplay) -> EGLBoolean {
        g_driver.is_initialised = false;
        return EGL_TRUE;
    };
    remember_display(g_display, *vendor);
    hook<PFNEGLINITIALIZEPROC>("eglInitialize")(g_display, nullptr, nullptr);
    ASSERT_NE(g_driver.set, nullptr);
    const auto is_served = [] {
        g_driver.set("key", 3, "value", 5);
        return g_driver.get("key", 3, nullptr, 0) == 5;
    };
    EXPECT_TRUE(is_served());
    g_driver.is_raced = true;
    hook<PFNEGLTERMINATEPROC>("eglTerminate")(g_display);
    EXPECT_TRUE(g_driver.is_initialised);
    EXPECT_TRUE(is_served());
    hook<PFNEGLTERMINATEPROC>("eglTerminate")(g_display);
    EXPECT_FALSE(is_served());
}

}  // namespace
}  // namespace cairn::egl
