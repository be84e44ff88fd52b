// A device of one of Mesa's Vulkan drivers that need no hardware, and pipelines on it.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. The driver is chosen by the environment, so one process
// has one driver.
// Ownership: a VulkanDevice destroys its device and instance.
// Failure: is_open() is false where this machine has no such driver.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>

namespace cairn_test {

enum class VulkanDriver {
    lavapipe,  // draws on the processor; its VkPipelineCache holds nothing
    radv       // compiles for a GPU that is not there; its VkPipelineCache holds machine code
};

class VulkanDevice {
  public:
    explicit VulkanDevice(VulkanDriver driver);
    ~VulkanDevice();
    VulkanDevice(const VulkanDevice &) = delete;
    VulkanDevice &operator=(const VulkanDevice &) = delete;

    bool is_open() const { return device_ != VK_NULL_HANDLE; }
    VkDevice device() const { return device_; }
    const VkPhysicalDeviceProperties &properties() const { return properties_; }

    // Makes a compute pipeline; each `variant` (from 1) is another program. Says whether the driver
    // found it in `cache`. Aborts when the driver cannot make it.
    bool make_pipeline(std::uint32_t variant, VkPipelineCache cache) const;

  private:
    VkInstance instance_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_{};
};

}  // namespace cairn_test
