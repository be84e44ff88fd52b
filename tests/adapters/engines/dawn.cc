// The adapter for Dawn's device descriptor, called as Dawn calls what is in it.
// SPDX-License-Identifier: MIT
#include <adapters/dawn_device_cache.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.h"

namespace {

const uint8_t *bytes(const std::string &text) {
    return reinterpret_cast<const uint8_t *>(text.data());
}

std::string load(const WGPUDawnCacheDeviceDescriptor &descriptor, const std::string &key) {
    const auto &call = descriptor.dawnLoadCacheDataCallbackInfo;
    const size_t size =
        call.callback(key.size(), bytes(key), 0, nullptr, call.userdata1, call.userdata2);
    std::vector<uint8_t> value(size);
    if (size > 0) {
        CHECK(call.callback(key.size(), bytes(key), size, value.data(), call.userdata1,
                            call.userdata2) == size);
    }
    return {value.begin(), value.end()};
}

void store(const WGPUDawnCacheDeviceDescriptor &descriptor, const std::string &key,
           const std::string &value) {
    const auto &call = descriptor.dawnStoreCacheDataCallbackInfo;
    call.callback(key.size(), bytes(key), value.size(), bytes(value), call.userdata1,
                  call.userdata2);
}

}  // namespace

int main() {
    cairn::Cache cache = open_cache();
    WGPUDawnCacheDeviceDescriptor blobs = cairn_adapters::dawn_device_cache(cache.handle());
    WGPUDeviceDescriptor device = WGPU_DEVICE_DESCRIPTOR_INIT;
    device.nextInChain = &blobs.chain;
    CHECK(device.nextInChain->sType == WGPUSType_DawnCacheDeviceDescriptor);

    CHECK(load(blobs, "key").empty());
    store(blobs, "key", "value");
    CHECK(load(blobs, "key") == "value");
    CHECK(load(blobs, "other").empty());
    store(blobs, "", "value");
    CHECK(load(blobs, "").empty());

    const WGPUDawnCacheDeviceDescriptor none = cairn_adapters::dawn_device_cache(nullptr);
    store(none, "key", "value");
    CHECK(load(none, "key").empty());
}
