// SPDX-License-Identifier: MIT
#include "adapters/fake_vulkan.h"

#include <cstring>
#include <string_view>

namespace cairn_test::fake_vulkan {
namespace {

using Numbers = std::set<std::uint32_t>;

Numbers &of(VkPipelineCache cache) {
    return *reinterpret_cast<Numbers *>(cache);
}

VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice /*device*/, const VkPipelineCacheCreateInfo *info,
                                      const VkAllocationCallbacks * /*allocator*/,
                                      VkPipelineCache *made) {
    if (state().when_it_creates) state().when_it_creates();
    if (state().fails_to_create) return VK_ERROR_OUT_OF_HOST_MEMORY;
    auto *numbers = new Numbers;
    state().given_bytes += info->initialDataSize;
    const auto *data = static_cast<const char *>(info->pInitialData);
    for (std::size_t at = sizeof(VkPipelineCacheHeaderVersionOne);
         at + sizeof(std::uint32_t) <= info->initialDataSize; at += sizeof(std::uint32_t)) {
        std::uint32_t number = 0;
        std::memcpy(&number, data + at, sizeof(number));
        numbers->insert(number);
    }
    ++state().live;
    *made = reinterpret_cast<VkPipelineCache>(numbers);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL destroy(VkDevice /*device*/, VkPipelineCache cache,
                                   const VkAllocationCallbacks * /*allocator*/) {
    delete &of(cache);
    --state().live;
}

VKAPI_ATTR VkResult VKAPI_CALL read(VkDevice /*device*/, VkPipelineCache cache, std::size_t *size,
                                    void *to) {
    if (to != nullptr && state().grows_while_read > 0) {
        of(cache).insert(1000 + --state().grows_while_read);
    }
    const std::vector<std::byte> data = data_of(of(cache));
    if (to == nullptr) {
        *size = data.size();
        return VK_SUCCESS;
    }
    const bool is_whole = *size >= data.size();
    *size = is_whole ? data.size() : 0;
    std::memcpy(to, data.data(), *size);
    return is_whole ? VK_SUCCESS : VK_INCOMPLETE;
}

VKAPI_ATTR VkResult VKAPI_CALL merge(VkDevice /*device*/, VkPipelineCache to, std::uint32_t count,
                                     const VkPipelineCache *from) {
    if (state().fails_to_merge) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (std::uint32_t i = 0; i < count; ++i) of(to).insert(of(from[i]).begin(), of(from[i]).end());
    return VK_SUCCESS;
}

}  // namespace

State &state() {
    static State state;
    return state;
}

void reset() {
    state() = {};
    state().properties.vendorID = 0x1234;
    state().properties.deviceID = 0x5678;
    state().properties.driverVersion = 7;
    std::memset(state().properties.pipelineCacheUUID, 0x5a, VK_UUID_SIZE);
}

PFN_vkVoidFunction find(VkDevice /*device*/, const char *name) {
    const std::string_view wanted = name;
    if (wanted == "vkCreatePipelineCache") return reinterpret_cast<PFN_vkVoidFunction>(&create);
    if (wanted == "vkDestroyPipelineCache") return reinterpret_cast<PFN_vkVoidFunction>(&destroy);
    if (wanted == "vkGetPipelineCacheData") return reinterpret_cast<PFN_vkVoidFunction>(&read);
    if (wanted == "vkMergePipelineCaches" && !state().lacks_merging) {
        return reinterpret_cast<PFN_vkVoidFunction>(&merge);
    }
    return nullptr;
}

void add(VkPipelineCache cache, std::uint32_t number) {
    of(cache).insert(number);
}

std::set<std::uint32_t> numbers(VkPipelineCache cache) {
    return of(cache);
}

std::vector<std::byte> data_of(const std::set<std::uint32_t> &numbers) {
    VkPipelineCacheHeaderVersionOne header{};
    header.headerSize = sizeof(header);
    header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
    header.vendorID = state().properties.vendorID;
    header.deviceID = state().properties.deviceID + (state().has_a_wrong_header ? 1 : 0);
    std::memcpy(header.pipelineCacheUUID, state().properties.pipelineCacheUUID, VK_UUID_SIZE);
    std::vector<std::byte> data(sizeof(header) + numbers.size() * sizeof(std::uint32_t));
    std::memcpy(data.data(), &header, sizeof(header));
    std::size_t at = sizeof(header);
    for (const std::uint32_t number : numbers) {
        std::memcpy(data.data() + at, &number, sizeof(number));
        at += sizeof(number);
    }
    return data;
}

}  // namespace cairn_test::fake_vulkan
