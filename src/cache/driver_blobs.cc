// SPDX-License-Identifier: MIT
#include "cache/driver_blobs.h"

#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <type_traits>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/words.h"
#include "os/environment.h"
#include "store/record.h"

namespace cairn {
namespace {

bool is_key(const void *key, std::ptrdiff_t size) {
    return key != nullptr && size >= 1 && size <= std::ptrdiff_t{kKeySizeMax};
}

Bytes bytes(const void *data, std::ptrdiff_t size) {
    return {static_cast<const std::byte *>(data), static_cast<std::size_t>(size)};
}

// The blob whose size this thread was told, until it asks for the bytes. Blobs outlive a cache, so
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

}  // namespace

void DriverBlobs::hold(BlobRef blob) const {
    if (t_held.is_over) return;
    // In a thread that first gets here from such a destructor the guard's does not run: its few
    // bytes are lost with the thread, and what is held and not asked for again.
    thread_local HeldGuard guard;
    t_held.serial = cache_.serial();
    BlobRef::adopt(std::exchange(t_held.blob, blob.release()));
}

BlobRef DriverBlobs::take_held(Bytes key) const {
    BlobRef found = BlobRef::adopt(std::exchange(t_held.blob, nullptr));
    const bool is_it = found && t_held.serial == cache_.serial() && same_bytes(found->key(), key);
    return is_it ? std::move(found) : BlobRef();
}

// Nothing is made for a cache in memory, which obeys the control file of the default root, nor by
// one that only reads.
DriverBlobs::Switch *DriverBlobs::make_switch() const {
    const CachePlace *const place = cache_.place();
    const bool is_on_disk = place != nullptr && !place->is_in_memory();
    std::string root = is_on_disk ? place->root : "";
    if (place != nullptr && !is_on_disk) root = default_root().value_or("");
    const bool may_make = is_on_disk && access_ == Access::read_write;
    auto *made = new (std::nothrow)
        Switch{{std::move(root), may_make ? Create::yes : Create::no, Log()},
               is_on_disk && kind_of_identifier(place->identifier) == kind_cache_for_driver,
               {}};
    if (made != nullptr) made->clears_seen = made->file.clears(kind_cache_for_driver);
    return made;
}

// Null without memory, and then all is on.
DriverBlobs::Switch *DriverBlobs::find_switch() {
    if (Switch *made = switch_.load(std::memory_order_acquire)) return made;
    static Mutex making;
    const MutexLock lock(making);
    if (switch_.load() == nullptr) switch_ = make_switch();
    return switch_;
}

// Whether blobs may be looked up and stored; empties the cache first where somebody has asked to.
bool DriverBlobs::is_on() {
    Switch *own = find_switch();
    if (own == nullptr) return true;
    const std::uint64_t clears = own->file.clears(kind_cache_for_driver);
    if (own->clears_seen.exchange(clears) != clears && !own->is_cleared_by_others &&
        access_ == Access::read_write) {
        (void)cache_.clear();
    }
    return (own->file.disabled() & kind_cache_for_driver) == 0;
}

// A size of 0 is how a miss is told: such a value could not be found again.
void DriverBlobs::set(const void *key, std::ptrdiff_t key_size, const void *value,
                      std::ptrdiff_t value_size) {
    const bool is_possible = is_key(key, key_size) && value != nullptr && value_size >= 1 &&
                             value_size <= std::ptrdiff_t{kValueSizeMax};
    if (!is_possible) return;
    take_held(bytes(key, key_size));
    if (access_ == Access::read_only) return;
    (void)guarded([&]() -> Result<PutOutcome> {
        if (!is_on()) return PutOutcome::kept_out;
        return cache_.put(bytes(key, key_size), bytes(value, value_size), {});
    });
}

std::ptrdiff_t DriverBlobs::get(const void *key, std::ptrdiff_t key_size, void *value,
                                std::ptrdiff_t value_size) {
    if (!is_key(key, key_size) || value_size < 0) return 0;
    // A blob whose size was told is given, also when caching was switched off meanwhile.
    BlobRef blob = take_held(bytes(key, key_size));
    if (!blob) {
        auto looked_up = guarded([&]() -> Result<BlobRef> {
            return is_on() ? cache_.get(bytes(key, key_size)) : BlobRef();
        });
        if (looked_up.ok()) blob = std::move(looked_up.value());
    }
    if (!blob) return 0;
    const Bytes found = blob->value();
    const auto size = static_cast<std::ptrdiff_t>(found.size());
    if (value == nullptr || value_size == 0) {
        hold(std::move(blob));
        return size;
    }
    // Mesa reads as many bytes as the answer says, whatever room it made.
    if (size > value_size) return 0;
    std::memcpy(value, found.data(), found.size());
    return size;
}

namespace blob_displays {
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
    return text != nullptr && has_word(text, "EGL_ANDROID_blob_cache");
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

}  // namespace blob_displays
}  // namespace cairn
