// SPDX-License-Identifier: MIT
#include "identity.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "driver_configuration.h"
#include "os/loaded_objects.h"
#include "settings.h"

namespace cairn::egl {
namespace {

// Parts of drivers that vendor libraries load by name, without being linked with them.
bool is_driver_part(std::string_view name) {
    constexpr std::array<std::string_view, 5> kBeginnings = {"libgallium", "libdril", "libnvidia-",
                                                             "libvulkan_", "libmali"};
    return name.ends_with("_dri.so") ||
           std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [name](std::string_view beginning) { return name.starts_with(beginning); });
}

// Libraries that drivers need and that do not influence compiled programs. They are updated often,
// and such an update keeps the cache.
bool is_unimportant(std::string_view name) {
    constexpr std::array<std::string_view, 26> kBeginnings = {
        "ld-linux",     "libX",      "libbsd",   "libbz2",       "libc.so",    "libdl.",
        "libedit",      "libelf",    "libexpat", "libffi",       "libgcc_s",   "libicu",
        "liblzma",      "libm.so",   "libmd.so", "libpciaccess", "libpthread", "librt.",
        "libsensors",   "libstdc++", "libtinfo", "libwayland",   "libxcb",     "libxml2",
        "libxshmfence", "libz"};
    return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [name](std::string_view beginning) { return name.starts_with(beginning); });
}

const LoadedObject *find(const std::vector<LoadedObject> &objects, std::string_view name) {
    const auto found = std::find_if(objects.begin(), objects.end(),
                                    [name](const LoadedObject &o) { return o.name == name; });
    return found == objects.end() ? nullptr : &*found;
}

// The vendor's library, the parts that it has loaded, and all that these need.
std::set<std::string> driver_libraries(const Vendor &vendor) {
    const std::vector<LoadedObject> objects = loaded_objects();
    const auto inside = reinterpret_cast<uintptr_t>(vendor.imports.getPlatformDisplay);
    std::vector<const LoadedObject *> queue;
    for (const LoadedObject &object : objects) {
        // The program itself and the kernel's page have no path, and are no driver's.
        const bool is_library = object.path.find('/') != std::string::npos;
        if (is_library && (object.has(inside) || is_driver_part(object.name))) {
            queue.push_back(&object);
        }
    }
    std::set<std::string> lines;
    while (!queue.empty()) {
        const LoadedObject &object = *queue.back();
        queue.pop_back();
        const std::string id = object.build_id.empty() ? "no build-id" : object.build_id;
        if (!lines.insert(object.name + " " + id).second) {
            continue;
        }
        for (const std::string &name : object.needed) {
            const LoadedObject *needed = find(objects, name);
            if (needed != nullptr && !is_unimportant(name)) {
                queue.push_back(needed);
            }
        }
    }
    return lines;
}

}  // namespace

std::string driver_identity(const Vendor &vendor, const DriverNames &names) {
    // Lists of caches show the first line.
    std::string text = "Programs of " + names.renderer + ", " + names.version + "\n";
    text.append("Kept by Cairn's EGL front end.\n");
    text.append("GL_VENDOR: ").append(names.vendor).append("\n");
    text.append("GL_RENDERER: ").append(names.renderer).append("\n");
    text.append("GL_VERSION: ").append(names.version).append("\n");
    text.append("GL_SHADING_LANGUAGE_VERSION: ").append(names.language).append("\n");
    for (const std::string &library : driver_libraries(vendor)) {
        text.append("library: ").append(library).append("\n");
    }
    return text.append(driver_configuration()).append(settings().driver_options);
}

}  // namespace cairn::egl
