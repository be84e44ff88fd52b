// SPDX-License-Identifier: MIT
#include "adapter.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "os/loaded_objects.h"

namespace cairn::d3d12 {
namespace {

// Its table of functions lies in the library that implements an object.
const void *table_of(void *object) {
    const void *table;
    std::memcpy(&table, object, sizeof table);
    return table;
}

// A function of a library that is loaded already; null: it is not.
template <typename Function>
Function *loaded_function(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    auto *function = reinterpret_cast<Function *>(dlsym(handle, name));
    dlclose(handle);  // releases our reference; the owner keeps it loaded
    return function;
}

// The beginning of VkPhysicalDeviceProperties; limits follow.
struct PhysicalDeviceProperties {
    uint32_t api_version;
    uint32_t driver_version;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t device_type;
    char device_name[256];
    uint8_t pipeline_cache_uuid[16];
    std::array<uint64_t, 256> rest;  // more than there is
};

using GetFromDevice = void *(void *device);
using GetProperties = void(void *physical_device, PhysicalDeviceProperties *properties);
using GetDeviceProcAddr = void *(void *vk_device, const char *name);

bool is_same_library(const void *one, const void *other) {
    Dl_info first = {};
    Dl_info second = {};
    return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 &&
           first.dli_fbase == second.dli_fbase;
}

// Whether a function lies in a library with the entry point that every Vulkan driver has.
bool is_in_driver(const void *function) {
    Dl_info library = {};
    return dladdr(function, &library) != 0 && library.dli_fname != nullptr &&
           is_same_library(reinterpret_cast<const void *>(loaded_function<void()>(
                               library.dli_fname, "vk_icdGetInstanceProcAddr")),
                           function);
}

// The build-id of the Vulkan driver of a device of vkd3d's: some of Mesa's drivers give the same
// UUID with every build. The other drivers in the process do not count, as there are those that the
// Vulkan manifests name. Where a layer stands before the function, it cannot be told which driver
// it is, and all of Mesa's count.
std::string build_of_driver(void *device) {
    auto *get_device = loaded_function<GetFromDevice>("libvkd3d.so.1", "vkd3d_get_vk_device");
    auto *get_function =
        loaded_function<GetDeviceProcAddr>("libvulkan.so.1", "vkGetDeviceProcAddr");
    const void *function = nullptr;
    if (get_device != nullptr && get_function != nullptr) {
        // One that layers leave alone, as far as they can.
        function = get_function(get_device(device), "vkGetRenderAreaGranularity");
    }
    const bool is_known = function != nullptr && is_in_driver(function);
    std::vector<std::string> builds;
    with_loaded_objects([&](std::span<const LoadedObject> objects) {
        for (const LoadedObject &object : objects) {
            if (is_known ? object.has(reinterpret_cast<uintptr_t>(function))
                         : object.name.starts_with("libvulkan_")) {
                builds.emplace_back(" ").append(object.build_id());
            }
        }
    });
    std::ranges::sort(builds);
    return std::accumulate(builds.begin(), builds.end(), std::string());
}

bool ask_vulkan(void *device, AdapterNames &names) {
    auto *get_device =
        loaded_function<GetFromDevice>("libvkd3d.so.1", "vkd3d_get_vk_physical_device");
    auto *get_properties =
        loaded_function<GetProperties>("libvulkan.so.1", "vkGetPhysicalDeviceProperties");
    // vkd3d takes any device for one of its own.
    if (get_device == nullptr || get_properties == nullptr ||
        !is_same_library(table_of(device), reinterpret_cast<const void *>(get_device))) {
        return false;
    }
    PhysicalDeviceProperties properties = {};
    get_properties(get_device(device), &properties);
    char text[512];
    std::snprintf(text, sizeof text, "Vulkan %04x:%04x %.*s", properties.vendor_id,
                  properties.device_id, static_cast<int>(sizeof properties.device_name),
                  properties.device_name);
    names.adapter = text;
    std::snprintf(text, sizeof text, "%u ", properties.driver_version);
    names.driver_version = text +
                           hexadecimal(std::as_bytes(std::span(properties.pipeline_cache_uuid))) +
                           build_of_driver(device);
    return true;
}

}  // namespace

AdapterNames ask_device(void *device) {
    AdapterNames names;
    if (device == nullptr || ask_vulkan(device, names)) return names;
    const auto table = reinterpret_cast<uintptr_t>(table_of(device));
    with_loaded_objects([&](std::span<const LoadedObject> objects) {
        for (const LoadedObject &object : objects) {
            if (!object.has(table)) continue;
            names.adapter = object.path.empty() ? "the program itself" : object.name;
            names.driver_version = object.build_id();
        }
    });
    return names;
}

}  // namespace cairn::d3d12
