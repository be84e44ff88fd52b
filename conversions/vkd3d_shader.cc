// SPDX-License-Identifier: MIT
// DXBC -> SPIR-V, by vkd3d-shader.
#include <stddef.h>  // which the next one needs
#include <vkd3d_shader.h>

#include "conversions/converter.h"

namespace cairn::conversions {
namespace {

std::string version() {
    unsigned major = 0;
    unsigned minor = 0;
    const char *text = vkd3d_shader_get_version(&major, &minor);
    return (text == nullptr ? std::to_string(major) + "." + std::to_string(minor) : text) +
           std::string(" ") +
           build_id_at(reinterpret_cast<const void *>(&vkd3d_shader_get_version));
}

Converted convert(const Options &options, std::string_view input) {
    vkd3d_shader_spirv_target_info target = {};
    target.type = VKD3D_SHADER_STRUCTURE_TYPE_SPIRV_TARGET_INFO;
    target.environment = options.at("target") == "opengl"
                             ? VKD3D_SHADER_SPIRV_ENVIRONMENT_OPENGL_4_5
                             : VKD3D_SHADER_SPIRV_ENVIRONMENT_VULKAN_1_0;
    const vkd3d_shader_compile_option strip = {VKD3D_SHADER_COMPILE_OPTION_STRIP_DEBUG,
                                               options.at("debug") == "strip" ? 1u : 0u};
    vkd3d_shader_compile_info info = {};
    info.type = VKD3D_SHADER_STRUCTURE_TYPE_COMPILE_INFO;
    info.next = &target;
    info.source = {input.data(), input.size()};
    info.source_type = VKD3D_SHADER_SOURCE_DXBC_TPF;
    info.target_type = VKD3D_SHADER_TARGET_SPIRV_BINARY;
    info.options = &strip;
    info.option_count = 1;
    info.log_level = VKD3D_SHADER_LOG_INFO;
    vkd3d_shader_code code = {};
    char *messages = nullptr;
    const int failed = vkd3d_shader_compile(&info, &code, &messages);
    Converted result;
    result.messages = messages == nullptr ? "" : messages;
    vkd3d_shader_free_messages(messages);
    if (failed < 0) {
        if (result.messages.empty()) {
            result.messages = "vkd3d-shader error " + std::to_string(failed) + "\n";
        }
        return result;
    }
    result.output.assign(static_cast<const char *>(code.code), code.size);
    result.ok = true;
    vkd3d_shader_free_shader_code(&code);
    return result;
}

}  // namespace

extern const ShaderConverter vkd3d_shader_converter = {
    "vkd3d-shader",
    "DXBC (Direct3D shader models 4 and 5) to SPIR-V",
    {{"debug", {"keep", "strip"}, "", "names and the like in the output"},
     {"target", {"vulkan1.0", "opengl"}, "", "where the output is to be used"}},
    version,
    convert};

}  // namespace cairn::conversions
