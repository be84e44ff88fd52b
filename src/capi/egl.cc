// The calls of cairn_egl.h: a driver's own cache served from ours, and the entries of displays.
// SPDX-License-Identifier: MIT
//
// EGL_ANDROID_blob_cache gives its functions no argument of ours. So there is a pair of functions
// for each of a fixed number of places, and a place belongs to one display for ever: the driver
// never gives the functions back.
#include <cairn/internal/front_end.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/mutex.h"
#include "cache/egl_entry.h"
#include "cache/kinds.h"
#include "capi/cache_handle.h"
#include "os/environment.h"

using namespace cairn;

static_assert(CAIRN_EGL_KEY_SIZE == egl_entry::kKeySize);
static_assert(CAIRN_EGL_ENTRY_HEAD_SIZE == egl_entry::kHeadSize);

namespace cairn {
namespace {

bool is_key(const void *key, ptrdiff_t size) {
    return key != nullptr && size >= 1 && size <= ptrdiff_t{CAIRN_KEY_SIZE_MAX};
}

// What this thread was told the size of, until it asks for the bytes. Blobs outlive their cache, so
// it does not matter when the thread comes back, or ends. Drivers call from destructors of pthread
// keys and from atexit handlers as well, when the thread's C++ objects are destroyed: so this has
// no destructor, and a guard's releases it.
struct Held {
    std::uint64_t serial = 0;  // of the cache
    Blob *blob = nullptr;
    bool is_over = false;  // nothing is held any more
};
constinit thread_local Held t_held;
static_assert(std::is_trivially_destructible_v<Held>);

struct HeldGuard {
    ~HeldGuard() {
        t_held.is_over = true;
        BlobRef::adopt(std::exchange(t_held.blob, nullptr));
    }
};

void hold(const cairn_cache &of, BlobRef blob) {
    if (t_held.is_over) return;
    // In a thread that first gets here from such a destructor the guard's does not run: its few
    // bytes are lost with the thread, and what is held and not asked for again.
    thread_local HeldGuard guard;
    t_held.serial = of.serial;
    BlobRef::adopt(std::exchange(t_held.blob, blob.release()));
}

BlobRef take_held(const cairn_cache &of, Bytes key) {
    BlobRef found = BlobRef::adopt(std::exchange(t_held.blob, nullptr));
    const bool is_it = found && t_held.serial == of.serial && found->key().size() == key.size() &&
                       std::memcmp(found->key().data(), key.data(), key.size()) == 0;
    return is_it ? std::move(found) : BlobRef();
}

BlobRef look_up(cairn_cache *cache, const void *key, std::size_t key_size) {
    cairn_blob *blob = nullptr;
    if (cairn_get(cache, key, key_size, &blob) != CAIRN_OK) return {};
    return BlobRef::adopt(from_handle(blob));
}

constexpr unsigned kCacheForDriverNumber = 0;
static_assert(1u << kCacheForDriverNumber == kind_cache_for_driver);

// A cache in memory touches no file.
BlobSwitch *make_switch(const cairn_cache &cache) {
    const bool is_on_disk = cache.memory == nullptr;
    const auto &programs = cache.programs;
    std::string root = !is_on_disk           ? default_root().value_or("")
                       : programs != nullptr ? programs->root()
                                             : cache.store->root();
    const bool is_of_kind =
        is_on_disk && kind_of_identifier(programs != nullptr
                                             ? programs->identifier()
                                             : cache.store->identifier()) == kind_cache_for_driver;
    const Create create = is_on_disk && !cache.read_only ? Create::yes : Create::no;
    auto *made = new (std::nothrow) BlobSwitch{{std::move(root), create, Log()}, is_of_kind, {}};
    if (made != nullptr) made->clears_seen = made->file.clears(kCacheForDriverNumber);
    return made;
}

// Null without memory, and then all is on.
BlobSwitch *switch_of(cairn_cache &cache) {
    if (BlobSwitch *made = cache.blob_switch.load(std::memory_order_acquire)) return made;
    static Mutex making;
    const MutexLock lock(making);
    if (cache.blob_switch.load() == nullptr) cache.blob_switch = make_switch(cache);
    return cache.blob_switch;
}

// Whether blobs may be looked up and stored; empties the cache first where somebody has asked to.
bool is_caching_on(cairn_cache &cache) {
    // The control file is not lent: in a sandbox it could not be opened.
    if (cache.broker != nullptr) return true;
    BlobSwitch *own = switch_of(cache);
    if (own == nullptr) return true;
    const std::uint64_t clears = own->file.clears(kCacheForDriverNumber);
    if (own->clears_seen.exchange(clears) != clears && !own->is_cleared_by_others) {
        cairn_clear(&cache);
    }
    return (own->file.disabled() & kind_cache_for_driver) == 0;
}

using SetBlob = void (*)(const void *, ptrdiff_t, const void *, ptrdiff_t);
using GetBlob = ptrdiff_t (*)(const void *, ptrdiff_t, void *, ptrdiff_t);

struct Place {
    // Held shared by a callback, exclusively to attach and detach.
    std::shared_mutex mutex;
    // Looked at before the mutex is taken, so that whoever takes it exclusively waits for no
    // newcomers: readers of a shared mutex may go before a writer for ever.
    std::atomic<bool> is_attached = false;
    cairn_cache *cache = nullptr;  // null: not attached
    SetBlob set = nullptr;         // somebody else's functions, called in place of the cache
    GetBlob get = nullptr;
    // Guarded by g_attaching; null until the place is taken, which is for ever.
    void *display = nullptr;
};
// Destroyed never: a driver may call while the process ends.
Place *places() {
    static auto *the_places = new Place[CAIRN_EGL_ATTACHED_MAX];
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
    cairn_blob_callback_set(key, key_size, value, value_size, place.cache);
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
    return cairn_blob_callback_get(key, key_size, value, value_size, place.cache);
}

template <std::size_t... indices>
constexpr auto make_functions(std::index_sequence<indices...>) {
    return std::array{std::pair<SetBlob, GetBlob>{&set_at<indices>, &get_at<indices>}...};
}
constexpr auto kFunctions = make_functions(std::make_index_sequence<CAIRN_EGL_ATTACHED_MAX>());

// What of EGL is needed.
struct Egl {
    const char *(*query_string)(void *, int32_t);
    int32_t (*get_error)();
    void (*set_functions)(void *, SetBlob, GetBlob);

