// A Vulkan driver whose pipeline caches are sets of numbers, and which fails where it is told to.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised; there is one for the process, as with a real driver.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace cairn_test::fake_vulkan {

struct State {
    VkPhysicalDeviceProperties properties{};
    bool fails_to_create = false;
    bool fails_to_merge = false;
    bool lacks_merging = false;
    bool has_a_wrong_header = false;
    std::function<void()> when_it_creates;
    std::uint32_t grows_while_read = 0;  // so often another thread adds a pipeline before the data
    std::size_t live = 0;                // caches that are not destroyed
    std::size_t given_bytes = 0;         // of initial data, in all
};
State &state();
void reset();

// As vkGetDeviceProcAddr.
PFN_vkVoidFunction find(VkDevice device, const char *name);

// What another thread does that makes a pipeline.
void add(VkPipelineCache cache, std::uint32_t number);
std::set<std::uint32_t> numbers(VkPipelineCache cache);
// The data of a cache with these.
std::vector<std::byte> data_of(const std::set<std::uint32_t> &numbers);

}  // namespace cairn_test::fake_vulkan
