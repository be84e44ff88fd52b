// SPDX-License-Identifier: MIT
#include "display_cache.h"

#include <cairn/cairn_egl.h>
#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "gl/cached.h"
#include "gl/caches.h"

namespace cairn::egl {
namespace {

static_assert(sizeof(gl::ProgramKey) == CAIRN_EGL_KEY_SIZE);
constexpr EGLint kKeySize = sizeof(gl::ProgramKey);

// No limit is above it, so that all sums fit.
EGLint as_int(uint64_t bytes) {
    return static_cast<EGLint>(std::min<uint64_t>(bytes, std::numeric_limits<EGLint>::max()));
}

struct Displays {
    gl::Mutex mutex;
    std::map<EGLDisplay, DisplayCache *> caches;  // guarded by mutex
};

}  // namespace

EGLint DisplayCache::count() const {
    cairn_stats stats = {};
    stats.size = sizeof stats;
    cairn_stats_get(entries(), &stats);
    return as_int(stats.entries);
}

EGLint DisplayCache::attribute(EGLenum name, EGLint &value) const {
    const bool is_count = name == EGL_PROGRAM_CACHE_SIZE_ANGLE;
    if (!is_count && name != EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE) return EGL_BAD_PARAMETER;
    value = is_count ? count() : kKeySize;
    return EGL_SUCCESS;
}

// Applications can observe when a key is written. As in ANGLE, the key is written also where the
// binary does not fit, but not by the draft.
EGLint DisplayCache::read(bool is_draft, EGLint index, void *key, EGLint *key_size, void *binary,
                          EGLint *binary_size) {
    if (index < 0 || index >= count() || key_size == nullptr || binary_size == nullptr ||
        (key == nullptr) != (binary == nullptr) ||
        (!is_draft && key != nullptr && *key_size != kKeySize)) {
        return EGL_BAD_PARAMETER;
    }
    gl::ProgramKey found_key = {};
    const gl::Found entry(entries(), static_cast<uint64_t>(index), found_key);
    if (!entry) {
        return EGL_BAD_ACCESS;  // another thread was faster
    }
    const auto size = static_cast<EGLint>(entry.bytes().size());
    if (key != nullptr) {
        const bool fits = *key_size >= kKeySize && *binary_size >= size;
        if (fits || !is_draft) {
            memcpy(key, found_key.data(), found_key.size());
        }
        if (!fits) return EGL_BAD_ACCESS;
        memcpy(binary, entry.bytes().data(), entry.bytes().size());
    }
    *binary_size = size;
    *key_size = kKeySize;
    return EGL_SUCCESS;
}

EGLint DisplayCache::query(EGLint index, void *key, EGLint *key_size, void *binary,
                           EGLint *binary_size) {
    return read(false, index, key, key_size, binary, binary_size);
}

EGLint DisplayCache::draft_query(EGLint index, void *key, EGLint *key_size, void *binary,
                                 EGLint *binary_size) {
    return read(true, index, key, key_size, binary, binary_size);
}

EGLint DisplayCache::populate(const void *key, EGLint key_size, const void *binary,
                              EGLint binary_size) {
    return binary_size == 0 ? EGL_BAD_PARAMETER
                            : draft_populate(key, key_size, binary, binary_size);
}

EGLint DisplayCache::draft_populate(const void *key, EGLint key_size, const void *binary,
                                    EGLint binary_size) {
    if (key_size != kKeySize || key == nullptr || binary == nullptr || binary_size < 0 ||
        static_cast<uint32_t>(binary_size) > kBinaryMax) {
        return EGL_BAD_PARAMETER;
    }
    if (!is_on() || !gl::is_caching_on()) return EGL_SUCCESS;
    const int result = cairn_put(entries(), key, size_t{kKeySize}, binary,
                                 static_cast<size_t>(binary_size), nullptr);
    return result == CAIRN_ERROR_NO_MEMORY ? EGL_BAD_ACCESS : EGL_SUCCESS;
}

EGLint DisplayCache::resize(EGLint limit, EGLint mode, EGLint &bytes) {
    if (limit < 0) return EGL_BAD_PARAMETER;
    if (mode == EGL_PROGRAM_CACHE_TRIM_ANGLE) return trim(limit, bytes);
    if (mode != EGL_PROGRAM_CACHE_RESIZE_ANGLE) return EGL_BAD_PARAMETER;
    bytes = as_int(set_limit(static_cast<uint32_t>(limit), 0));
    return EGL_SUCCESS;
}

EGLint DisplayCache::draft_attribute(EGLenum name, EGLint *value) const {
    EGLint result = 0;
    if (attribute(name, result) != EGL_SUCCESS) return EGL_BAD_ATTRIBUTE;
    if (value == nullptr) return EGL_BAD_PARAMETER;
    *value = result;
    return EGL_SUCCESS;
}

EGLint DisplayCache::trim(EGLint limit, EGLint &freed) {
    if (limit < 0) return EGL_BAD_PARAMETER;
    uint64_t bytes = 0;
    cairn_trim(entries(), static_cast<uint64_t>(limit), &bytes);
    freed = as_int(bytes);
    return EGL_SUCCESS;
}

DisplayCache &display_cache(EGLDisplay display) {
    auto &all = gl::the_only<Displays>();
    const MutexLock lock(all.mutex);
    DisplayCache *&cache = all.caches[display];
    if (cache == nullptr) {
        cache = new DisplayCache;
    }
    return *cache;
}

}  // namespace cairn::egl