    explicit Egl(cairn_egl_get_proc_address get)
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
    std::size_t free_one = CAIRN_EGL_ATTACHED_MAX;
    for (std::size_t i = CAIRN_EGL_ATTACHED_MAX; i-- > 0;) {
        if (places()[i].display == display) return i;
        if (places()[i].display == nullptr) free_one = i;
    }
    return free_one;
}

}  // namespace
}  // namespace cairn

int cairn_egl_blob_cache_attach(void *display, cairn_cache *cache,
                                cairn_egl_get_proc_address get_proc_address) {
    return result_of([&]() -> int {
        if (display == nullptr || cache == nullptr || get_proc_address == nullptr) {
            return CAIRN_ERROR_INVALID_ARGUMENT;
        }
        const Egl egl(get_proc_address);
        if (!offers(egl, display)) return CAIRN_ERROR_UNSUPPORTED;
        switch_of(*cache);
        const MutexLock attaching(g_attaching);
        const std::size_t index = find_place(display);
        if (index == CAIRN_EGL_ATTACHED_MAX) return CAIRN_ERROR_FULL;
        Place &place = places()[index];
        {
            const std::unique_lock lock(place.mutex);
            if (place.cache != nullptr) return CAIRN_ERROR_BUSY;
            place.cache = cache;
            place.is_attached = true;
        }
        egl.get_error();
        egl.set_functions(display, kFunctions[index].first, kFunctions[index].second);
        // A display that was detached has our functions still, and refuses them now.
        if (egl.get_error() == kEglSuccess || place.display == display) {
            place.display = display;
            return CAIRN_OK;
        }
        place.is_attached = false;
        const std::unique_lock lock(place.mutex);
        place.cache = nullptr;
        return CAIRN_ERROR_BUSY;
    });
}

int cairn_egl_blob_cache_detach(void *display) {
    if (display == nullptr) return CAIRN_MISS;
    const MutexLock attaching(g_attaching);
    const std::size_t index = find_place(display);
    if (index == CAIRN_EGL_ATTACHED_MAX) return CAIRN_MISS;
    Place &place = places()[index];
    place.is_attached = false;
    const std::unique_lock lock(place.mutex);
    place.set = nullptr;
    place.get = nullptr;
    return std::exchange(place.cache, nullptr) == nullptr ? CAIRN_MISS : CAIRN_OK;
}

