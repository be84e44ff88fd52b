// SPDX-License-Identifier: MIT
#include "control.h"

#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "display_cache.h"
#include "hook.h"
#include "switch.h"
#include "words.h"

namespace cairn::egl {
namespace {

void set_error(EGLint error) {
    host().exports->setEGLError(error);
}

// An entry point: a method of the display's cache, whose result becomes EGL's error.
template <typename Function, auto Method>
struct Entry;

template <typename R, typename... A, auto Method>
struct Entry<R (*)(EGLDisplay, A...), Method> {
    using Function = R (*)(EGLDisplay, A...);

    static R call(EGLDisplay display, A... arguments) {
        [[maybe_unused]] EGLint value = 0;
        const auto ask = [&] {
            EGLint error = EGL_SUCCESS;
            if (!is_initialised(vendor_of_display(display), display, error)) {
                return error;
            }
            is_caching_on();  // what was cleared elsewhere is not to be seen any more
            if constexpr (std::is_void_v<R>) {
                return (display_cache(display).*Method)(arguments...);
            } else {
                return (display_cache(display).*Method)(arguments..., value);
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

struct EntryPoint {
    const char *name;
    void *function;
    void *dispatch;
    std::atomic<int> &index;
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

const EntryPoint *find(const char *name) {
    const auto *found =
        std::find_if(std::begin(kEntryPoints), std::end(kEntryPoints),
                     [name](const EntryPoint &entry) { return strcmp(entry.name, name) == 0; });
    return found == std::end(kEntryPoints) ? nullptr : found;
}

// Takes the pairs of `name` out of a list; `take` gets their values.
template <typename T, typename Take>
std::vector<T> without(const T *attributes, T name, Take take) {
    std::vector<T> rest;
    for (const T *pair = attributes; pair != nullptr && pair[0] != T{EGL_NONE}; pair += 2) {
        if (pair[0] == name) {
            take(pair[1]);
        } else {
            rest.insert(rest.end(), pair, pair + 2);
        }
    }
    rest.push_back(EGL_NONE);
    return rest;
}

}  // namespace

void *control_function(const char *name) {
    const EntryPoint *entry = find(name);
    return entry == nullptr ? nullptr : entry->function;
}

void *control_dispatch(const char *name) {
    const EntryPoint *entry = find(name);
    return entry == nullptr ? nullptr : entry->dispatch;
}

void remember_control_index(const char *name, int index) {
    if (const EntryPoint *entry = find(name)) {
        entry->index = index;
    }
}

bool is_initialised(const Vendor &vendor, EGLDisplay display, EGLint &error) {
    if (vendor.egl.QueryString(display, EGL_VERSION) != nullptr) {
        return true;
    }
    const EGLint reason = vendor.egl.GetError();
    const bool is_told = reason == EGL_BAD_DISPLAY || reason == EGL_CONTEXT_LOST;
    error = is_told ? reason : EGL_NOT_INITIALIZED;
    return false;
}

const char *with_control(const char *extensions) {
    if (extensions == nullptr || has_word(extensions, kEglControlExtension)) {
        return extensions;
    }
    return kept(with_word(extensions, kEglControlExtension));
}

ContextAttributes::ContextAttributes(const EGLint *attributes)
    : is_given(attributes != nullptr),
      list(without<EGLint>(attributes, EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE,
                           [this](EGLint value) { enabled = value; })) {}

DisplayAttributes::DisplayAttributes(const EGLAttrib *attributes)
    : is_given(attributes != nullptr),
      list(without<EGLAttrib>(
          attributes, EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE, [this](EGLAttrib value) {
              is_valid &= value >= 0;
              limit = static_cast<EGLint>(
                  std::min<EGLAttrib>(value, std::numeric_limits<EGLint>::max()));
          })) {}

}  // namespace cairn::egl
