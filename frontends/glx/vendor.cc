// SPDX-License-Identifier: MIT
#include "vendor.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

#include "base/guarded.h"
#include "gl/contexts.h"
#include "gl/driver_cache.h"
#include "gl/hook.h"
#include "gl/mutex.h"
#include "gl/settings.h"
#include "gl/slots.h"
#include "server.h"

namespace cairn::glx {
namespace {

// What GLVND takes where no server names a vendor that it can load.
constexpr const char *kFallback = "indirect";

// NVIDIA's driver works only where it has this device, in containers as well.
constexpr const char *kNvidia = "nvidia";
constexpr const char *kNvidiaDevice = "/dev/nvidiactl";

struct Connection {
    Vendor *vendor = nullptr;
    uint64_t number = 0;
};

struct Vendors {
    // Constant once GLVND has started us.
    Host host;
    std::string wanted;  // CAIRN_GLX_VENDOR
    bool are_several = false;
    Vendor *probable = nullptr;

    std::atomic<Vendor *> chosen = nullptr;  // the first one
    gl::Mutex mutex;
    // Guarded by mutex. By name; null: it does not start.
    std::map<std::string, Vendor *> started;
    // Of those that are open.
    std::map<const Display *, Connection> connections;
    std::set<const Display *> initialised;  // where the driver is told
    uint64_t last_number = 0;
    // What GLVND has numbered.
    std::map<std::string, int> indexes;
};

Vendors &all() {
    return gl::the_only<Vendors>();
}

// A library that has other names as well, as Mesa's is also `indirect`, starts once. REQUIRES: the
// mutex is held.
Vendor *start(const std::string &name, const Host &host) {
    // As GLVND, which makes a file name of it.
    if (name.empty() || name.find('/') != std::string::npos) return nullptr;
    const gl::TellingDriver telling;
    const auto entry = reinterpret_cast<__PFNGLXMAINPROC>(
        gl::function_in("libGLX_" + name + ".so.0", __GLX_MAIN_PROTO_NAME, Severity::info));
    // This library under another name would call itself for ever.
    if (entry == nullptr || entry == &__glx_Main) return nullptr;
    for (const auto &[other, vendor] : all().started) {
        if (vendor != nullptr && vendor->main == entry) return vendor;
    }
    auto vendor = gl::start_vendor<Vendor>(name, entry, host);
    if (vendor == nullptr) return nullptr;
    vendor->name = name;
    vendor->main = entry;
    return gl::add_to_slots(*vendor) ? vendor.release() : nullptr;
}

Vendor *started(const std::string &name) {
    Vendors &vendors = all();
    const MutexLock lock(vendors.mutex);
    const auto known = vendors.started.find(name);
    if (known != vendors.started.end()) return known->second;
    Vendor *vendor = start(name, vendors.host);
    vendors.started[name] = vendor;
    if (vendor != nullptr) {
        for (const auto &[function, index] : vendors.indexes) {
            vendor->imports.setDispatchIndex(reinterpret_cast<const GLubyte *>(function.c_str()),
                                             index);
        }
    }
    return vendor;
}

// As GLVND chooses. Null when there is none.
Vendor *find_vendor(Display *display, int screen) {
    Vendor *wanted = started(all().wanted);
    if (wanted != nullptr) return wanted;
    for (const std::string &name : vendor_names(display, screen)) {
        Vendor *vendor = started(name);
        if (vendor != nullptr && vendor->imports.isScreenSupported(display, screen) != False) {
            return vendor;
        }
    }
    return started(kFallback);
}

// No lock is held while the server is asked: another thread may hold the display's and call GLX.
Vendor &choose(Display *display, int screen) {
    Vendor *vendor = guarded([=] { return find_vendor(display, screen); },
                             [] { return static_cast<Vendor *>(nullptr); });
    return vendor == nullptr ? *all().probable : *vendor;
}

// The vendor becomes the first one, unless there is one already.
Vendor &first_or(Vendor &vendor) {
    Vendor *first = nullptr;
    if (!all().chosen.compare_exchange_strong(first, &vendor)) return *first;
    gl::log().write(Severity::info, "in front of %s", vendor.name.c_str());
    gl::set_default_driver(vendor);
    return vendor;
}

// What is remembered of a connection; its vendor is null where nothing is.
Connection connection_of(const Display *display) {
    const MutexLock lock(all().mutex);
    const auto found = all().connections.find(display);
    return found == all().connections.end() ? Connection() : found->second;
}

void forget(Display *closed) {
    const MutexLock lock(all().mutex);
    all().connections.erase(closed);
    all().initialised.erase(closed);
}

// What cannot be remembered is chosen again. Another thread may have been first.
Vendor &remember(Display *display, Vendor &vendor) {
    if (!tell_of_end(display, forget)) return vendor;
    Vendors &vendors = all();
    const MutexLock lock(vendors.mutex);
    const Connection connection = {&vendor, ++vendors.last_number};
    return *vendors.connections.emplace(display, connection).first->second.vendor;
}

Vendor &of_several(Display *display, int screen) {
    Vendor &vendor = choose(display, screen);
    first_or(vendor);
    return *guarded([&] { return &remember(display, vendor); }, [&] { return &vendor; });
}

// A driver reads its settings at the first call about a display, whichever that is. So make one
// before it, while the driver is told.
void initialise(const Vendor &of, Display *display, int screen) {
    Vendors &vendors = all();
    {
        const MutexLock lock(vendors.mutex);
        if (vendors.initialised.contains(display)) return;
    }
    if (!tell_of_end(display, forget)) return;  // it is being closed
    {
        const MutexLock lock(vendors.mutex);
        if (!vendors.initialised.insert(display).second) return;
    }
    const gl::TellingDriver telling;
    (void)of.glx.QueryServerString(display, screen, GLX_VERSION);
}

const Vendor &told(const Vendor &of, Display *display, int screen) {
    if (gl::has_driver_cache()) gl::attempt([&] { initialise(of, display, screen); });
    return of;
}

// Calls find(vendor) for each vendor that was started, until it has found something.
template <typename Find>
void *find_in_started(Find find) {
    const MutexLock lock(all().mutex);
    for (const auto &[name, vendor] : all().started) {
        void *found = vendor == nullptr ? nullptr : find(*vendor);
        if (found != nullptr) return found;
    }
    return nullptr;
}

// The vendor that is known already; null: it is to be chosen.
const Vendor *known_of_display(const Display *display) {
    return all().are_several ? connection_of(display).vendor : all().chosen.load();
}

}  // namespace

bool Vendor::resolve() {
    bool is_whole = imports.isScreenSupported != nullptr;
#define X(name, screen)                                                 \
    glx.name = reinterpret_cast<decltype(glx.name)>(find("glX" #name)); \
    is_whole &= glx.name != nullptr;
    GLX_FUNCTIONS(X)
#undef X
#define X(name, type, screen) glx.name = reinterpret_cast<type>(gl::or_missing(find("glX" #name)));
    GLX_EXTENSION_FUNCTIONS(X)
#undef X
    return is_whole;
}

bool start_probable_vendor(const Host &host, const std::string &wanted, bool only_wanted) {
    Vendors &vendors = all();
    vendors.host = host;
    vendors.wanted = wanted;
    std::error_code ignored;
    const bool is_nvidia = std::filesystem::exists(kNvidiaDevice, ignored);
    vendors.are_several = gl::kHasSlots && is_nvidia && started(wanted) == nullptr;
    vendors.probable = started(wanted);
    // Mesa's comes before NVIDIA's: to load that one can wake a processor that sleeps.
    for (const char *name : {"mesa", kFallback, kNvidia}) {
        if (vendors.probable == nullptr && !only_wanted) vendors.probable = started(name);
    }
    if (vendors.probable == nullptr) {
        gl::log().write(Severity::error, "no vendor library is found");
        return false;
    }
    gl::set_default_driver(*vendors.probable);
    return true;
}

uint64_t number_of(const Display *display) {
    return connection_of(display).number;
}

bool has_several_vendors() {
    return all().are_several;
}

const Vendor &vendor_of_screen(Display *display, int screen) {
    if (display == nullptr) {
        const Vendor *known = known_of_display(display);
        return known == nullptr ? vendor() : *known;
    }
    if (const Vendor *known = known_of_display(display)) return told(*known, display, screen);
    return told(all().are_several ? of_several(display, screen) : first_or(choose(display, screen)),
                display, screen);
}

const Vendor &vendor_of_display(Display *display) {
    const Vendor *known = known_of_display(display);
    if (known != nullptr && (display == nullptr || !gl::has_driver_cache())) return *known;
    return display == nullptr ? vendor() : vendor_of_screen(display, DefaultScreen(display));
}

const Vendor &vendor_of_context(Display *display, GLXContext context) {
    if (context == nullptr) return vendor();
    const gl::Driver *driver = gl::driver_of({nullptr, context});
    return driver == nullptr ? vendor_of_display(display) : static_cast<const Vendor &>(*driver);
}

const Vendor &vendor() {
    return static_cast<const Vendor &>(gl::current_driver());
}

void *vendor_function(const char *name) {
    return find_in_started([=](const Vendor &vendor) { return vendor.find(name); });
}

void *dispatch_function(const GLubyte *name) {
    return find_in_started(
        [=](const Vendor &vendor) { return vendor.imports.getDispatchAddress(name); });
}

void set_dispatch_index(const GLubyte *function_name, int index) {
    Vendors &vendors = all();
    const MutexLock lock(vendors.mutex);
    for (const auto &[name, vendor] : vendors.started) {
        if (vendor != nullptr) vendor->imports.setDispatchIndex(function_name, index);
    }
    vendors.indexes[reinterpret_cast<const char *>(function_name)] = index;
}

}  // namespace cairn::glx
