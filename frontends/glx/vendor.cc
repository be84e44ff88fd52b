// SPDX-License-Identifier: MIT
#include "vendor.h"

#include <dlfcn.h>

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "base/guarded.h"
#include "gl/contexts.h"
#include "gl/mutex.h"
#include "gl/settings.h"
#include "server.h"

namespace cairn::glx {
namespace {

// What GLVND takes where no server names a vendor that it can load.
constexpr const char *kFallback = "indirect";

struct Vendors {
    // Constant once GLVND has started us.
    Host host;
    std::string wanted;  // CAIRN_GLX_VENDOR

    std::atomic<Vendor *> probable = nullptr;
    std::atomic<Vendor *> chosen = nullptr;
    gl::Mutex mutex;
    // Guarded by mutex. By name; null: it does not start.
    std::map<std::string, Vendor *> started;
    // What GLVND has numbered.
    std::map<std::string, int> indexes;
};

Vendors &all() {
    return gl::the_only<Vendors>();
}

__PFNGLXMAINPROC open_main(const std::string &name) {
    const std::string file = "libGLX_" + name + ".so.0";
    void *library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        gl::log().write(Severity::info, "vendor %s", dlerror());  // begins with the file
        return nullptr;
    }
    return reinterpret_cast<__PFNGLXMAINPROC>(dlsym(library, __GLX_MAIN_PROTO_NAME));
}

bool is_usable(const __GLXapiImports &imports) {
    return imports.isScreenSupported != nullptr && imports.getProcAddress != nullptr &&
           imports.getDispatchAddress != nullptr && imports.setDispatchIndex != nullptr;
}

// Whether it has all that GLVND needs of a vendor.
bool resolve(Vendor &vendor) {
    bool is_whole = true;
    GlxFunctions &glx = vendor.glx;
#define X(name, screen)                                                            \
    glx.name = reinterpret_cast<decltype(glx.name)>(vendor.function("glX" #name)); \
    is_whole &= glx.name != nullptr;
    GLX_FUNCTIONS(X)
#undef X
    return is_whole;
}

// Extensions and GL.
void resolve_rest(Vendor &vendor) {
    GlxFunctions &glx = vendor.glx;
#define X(name, type, screen) \
    glx.name = reinterpret_cast<type>(gl::or_missing(vendor.function("glX" #name)));
    GLX_EXTENSION_FUNCTIONS(X)
#undef X
    gl::fill(vendor.gl, [&vendor](const char *name) { return vendor.function(name); });
    vendor.code = reinterpret_cast<void *>(vendor.imports.isScreenSupported);
}

// A library that has other names as well, as Mesa's is also `indirect`, starts once. REQUIRES: the
// mutex is held.
Vendor *start(const std::string &name, const Host &host) {
    // As GLVND, which makes a file name of it.
    if (name.empty() || name.find('/') != std::string::npos) return nullptr;
    const __PFNGLXMAINPROC entry = open_main(name);
    // This library under another name would call itself for ever.
    if (entry == nullptr || entry == &__glx_Main) return nullptr;
    for (const auto &[other, vendor] : all().started) {
        if (vendor != nullptr && vendor->main == entry) return vendor;
    }
    auto vendor = std::make_unique<Vendor>();
    vendor->name = name;
    vendor->main = entry;
    if (entry(host.version, host.exports, host.self, &vendor->imports) == False ||
        !is_usable(vendor->imports) || !resolve(*vendor)) {
        gl::log().write(Severity::error, "vendor %s: does not start", name.c_str());
        return nullptr;
    }
    resolve_rest(*vendor);
    return vendor.release();
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
    Vendors &vendors = all();
    Vendor *vendor = guarded([=] { return find_vendor(display, screen); },
                             [] { return static_cast<Vendor *>(nullptr); });
    vendor = vendor == nullptr ? vendors.probable.load() : vendor;
    Vendor *chosen = nullptr;
    if (!vendors.chosen.compare_exchange_strong(chosen, vendor)) return *chosen;
    gl::log().write(Severity::info, "in front of %s", vendor->name.c_str());
    gl::set_default_driver(*vendor);
    return *vendor;
}

}  // namespace

bool start_probable_vendor(const Host &host, const std::string &wanted) {
    Vendors &vendors = all();
    vendors.host = host;
    vendors.wanted = wanted;
    // Mesa's library is small until it draws, which cannot be said of all others.
    for (const std::string &name :
         {wanted, std::string("mesa"), std::string(kFallback), std::string("nvidia")}) {
        Vendor *vendor = started(name);
        if (vendor != nullptr) {
            vendors.probable = vendor;
            gl::set_default_driver(*vendor);
            return true;
        }
    }
    gl::log().write(Severity::error, "no vendor library is found");
    return false;
}

Vendor &vendor_of_screen(Display *display, int screen) {
    Vendor *known = all().chosen;
    return known != nullptr ? *known : choose(display, screen);
}

Vendor &vendor_of_display(Display *display) {
    Vendor *known = all().chosen;
    return known != nullptr ? *known : choose(display, DefaultScreen(display));
}

Vendor &vendor() {
    Vendor *known = all().chosen;
    return known != nullptr ? *known : *all().probable;
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
