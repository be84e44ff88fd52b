// Keeps a Vulkan device's pipelines in Cairn: a VkPipelineCache that begins with what other
// processes have made, and is merged with theirs when it is saved. docs/embedding.md says when to
// call what.
// SPDX-License-Identifier: MIT
//
// It needs no prototype of Vulkan's and no loader, only vkGetDeviceProcAddr, so it goes with volk,
// Vulkan-Hpp and VK_NO_PROTOTYPES. A cache that is NULL finds nothing and stores nothing.
//
// Threads: pipelines may be made with handle() while save() runs. Calls of save() itself are
// externally synchronised.
// Lifetime: destroy it before the device and before the cache is closed. It does not save by
// itself.
#pragma once

#include <cairn/cairn_program_cache.h>
#include <vulkan/vulkan_core.h>

#include <cairn/cairn.hpp>
#include <cstring>

namespace cairn_adapters {

class VulkanPipelineCache {
  public:
    // A stored cache of more than `size_max` bytes is not loaded, and save() then begins anew with
    // what this process has made, so that what nobody uses any more does not stay for ever.
    VulkanPipelineCache(cairn_cache *cache, VkDevice device,
                        const VkPhysicalDeviceProperties &properties, PFN_vkGetDeviceProcAddr find,
                        std::size_t size_max = std::size_t{256} << 20)
        : cache_(cache), device_(device), properties_(properties), size_max_(size_max) {
        create_ =
            reinterpret_cast<PFN_vkCreatePipelineCache>(find(device, "vkCreatePipelineCache"));
        destroy_ =
            reinterpret_cast<PFN_vkDestroyPipelineCache>(find(device, "vkDestroyPipelineCache"));
        read_ =
            reinterpret_cast<PFN_vkGetPipelineCacheData>(find(device, "vkGetPipelineCacheData"));
        merge_ = reinterpret_cast<PFN_vkMergePipelineCaches>(find(device, "vkMergePipelineCaches"));
        if (!create_ || !destroy_ || !read_ || !merge_) return;
        const auto stored = get();
        if (stored && (own_ = create(stored->bytes())) != VK_NULL_HANDLE) loaded_ = true;
        if (own_ == VK_NULL_HANDLE) own_ = create({});
        if (const auto data = read(own_)) saved_ = digest(data.bytes());
    }
    ~VulkanPipelineCache() {
        if (own_ != VK_NULL_HANDLE) destroy_(device_, own_, nullptr);
    }
    VulkanPipelineCache(const VulkanPipelineCache &) = delete;
    VulkanPipelineCache &operator=(const VulkanPipelineCache &) = delete;

    // For vkCreate...Pipelines. VK_NULL_HANDLE where the driver can make none, which these calls
    // take as well.
    [[nodiscard]] VkPipelineCache handle() const { return own_; }
    // Whether there was something stored for this driver, which the driver has been given.
    [[nodiscard]] bool loaded() const { return loaded_; }

