// SPDX-License-Identifier: MIT
#include "control.h"

#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>

#include "display_cache.h"
#include "switch.h"
#include "words.h"

namespace cairn::egl {
namespace {

void set_error(EGLint error) {
    host().exports->setEGLError(error);
}

// Calls `function` with the display's cache and makes its result EGL's error.
template <typename Function>
void control(EGLDisplay display, Function function) {
    EGLint error = EGL_SUCCESS;
    if (is_initialised(vendor_of_display(display), display, error)) {
        is_caching_on();  // what was cleared elsewhere is not to be seen any more
        error = function(display_cache(display));
    }
    set_error(error);
}

EGLint get_attribute(EGLDisplay display, EGLenum name) {
    EGLint value = 0;
    control(display, [&](DisplayCache &cache) { return cache.attribute(name, value); });
    return value;
}

void query(EGLDisplay display, EGLint index, void *key, EGLint *key_size, void *binary,
           EGLint *binary_size) {
    control(display, [&](DisplayCache &cache) {
        return cache.query(index, key, key_size, binary, binary_size);
    });
}

void populate(EGLDisplay display, const void *key, EGLint key_size, const void *binary,
              EGLint binary_size) {
    control(display, [&](DisplayCache &cache) {
        return cache.populate(key, key_size, binary, binary_size);
    });
}

EGLint resize(EGLDisplay display, EGLint limit, EGLint mode) {
    EGLint bytes = 0;
    control(display, [&](DisplayCache &cache) { return cache.resize(limit, mode, bytes); });
    return bytes;
}

void draft_get_attribute(EGLDisplay display, EGLenum name, EGLint *value) {
    control(display, [&](DisplayCache &cache) { return cache.draft_attribute(name, value); });
}

void draft_query(EGLDisplay display, EGLint index, void *key, EGLint *key_size, void *binary,
                 EGLint *binary_size) {
    control(display, [&](DisplayCache &cache) {
        return cache.draft_query(index, key, key_size, binary, binary_size);
    });
}

void draft_populate(EGLDisplay display, void *key, EGLint key_size, void *binary,
                    EGLint binary_size) {
    control(display, [&](DisplayCache &cache) {
        return cache.draft_populate(key, key_size, binary, binary_size);
    });
}

EGLint draft_trim(EGLDisplay display, EGLint limit) {
    EGLint freed = 0;
    control(display, [&](DisplayCache &cache) { return cache.trim(limit, freed); });
    return freed;
}

enum Place : size_t {
    kGetAttribute,
    kQuery,
    kPopulate,
    kResize,
    kDraftGetAttribute,
    kDraftQuery,
    kDraftPopulate,
    kDraftTrim,
    kPlaces
};

// GLVND's numbers of the entry points; -1 while there is none.
std::atomic<int> g_indices[kPlaces] = {-1, -1, -1, -1, -1, -1, -1, -1};

// What GLVND calls for the application, in the form that its interface asks for.
template <Place At, typename Function>
struct Dispatch;

template <Place At, typename R, typename... A>
struct Dispatch<At, R (*)(EGLDisplay, A...)> {
    using Function = R (*)(EGLDisplay, A...);

    static R call(EGLDisplay display, A... arguments) {
        const __EGLapiExports &exports = *host().exports;
        exports.threadInit();
        __EGLvendorInfo *vendor = exports.getVendorFromDisplay(display);
        if (vendor == nullptr) {
            set_error(EGL_BAD_DISPLAY);
            return R();
        }
        exports.setLastVendor(vendor);
        const auto function =
            reinterpret_cast<Function>(exports.fetchDispatchEntry(vendor, g_indices[At]));
        if (function == nullptr) {
            set_error(EGL_BAD_ACCESS);
            return R();
        }
        return function(display, arguments...);
    }
};

struct EntryPoint {
    const char *name;
    void *function;
    void *dispatch;
};

#define ENTRY(name, place, function)                                              \
    {                                                                             \
        name, reinterpret_cast<void *>(&function),                                \
            reinterpret_cast<void *>(&Dispatch<place, decltype(&function)>::call) \
    }
// At the places that the enumeration names.
const EntryPoint kEntryPoints[kPlaces] = {
    ENTRY("eglProgramCacheGetAttribANGLE", kGetAttribute, get_attribute),
    ENTRY("eglProgramCacheQueryANGLE", kQuery, query),
    ENTRY("eglProgramCachePopulateANGLE", kPopulate, populate),
    ENTRY("eglProgramCacheResizeANGLE", kResize, resize),
    ENTRY("eglGetProgramCacheAttribANGLE", kDraftGetAttribute, draft_get_attribute),
    ENTRY("eglQueryProgramCacheANGLE", kDraftQuery, draft_query),
    ENTRY("eglPopulateProgramCacheANGLE", kDraftPopulate, draft_populate),
    ENTRY("eglTrimProgramCacheANGLE", kDraftTrim, draft_trim),
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
        g_indices[entry - kEntryPoints] = index;
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
