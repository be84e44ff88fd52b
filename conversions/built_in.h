// The converters that this project knows; null where the build is without their library.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread.
#pragma once

namespace cairn::conversions {

class Converter;

const Converter *glslang_converter();       // GLSL, HLSL -> SPIR-V
const Converter *spirv_cross_converter();   // SPIR-V -> GLSL
const Converter *vkd3d_shader_converter();  // DXBC -> SPIR-V

}  // namespace cairn::conversions
