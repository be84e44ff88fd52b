// SPDX-License-Identifier: MIT
#include "control.h"

#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "common/words.h"
#include "display_cache.h"
#include "gl/caches.h"
#include "gl/hook.h"

namespace cairn::egl {
namespace {

// The extension that the front end adds to those of a display.
constexpr const char *kControlExtension = "EGL_ANGLE_program_cache_control";

void set_error(EGLint error) {
    host().exports->setEGLError(error);
}

// An entry point: a method of the display's cache, whose result becomes EGL's error.
template <typename Function, auto kMethod>
struct Entry;

template <typename R, typename... A, auto kMethod>
struct Entry<R (*)(EGLDisplay, A...), kMethod> {
    using Function = R (*)(EGLDisplay, A...);

    static R call(EGLDisplay display, A... arguments) {
        [[maybe_unused]] EGLint value = 0;
        const auto ask = [&] {
            const EGLint state = initialisation(vendor_of_display(display), display);
            if (state != EGL_SUCCESS) return state;
            gl::is_caching_on();  // what was cleared elsewhere is not to be seen any more
            if constexpr (std::is_void_v<R>) {
                return (display_cache(display).*kMethod)(arguments...);
            } else {
                return (display_cache(display).*kMethod)(arguments..., value);
            }
        };
        set_error(guarded(ask, [] { return EGLint{EGL_BAD_ALLOC}; }));
        return static_cast<R>(value);
    }

    // GLVND calls this for the application; its interface prescribes the form.
    static R dispatch(EGLDisplay display, A... arguments) {
        const __EGLapiExports &exports = *host().exports;
        exports.threadInit();
        __EGLvendorInfo *vendor = exports.getVendorFromDisplay(display);
        if (vendor == nullptr) {
            set_error(EGL_BAD_DISPLAY);
            return R();
        }
        exports.setLastVendor(vendor);
        const auto function = reinterpret_cast<Function>(exports.fetchDispatchEntry(vendor, index));
        if (function == nullptr) {
            set_error(EGL_BAD_ACCESS);
            return R();
        }
        return function(display, arguments...);
    }

    static inline std::atomic<int> index = -1;  // GLVND's; -1 while there is none
};

#define ENTRY(name, type, method)                                                    \
    {                                                                                \
        name, reinterpret_cast<void *>(&Entry<type, &DisplayCache::method>::call),   \
            reinterpret_cast<void *>(&Entry<type, &DisplayCache::method>::dispatch), \
            Entry<type, &DisplayCache::method>::index                                \
    }
const EntryPoint kEntryPoints[] = {
    ENTRY("eglProgramCacheGetAttribANGLE", PFNEGLPROGRAMCACHEGETATTRIBANGLEPROC, attribute),
    ENTRY("eglProgramCacheQueryANGLE", PFNEGLPROGRAMCACHEQUERYANGLEPROC, query),
    ENTRY("eglProgramCachePopulateANGLE", PFNEGLPROGRAMCACHEPOPULATEANGLEPROC, populate),
    ENTRY("eglProgramCacheResizeANGLE", PFNEGLPROGRAMCACHERESIZEANGLEPROC, resize),
    ENTRY("eglGetProgramCacheAttribANGLE", PFNEGLGETPROGRAMCACHEATTRIBANGLEPROC, draft_attribute),
    ENTRY("eglQueryProgramCacheANGLE", PFNEGLQUERYPROGRAMCACHEANGLEPROC, draft_query),
    ENTRY("eglPopulateProgramCacheANGLE", PFNEGLPOPULATEPROGRAMCACHEANGLEPROC, draft_populate),
    ENTRY("eglTrimProgramCacheANGLE", PFNEGLTRIMPROGRAMCACHEANGLEPROC, trim),
};
#undef ENTRY

}  // namespace

const EntryPoint *control_entry(const char *name) {
    const auto *found = std::ranges::find_if(
        kEntryPoints, [name](const EntryPoint &entry) { return strcmp(entry.name, name) == 0; });
    return found == std::end(kEntryPoints) ? nullptr : found;
}

EGLint initialisation(const Vendor &vendor, EGLDisplay display) {
    if (vendor.egl.QueryString(display, EGL_VERSION) != nullptr) return EGL_SUCCESS;
    const EGLint reason = vendor.egl.GetError();
    const bool is_told = reason == EGL_BAD_DISPLAY || reason == EGL_CONTEXT_LOST;
    return is_told ? reason : EGL_NOT_INITIALIZED;
}

const char *with_control(const char *extensions) {
    if (extensions == nullptr || has_word(extensions, kControlExtension)) return extensions;
    return kept(with_word(extensions, kControlExtension));
}

EGLint limit_in(const std::vector<EGLAttrib> &values) {
    const EGLAttrib least = std::ranges::min(values);
    return static_cast<EGLint>(
        std::min<EGLAttrib>(least < 0 ? -1 : values.back(), std::numeric_limits<EGLint>::max()));
}

}  // namespace cairn::egl