int cairn_egl_blob_cache_redirect(void *display, SetBlob set, GetBlob get) {
    if ((set == nullptr) != (get == nullptr)) return CAIRN_ERROR_INVALID_ARGUMENT;
    const MutexLock attaching(g_attaching);
    const std::size_t index = display == nullptr ? CAIRN_EGL_ATTACHED_MAX : find_place(display);
    if (index == CAIRN_EGL_ATTACHED_MAX) return CAIRN_MISS;
    Place &place = places()[index];
    place.is_attached = false;  // a miss is told meanwhile
    const std::unique_lock lock(place.mutex);
    if (place.cache == nullptr) return CAIRN_MISS;
    place.set = set;
    place.get = get;
    place.is_attached = true;
    return CAIRN_OK;
}

int cairn_gl_blob_cache_attach(cairn_cache *cache, cairn_egl_get_proc_address get_proc_address) {
    return result_of([&]() -> int {
        using Set = decltype(&cairn_blob_callback_set);
        using Get = decltype(&cairn_blob_callback_get);
        if (cache == nullptr || get_proc_address == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
        const auto set_functions = reinterpret_cast<void (*)(Set, Get, const void *)>(
            get_proc_address("glBlobCacheCallbacksANGLE"));
        if (set_functions == nullptr) return CAIRN_ERROR_UNSUPPORTED;
        switch_of(*cache);
        set_functions(&cairn_blob_callback_set, &cairn_blob_callback_get, cache);
        return CAIRN_OK;
    });
}

void cairn_blob_callback_set(const void *key, ptrdiff_t key_size, const void *value,
                             ptrdiff_t value_size, const void *user) {
    // A size of 0 is how a miss is told: such a value could not be found again.
    if (user == nullptr || !is_key(key, key_size) || value == nullptr || value_size < 1) return;
    auto *cache = static_cast<cairn_cache *>(const_cast<void *>(user));
    const auto size = static_cast<std::size_t>(key_size);
    take_held(*cache, bytes(key, size));
    if (!guarded([&] { return is_caching_on(*cache); }, false)) return;
    cairn_put(cache, key, size, value, static_cast<std::size_t>(value_size), nullptr);
}

ptrdiff_t cairn_blob_callback_get(const void *key, ptrdiff_t key_size, void *value,
                                  ptrdiff_t value_size, const void *user) {
    if (user == nullptr || !is_key(key, key_size) || value_size < 0) return 0;
    auto *cache = static_cast<cairn_cache *>(const_cast<void *>(user));
    const auto size = static_cast<std::size_t>(key_size);
    BlobRef blob = take_held(*cache, bytes(key, size));
    // What its size was told of is given, whatever was switched meanwhile.
    if (!blob && guarded([&] { return is_caching_on(*cache); }, false)) {
        blob = look_up(cache, key, size);
    }
    if (!blob) return 0;
    const auto found = static_cast<ptrdiff_t>(blob->value().size());
    if (value == nullptr || value_size == 0) {
        hold(*cache, std::move(blob));
        return found;
    }
    // Mesa reads as many bytes as the answer says, whatever room it made.
    if (found > value_size) return 0;
    std::memcpy(value, blob->value().data(), blob->value().size());
    return found;
}

int cairn_egl_entry_seal(const void *key, size_t key_size, void *entry, size_t entry_size) {
    if (key == nullptr || key_size != CAIRN_EGL_KEY_SIZE || entry == nullptr ||
        entry_size <= CAIRN_EGL_ENTRY_HEAD_SIZE) {
        return CAIRN_ERROR_INVALID_ARGUMENT;
    }
    egl_entry::seal(bytes(key, key_size), {static_cast<std::byte *>(entry), entry_size});
    return CAIRN_OK;
}

int cairn_egl_entry_check(const void *key, size_t key_size, const void *entry, size_t entry_size) {
    if (key == nullptr || entry == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
    return egl_entry::is_whole(bytes(key, key_size), bytes(entry, entry_size)) ? CAIRN_OK
                                                                               : CAIRN_MISS;
}
