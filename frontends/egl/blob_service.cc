// SPDX-License-Identifier: MIT
#include "blob_service.h"

#include <cairn/internal/front_end.h>

#include <string_view>

#include "common/words.h"
#include "display_cache.h"
#include "gl/caches.h"
#include "gl/identity.h"
#include "gl/settings.h"

namespace cairn::egl {
namespace {

const char *string_of(const Vendor &vendor, EGLDisplay display, EGLint name) {
    const char *text = vendor.egl.QueryString(display, name);
    return text == nullptr ? "" : text;
}

// What is known of the driver before there is a context: its name, from Mesa. Blobs of a driver that
// draws with the processor are machine code. Mesa's keys for it have those features of the processor
// that Mesa uses itself, and its compiler uses all: another processor may have the same key and not
// the same instructions. The number of processors is in the keys, and such blobs are only not found.
gl::Processor processor_of(const Vendor &vendor, EGLDisplay display) {
    const bool is_named =
        vendor.egl.GetDisplayDriverName != nullptr &&
        has_word(string_of(vendor, display, EGL_EXTENSIONS), "EGL_MESA_query_driver");
    const char *name = is_named ? vendor.egl.GetDisplayDriverName(display) : nullptr;
    const bool draws =
        name != nullptr
            ? gl::draws_with_processor(name)
            : std::string_view(string_of(vendor, display, EGL_VENDOR)).starts_with("Mesa");
    return draws ? gl::Processor::type : gl::Processor::unimportant;
}

// For the rest a driver's keys say what it is, so the version of EGL would do. The libraries in the
// identity keep blobs of different drivers apart, which could never use each other's.
cairn_cache *cache_of(const Vendor &vendor, EGLDisplay display) {
    const gl::DriverNames names = {.vendor = string_of(vendor, display, EGL_VENDOR),
                                   .renderer = "the driver's own cache",
                                   .version = string_of(vendor, display, EGL_VERSION),
                                   .language = {}};
    return gl::cache_for(gl::driver_identity(vendor.code, names, processor_of(vendor, display)),
                         gl::kBlobsPercent);
}

// cairn_egl_blob_cache_attach gets its functions by name alone.
thread_local const Vendor *t_vendor = nullptr;

cairn_egl_function function_of_vendor(const char *name) {
    return reinterpret_cast<cairn_egl_function>(t_vendor->find(name));
}

// In 32-bit programs EGLsizeiANDROID is a long and ptrdiff_t an int, which a call passes alike.
auto as_cairn(EGLSetBlobFuncANDROID set) {
    return reinterpret_cast<void (*)(const void *, ptrdiff_t, const void *, ptrdiff_t)>(set);
}

auto as_cairn(EGLGetBlobFuncANDROID get) {
    return reinterpret_cast<ptrdiff_t (*)(const void *, ptrdiff_t, void *, ptrdiff_t)>(get);
}

}  // namespace

void serve_blobs(const Vendor &vendor, EGLDisplay display) {
    if (!gl::settings().persists || vendor.egl.SetBlobCacheFuncsANDROID == nullptr ||
        !has_word(string_of(vendor, display, EGL_EXTENSIONS), "EGL_ANDROID_blob_cache")) {
        return;
    }
    DisplayCache &state = display_cache(display);
    const MutexLock lock(state.changing_blobs);
    if (state.leaves_room_for_blobs || state.is_kept_off_disk) return;
    cairn_cache *cache = cache_of(vendor, display);
    t_vendor = &vendor;
    const int result = cache == nullptr
                           ? int{CAIRN_ERROR_IO}
                           : cairn_egl_blob_cache_attach(display, cache, function_of_vendor);
    state.leaves_room_for_blobs = result == CAIRN_OK;
    if (result != CAIRN_OK) {
        gl::log().write(Severity::warning, "the driver's own cache is not served: %s",
                        cairn_result_string(result));
    }
}

void stop_serving_blobs(EGLDisplay display) {
    DisplayCache &state = display_cache(display);
    const MutexLock lock(state.changing_blobs);
    state.is_kept_off_disk = false;
    if (state.leaves_room_for_blobs.exchange(false)) {
        cairn_egl_blob_cache_detach(display);
    }
}

void set_own_blobs(const Vendor &vendor, EGLDisplay display, EGLSetBlobFuncANDROID set,
                   EGLGetBlobFuncANDROID get) {
    DisplayCache &state = display_cache(display);
    const MutexLock lock(state.changing_blobs);
    EGLint error = EGL_BAD_PARAMETER;
    if (!state.leaves_room_for_blobs) {
        vendor.egl.GetError();
        vendor.egl.SetBlobCacheFuncsANDROID(display, set, get);
        error = vendor.egl.GetError();
    } else if (set != nullptr && get != nullptr && !state.is_kept_off_disk &&
               cairn_egl_blob_cache_redirect(display, as_cairn(set), as_cairn(get)) == CAIRN_OK) {
        error = EGL_SUCCESS;
    }
    if (error == EGL_SUCCESS) {
        state.is_kept_off_disk = true;
    }
    host().exports->setEGLError(error);
}

}  // namespace cairn::egl