    // Whether these bytes are a pipeline cache of this device and driver. Drivers have to check
    // that as well, and not all of them do.
    static bool fits(cairn::Bytes data, const VkPhysicalDeviceProperties &properties) {
        // As VkPipelineCacheHeaderVersionOne, but for its enumeration, which bytes may not have.
        struct Header {
            std::uint32_t size, version, vendor, device;
            std::uint8_t uuid[VK_UUID_SIZE];
        } header;
        static_assert(sizeof(header) == sizeof(VkPipelineCacheHeaderVersionOne));
        if (data.size() < sizeof(header)) return false;
        std::memcpy(&header, data.data(), sizeof(header));
        return header.size == sizeof(header) &&
               header.version == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
               header.vendor == properties.vendorID && header.device == properties.deviceID &&
               std::memcmp(header.uuid, properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
    }

    // Stores what has been made, merged with what other processes have stored meanwhile. Call it
    // after loading screens and at the end. `cost_us` is the time that it took to make the
    // pipelines; 0: unknown. Of processes that save at once, one waits for the other, `patience_ms`
    // milliseconds at most.
    //
    //   CAIRN_OK                 stored
    //   CAIRN_EXISTS             there is nothing that is not stored already
    //   CAIRN_ERROR_BUSY         others are still saving: call again later
    //   CAIRN_ERROR_UNSUPPORTED  the driver has no pipeline cache, or one without a header
    //   CAIRN_ERROR_NO_MEMORY    also where the driver had none; others as cairn_put
    int save(std::uint32_t cost_us = 0, std::uint32_t patience_ms = 1000) {
        if (own_ == VK_NULL_HANDLE) return CAIRN_ERROR_UNSUPPORTED;
        const Data mine = read(own_);
        if (!mine) return CAIRN_ERROR_NO_MEMORY;
        const auto now = digest(mine.bytes());
        if (now && now == saved_) return CAIRN_EXISTS;

        // The lease is one for an entry that nobody ever makes, so each that waits for it has it in
        // turn. Where there are none (behind a broker), the last one that saves wins.
        cairn_lease *handle = nullptr;
        const auto turn = key("vulkan-pipeline-cache-turn/1");
        const int got = cairn_lease_acquire(cache_, turn.data(), turn.size(), patience_ms, &handle);
        if (got == CAIRN_ERROR_BUSY) return got;
        const cairn::Lease lease(got == CAIRN_OK ? handle : nullptr);
        // A program cache has in memory what this process has found, and not what others have
        // stored since. A cache in memory has no identifier, and keeps what it has.
        if (cairn_program_cache_identifier(cache_) != nullptr) cairn_trim(cache_, 0, nullptr);
        const int result = store(mine, cost_us);
        if (result >= 0) saved_ = now;
        return result;
    }

  private:
    struct Data {
        std::unique_ptr<std::byte[]> data;
        std::size_t size = 0;
        explicit operator bool() const { return data != nullptr; }
        [[nodiscard]] cairn::Bytes bytes() const { return {data.get(), size}; }
    };

    int store(const Data &mine, std::uint32_t cost_us) {
        const auto stored = get();
        Data both;
        if (stored) {
            // Into a new one: merging into our own would need all threads to stop making pipelines.
            const VkPipelineCache merged = create(stored->bytes());
            if (merged == VK_NULL_HANDLE) return CAIRN_ERROR_NO_MEMORY;
            if (merge_(device_, merged, 1, &own_) == VK_SUCCESS) both = read(merged);
            destroy_(device_, merged, nullptr);
            if (!both) return CAIRN_ERROR_NO_MEMORY;
        }
        const cairn::Bytes value = both ? both.bytes() : mine.bytes();
        if (!fits(value, properties_)) return CAIRN_ERROR_UNSUPPORTED;
        if (stored && stored->size() == value.size() &&
            std::memcmp(stored->data(), value.data(), value.size()) == 0) {
            return CAIRN_EXISTS;
        }
        const auto entry = key("vulkan-pipeline-cache/1");
        const cairn_put_options options{sizeof(options), 0, cost_us};
        return cairn_put(cache_, entry.data(), entry.size(), value.data(), value.size(), &options);
    }

    // What is stored, if it is of use here.
    [[nodiscard]] std::optional<cairn::Blob> get() const {
        const auto entry = key("vulkan-pipeline-cache/1");
        cairn_blob *handle = nullptr;
        if (cairn_get(cache_, entry.data(), entry.size(), &handle) != CAIRN_OK) return std::nullopt;
        std::optional<cairn::Blob> blob(std::in_place, handle);
        if (blob->size() > size_max_ || !fits(blob->bytes(), properties_)) return std::nullopt;
        return blob;
    }

    // The header has neither the driver's version nor the size of a pointer, and drivers have
    // changed without a new UUID.
    [[nodiscard]] cairn::ProgramKey key(const char *domain) const {
        const auto uuid = cairn::bytes(properties_.pipelineCacheUUID);
        return cairn::KeyBuilder(domain)
            .add_number(1, properties_.vendorID)
            .add_number(2, properties_.deviceID)
            .add_number(3, properties_.driverVersion)
            .add_number(4, sizeof(void *))
            .add(5, uuid)
            .finish()
            .value_or(cairn::ProgramKey{});
    }
    static std::optional<cairn::ProgramKey> digest(cairn::Bytes data) {
        return cairn::KeyBuilder("vulkan-pipeline-cache-data/1").add(1, data).finish();
    }

    // A program cache remembers an entry that the driver dies of, and drops it.
    [[nodiscard]] VkPipelineCache create(cairn::Bytes data) const {
        VkPipelineCacheCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
        info.initialDataSize = data.size();
        info.pInitialData = data.data();
        VkPipelineCache made = VK_NULL_HANDLE;
        const auto entry = key("vulkan-pipeline-cache/1");
        std::uint32_t ticket = 0;
        const bool noted = !data.empty() &&
                           cairn_use_begin(cache_, entry.data(), entry.size(), &ticket) == CAIRN_OK;
        if (create_(device_, &info, nullptr, &made) != VK_SUCCESS) made = VK_NULL_HANDLE;
        if (noted) cairn_use_end(cache_, ticket);
        return made;
    }

    // Other threads may add pipelines between the two calls.
    [[nodiscard]] Data read(VkPipelineCache from) const {
        for (int attempt = 0; from != VK_NULL_HANDLE && attempt < 8; ++attempt) {
            Data data;
            if (read_(device_, from, &data.size, nullptr) != VK_SUCCESS) break;
            data.data.reset(new (std::nothrow) std::byte[data.size + 1]);
            if (!data) break;
            const VkResult result = read_(device_, from, &data.size, data.data.get());
            if (result == VK_SUCCESS) return data;
            if (result != VK_INCOMPLETE) break;
        }
        return {};
    }

    cairn_cache *cache_;
    VkDevice device_;
    VkPhysicalDeviceProperties properties_;
    std::size_t size_max_;
    PFN_vkCreatePipelineCache create_ = nullptr;
    PFN_vkDestroyPipelineCache destroy_ = nullptr;
    PFN_vkGetPipelineCacheData read_ = nullptr;
    PFN_vkMergePipelineCaches merge_ = nullptr;
    VkPipelineCache own_ = VK_NULL_HANDLE;
    bool loaded_ = false;
    std::optional<cairn::ProgramKey> saved_;  // of what own_ held when all of it was stored
};

}  // namespace cairn_adapters
