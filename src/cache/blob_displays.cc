// SPDX-License-Identifier: MIT
#include "cache/blob_displays.h"

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "base/mutex.h"

namespace cairn::blob_displays {
namespace {

struct Place {
    // Held shared by a callback, exclusively to attach and detach.
    std::shared_mutex mutex;
    // Looked at before the mutex is taken, so that a thread that takes it exclusively waits for no
    // newcomers: readers of a shared mutex may go before a writer for ever.
    std::atomic<bool> is_attached = false;
    DriverBlobs *blobs = nullptr;  // null: not attached
    SetBlob set = nullptr;         // somebody else's functions, called in place of the cache
    GetBlob get = nullptr;
    // Guarded by g_attaching; null until the place is taken, which is for ever.
    void *display = nullptr;
};
// Destroyed never: a driver may call while the process ends.
Place *places() {
    static auto *the_places = new Place[kDisplaysMax];
    return the_places;
}
Mutex g_attaching;  // trivially destructible

template <std::size_t index>
void set_at(const void *key, ptrdiff_t key_size, const void *value, ptrdiff_t value_size) {
    Place &place = places()[index];
    if (!place.is_attached) return;
    std::shared_lock lock(place.mutex);
    if (const SetBlob other = place.set) {
        lock.unlock();
        other(key, key_size, value, value_size);
        return;
    }
    if (place.blobs != nullptr) place.blobs->set(key, key_size, value, value_size);
}

template <std::size_t index>
ptrdiff_t get_at(const void *key, ptrdiff_t key_size, void *value, ptrdiff_t value_size) {
    Place &place = places()[index];
    if (!place.is_attached) return 0;
    std::shared_lock lock(place.mutex);
    if (const GetBlob other = place.get) {
        lock.unlock();
        return other(key, key_size, value, value_size);
    }
    return place.blobs == nullptr ? 0 : place.blobs->get(key, key_size, value, value_size);
}

template <std::size_t... indices>
constexpr auto make_functions(std::index_sequence<indices...>) {
    return std::array{std::pair<SetBlob, GetBlob>{&set_at<indices>, &get_at<indices>}...};
}
constexpr auto kFunctions = make_functions(std::make_index_sequence<kDisplaysMax>());

// The functions of EGL that are needed.
struct Egl {
    const char *(*query_string)(void *, int32_t);
    int32_t (*get_error)();
    void (*set_functions)(void *, SetBlob, GetBlob);

    explicit Egl(GetProcAddress get)
        : query_string(reinterpret_cast<decltype(query_string)>(get("eglQueryString"))),
          get_error(reinterpret_cast<decltype(get_error)>(get("eglGetError"))),
          set_functions(
              reinterpret_cast<decltype(set_functions)>(get("eglSetBlobCacheFuncsANDROID"))) {}
};

constexpr int32_t kEglSuccess = 0x3000;
constexpr int32_t kEglExtensions = 0x3055;

bool offers(const Egl &egl, void *display) {
    if (egl.query_string == nullptr || egl.get_error == nullptr || egl.set_functions == nullptr) {
        return false;
    }
    const char *text = egl.query_string(display, kEglExtensions);
    if (text == nullptr) return false;
    constexpr std::string_view kName = "EGL_ANDROID_blob_cache";
    std::string_view rest(text);
    while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (word == kName) return true;
        rest.remove_prefix(word.size() < rest.size() ? word.size() + 1 : word.size());
    }
    return false;
}

// The display's place, or a free one. REQUIRES: g_attaching is held.
std::size_t find_place(void *display) {
    std::size_t free_one = kDisplaysMax;
    for (std::size_t i = kDisplaysMax; i-- > 0;) {
        if (places()[i].display == display) return i;
        if (places()[i].display == nullptr) free_one = i;
    }
    return free_one;
}

}  // namespace

Status attach(void *display, DriverBlobs &blobs, GetProcAddress get_proc_address) {
    const Egl egl(get_proc_address);
    if (!offers(egl, display)) return Error::unsupported;
    blobs.prepare();
    const MutexLock attaching(g_attaching);
    const std::size_t index = find_place(display);
    if (index == kDisplaysMax) return Error::full;
    Place &place = places()[index];
    {
        const std::unique_lock lock(place.mutex);
        if (place.blobs != nullptr) return Error::busy;
        place.blobs = &blobs;
        place.is_attached = true;
    }
    egl.get_error();
    egl.set_functions(display, kFunctions[index].first, kFunctions[index].second);
    // A display that was detached has our functions still, and refuses them now.
    if (egl.get_error() == kEglSuccess || place.display == display) {
        place.display = display;
        return {};
    }
    place.is_attached = false;
    const std::unique_lock lock(place.mutex);
    place.blobs = nullptr;
    return Error::busy;
}

bool detach(void *display) {
    const MutexLock attaching(g_attaching);
    const std::size_t index = display == nullptr ? kDisplaysMax : find_place(display);
    if (index == kDisplaysMax) return false;
    Place &place = places()[index];
    place.is_attached = false;
    const std::unique_lock lock(place.mutex);
    place.set = nullptr;
    place.get = nullptr;
    return std::exchange(place.blobs, nullptr) != nullptr;
}

bool redirect(void *display, SetBlob set, GetBlob get) {
    const MutexLock attaching(g_attaching);
    const std::size_t index = display == nullptr ? kDisplaysMax : find_place(display);
    if (index == kDisplaysMax) return false;
    Place &place = places()[index];
    place.is_attached = false;  // a miss is told meanwhile
    const std::unique_lock lock(place.mutex);
    if (place.blobs == nullptr) return false;
    place.set = set;
    place.get = get;
    place.is_attached = true;
    return true;
}

}  // namespace cairn::blob_displays
