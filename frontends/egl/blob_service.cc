// SPDX-License-Identifier: MIT
#include "blob_service.h"

#include <cairn/internal/front_end.h>

#include <set>
#include <string>

#include "caches.h"
#include "identity.h"
#include "log.h"
#include "mutex.h"
#include "settings.h"
#include "words.h"

namespace cairn::egl {
namespace {

struct Served {
    Mutex mutex;
    std::set<EGLDisplay> ours;          // guarded by mutex: the driver has our functions
    std::set<EGLDisplay> applications;  // guarded by mutex: the application has set its own
};

// Lives for ever, see main.cc.
Served &served() {
    static auto *the_served = new Served;
    return *the_served;
}

const char *string_of(const Vendor &vendor, EGLDisplay display, EGLint name) {
    const char *text = vendor.egl.QueryString(display, name);
    return text == nullptr ? "" : text;
}

// A driver's keys say what it is, so the version of EGL would do. The libraries in the identity
// keep blobs of different drivers apart, which could never use each other's.
cairn_cache *cache_of(const Vendor &vendor, EGLDisplay display) {
    DriverNames names;
    names.vendor = string_of(vendor, display, EGL_VENDOR);
    names.renderer = "the driver's own cache";
    names.version = string_of(vendor, display, EGL_VERSION);
    return cache_for(driver_identity(vendor, names), kBlobsPercent);
}

// cairn_egl_blob_cache_attach gets its functions by name alone.
thread_local const Vendor *t_vendor = nullptr;

cairn_egl_function function_of_vendor(const char *name) {
    return reinterpret_cast<cairn_egl_function>(t_vendor->function(name));
}

}  // namespace

void serve_blobs(const Vendor &vendor, EGLDisplay display) {
    if (!settings().persists || vendor.egl.SetBlobCacheFuncsANDROID == nullptr ||
        !has_word(string_of(vendor, display, EGL_EXTENSIONS), "EGL_ANDROID_blob_cache")) {
        return;
    }
    Served &all = served();
    const MutexLock lock(all.mutex);
    if (all.ours.contains(display) || all.applications.contains(display)) {
        return;
    }
    cairn_cache *cache = cache_of(vendor, display);
    t_vendor = &vendor;
    const int result = cache == nullptr
                           ? int{CAIRN_ERROR_IO}
                           : cairn_egl_blob_cache_attach(display, cache, function_of_vendor);
    if (result == CAIRN_OK) {
        all.ours.insert(display);
    } else {
        log_line("the driver's own cache is not served: %s", cairn_result_string(result));
    }
}

void stop_serving_blobs(EGLDisplay display) {
    Served &all = served();
    const MutexLock lock(all.mutex);
    all.applications.erase(display);
    if (all.ours.erase(display) != 0) {
        cairn_egl_blob_cache_detach(display);
    }
}

void set_own_blobs(const Vendor &vendor, EGLDisplay display, EGLSetBlobFuncANDROID set,
                   EGLGetBlobFuncANDROID get) {
    Served &all = served();
    const MutexLock lock(all.mutex);
    EGLint error = EGL_BAD_PARAMETER;
    if (!all.ours.contains(display)) {
        vendor.egl.GetError();
        vendor.egl.SetBlobCacheFuncsANDROID(display, set, get);
        error = vendor.egl.GetError();
    } else if (set != nullptr && get != nullptr && !all.applications.contains(display) &&
               cairn_egl_blob_cache_redirect(display, set, get) == CAIRN_OK) {
        error = EGL_SUCCESS;
    }
    if (error == EGL_SUCCESS) {
        all.applications.insert(display);
    }
    host().exports->setEGLError(error);
}

bool serves_blobs(EGLDisplay display) {
    Served &all = served();
    const MutexLock lock(all.mutex);
    return all.ours.contains(display);
}

bool has_own_blobs(EGLDisplay display) {
    Served &all = served();
    const MutexLock lock(all.mutex);
    return all.applications.contains(display);
}

}  // namespace cairn::egl
