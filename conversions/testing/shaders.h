// Small shaders in the languages that converters know.
// SPDX-License-Identifier: MIT
//
// Thread safety: constants.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::conversions::testing {

inline constexpr const char *kVertexShader = R"(#version 450
layout(location = 0) in vec4 corner;
layout(location = 0) out vec4 tint;
void main() { tint = corner * 0.5; gl_Position = corner; }
)";

// A compute shader of model 5.0 that returns: signatures without entries, and the tokens
// dcl_thread_group 1, 1, 1 and ret. The container has the checksum of its own kind.
inline std::string dxbc_shader() {
    constexpr std::uint8_t kBytes[] = {
        0x44, 0x58, 0x42, 0x43, 0xb7, 0x0c, 0xd2, 0x8e, 0x30, 0xce, 0xe0, 0x5a, 0x59, 0x45,
        0xe7, 0x99, 0x34, 0x9f, 0xd0, 0xa5, 0x01, 0x00, 0x00, 0x00, 0x70, 0x00, 0x00, 0x00,
        0x03, 0x00, 0x00, 0x00, 0x2c, 0x00, 0x00, 0x00, 0x3c, 0x00, 0x00, 0x00, 0x4c, 0x00,
        0x00, 0x00, 0x49, 0x53, 0x47, 0x4e, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x08, 0x00, 0x00, 0x00, 0x4f, 0x53, 0x47, 0x4e, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x53, 0x48, 0x45, 0x58, 0x1c, 0x00, 0x00, 0x00,
        0x50, 0x00, 0x05, 0x00, 0x07, 0x00, 0x00, 0x00, 0x9b, 0x00, 0x00, 0x04, 0x01, 0x00,
        0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x3e, 0x00, 0x00, 0x01};
    return {reinterpret_cast<const char *>(kBytes), sizeof kBytes};
}

// A compute shader whose main() returns, with one invocation.
inline std::string spirv_shader() {
    constexpr std::uint32_t kWords[] = {
        0x07230203, 0x00010000, 0,  5,          0,     // header: version 1.0, numbers below 5
        0x00020011, 1,                                 // OpCapability Shader
        0x0003000e, 0,          1,                     // OpMemoryModel Logical GLSL450
        0x0005000f, 5,          3,  0x6e69616d, 0,     // OpEntryPoint GLCompute %3 "main"
        0x00060010, 3,          17, 1,          1, 1,  // OpExecutionMode %3 LocalSize 1 1 1
        0x00020013, 1,                                 // %1 = OpTypeVoid
        0x00030021, 2,          1,                     // %2 = OpTypeFunction %1
        0x00050036, 1,          3,  0,          2,     // %3 = OpFunction %1 None %2
        0x000200f8, 4,                                 // %4 = OpLabel
        0x000100fd,                                    // OpReturn
        0x00010038};                                   // OpFunctionEnd
    return {reinterpret_cast<const char *>(kWords), sizeof kWords};
}

}  // namespace cairn::conversions::testing
