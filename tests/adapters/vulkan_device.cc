// SPDX-License-Identifier: MIT
#include "adapters/vulkan_device.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace cairn_test {
namespace {

void require(VkResult result, const char *call) {
    if (result == VK_SUCCESS) return;
    std::fprintf(stderr, "%s: %d\n", call, result);
    std::abort();
}

// The manifest of a driver, whose name begins so; "" where there is none.
std::string manifest(const std::string &name) {
    std::error_code error;
    for (const auto &entry :
         std::filesystem::directory_iterator("/usr/share/vulkan/icd.d", error)) {
        if (entry.path().filename().string().rfind(name, 0) == 0) return entry.path();
    }
    return "";
}

// Chooses the driver, and switches Mesa's own cache off.
bool choose(VulkanDriver driver) {
    const std::string found = manifest(driver == VulkanDriver::lavapipe ? "lvp_icd" : "radeon_icd");
    if (found.empty()) return false;
    setenv("VK_ICD_FILENAMES", found.c_str(), 1);
    setenv("VK_DRIVER_FILES", found.c_str(), 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    // The compiler for this GPU works without one.
    if (driver == VulkanDriver::radv) setenv("RADV_FORCE_FAMILY", "navi10", 1);
    return true;
}

// A compute shader that does nothing, in work groups of `variant`.
std::vector<std::uint32_t> spirv(std::uint32_t variant) {
    const auto op = [](std::uint32_t words, std::uint32_t code) { return words << 16 | code; };
    const std::uint32_t main = 0x6e69616d;  // "main"
    return {
        0x07230203, 0x00010000, 0,  5,       0,     // magic, version 1.0, bound
        op(2, 17),  1,                              // OpCapability Shader
        op(3, 14),  0,          1,                  // OpMemoryModel Logical GLSL450
        op(5, 15),  5,          1,  main,    0,     // OpEntryPoint GLCompute %1 "main"
        op(6, 16),  1,          17, variant, 1, 1,  // OpExecutionMode %1 LocalSize
        op(2, 19),  2,                              // %2 = OpTypeVoid
        op(3, 33),  3,          2,                  // %3 = OpTypeFunction %2
        op(5, 54),  2,          1,  0,       3,     // %1 = OpFunction %2 None %3
        op(2, 248), 4,                              // %4 = OpLabel
        op(1, 253), op(1, 56)                       // OpReturn OpFunctionEnd
    };
}

}  // namespace

VulkanDevice::VulkanDevice(VulkanDriver driver) {
    if (!choose(driver)) return;
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instance{};
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pApplicationInfo = &application;
    if (vkCreateInstance(&instance, nullptr, &instance_) != VK_SUCCESS) return;
    std::uint32_t count = 1;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    vkEnumeratePhysicalDevices(instance_, &count, &physical);
    if (physical == VK_NULL_HANDLE) return;
    vkGetPhysicalDeviceProperties(physical, &properties_);

    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo device{};
    device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    require(vkCreateDevice(physical, &device, nullptr, &device_), "vkCreateDevice");
}

VulkanDevice::~VulkanDevice() {
    if (device_ != VK_NULL_HANDLE) vkDestroyDevice(device_, nullptr);
    if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

bool VulkanDevice::make_pipeline(std::uint32_t variant, VkPipelineCache cache) const {
    const std::vector<std::uint32_t> code = spirv(variant);
    VkShaderModuleCreateInfo module{};
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = code.size() * sizeof(code[0]);
    module.pCode = code.data();
    VkShaderModule shader = VK_NULL_HANDLE;
    require(vkCreateShaderModule(device_, &module, nullptr, &shader), "vkCreateShaderModule");
    VkPipelineLayoutCreateInfo nothing{};
    nothing.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    require(vkCreatePipelineLayout(device_, &nothing, nullptr, &layout), "vkCreatePipelineLayout");

    VkPipelineCreationFeedback whole{};
    VkPipelineCreationFeedback stage{};
    VkPipelineCreationFeedbackCreateInfo feedback{};
    feedback.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO;
    feedback.pPipelineCreationFeedback = &whole;
    feedback.pipelineStageCreationFeedbackCount = 1;
    feedback.pPipelineStageCreationFeedbacks = &stage;
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.pNext = &feedback;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = "main";
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    require(vkCreateComputePipelines(device_, cache, 1, &info, nullptr, &pipeline),
            "vkCreateComputePipelines");
    vkDestroyPipeline(device_, pipeline, nullptr);
    vkDestroyPipelineLayout(device_, layout, nullptr);
    vkDestroyShaderModule(device_, shader, nullptr);
    const VkPipelineCreationFeedbackFlags found =
        VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT |
        VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    return (whole.flags & found) == found;
}

}  // namespace cairn_test
