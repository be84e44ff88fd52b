// SPDX-License-Identifier: MIT
// The player behind `cairn warm` with textures of each kind that real programs read.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "player_states.h"

namespace gl_test {
namespace {

using PlayerTexturesTest = PlayerStatesTest;

// Reads a texture with a sampler of this type by this expression, a float or a vector's beginning.
Case samples(const char *sampler, const char *expression, unsigned kinds, recipe::Texture texture,
             GLenum type = GL_SAMPLER_2D) {
    const std::string name = std::string(sampler) + " of " + std::to_string(texture.format);
    return {name, kinds, [=](Draw &draw) {
                draw.fragment() = std::string("uniform highp ") + sampler +
                                  " t; layout(location = 0) out vec4 c; void main() { c = vec4(" +
                                  expression + "); }";
                draw.state.bindings = {{"t", type, {3}}};
                draw.state.units = {{3, texture}};
            }};
}

// In each way that applications make it: by glTexStorage and by glTexImage, with and without mipmaps, in
// sizes that are powers of two and in others.
void add_ways(std::vector<Case> &cases, const char *sampler, const char *expression, unsigned kinds,
              recipe::Texture texture) {
    for (const recipe::Upload upload : {recipe::Upload(), {GL_RGBA, GL_UNSIGNED_BYTE}}) {
        for (const std::uint32_t levels : {1u, 2u}) {
            for (const std::uint32_t size : {4u, 3u}) {
                texture.upload = upload;
                texture.levels = levels;
                for (std::uint32_t *each : {&texture.width, &texture.height, &texture.depth}) {
                    if (*each != 1) *each = size;
                }
                Case one = samples(sampler, expression, kinds, texture);
                one.name += upload.format == 0 ? " stored" : " uploaded";
                one.name += " levels " + std::to_string(levels) + " size " + std::to_string(size);
                cases.push_back(std::move(one));
            }
        }
    }
}

TEST_F(PlayerTexturesTest, TexturesOfEachShapeAreRead) {
    std::vector<Case> cases;
    const auto add = [&](GLenum target, const char *sampler, const char *expression,
                         unsigned kinds) {
        add_ways(cases, sampler, expression, kinds, texture_of(target, GL_RGBA8));
    };
    add(GL_TEXTURE_2D, "sampler2D", "texture(t, vec2(0.5))", kNew);
    add(GL_TEXTURE_CUBE_MAP, "samplerCube", "texture(t, vec3(0.5))", kNew);
    add(GL_TEXTURE_3D, "sampler3D", "texture(t, vec3(0.5))", kNew);
    add(GL_TEXTURE_2D_ARRAY, "sampler2DArray", "texture(t, vec3(0.5))", kNew);
    add(GL_TEXTURE_CUBE_MAP_ARRAY, "samplerCubeArray", "texture(t, vec4(0.5))", kNew);
    add(GL_TEXTURE_1D, "sampler1D", "texture(t, 0.5)", kCore);
    add(GL_TEXTURE_1D_ARRAY, "sampler1DArray", "texture(t, vec2(0.5))", kCore);
    recipe::Texture narrow = texture_of(GL_TEXTURE_1D_ARRAY, GL_RGBA8);
    narrow.width = 1;
    add_ways(cases, "sampler1DArray", "texture(t, vec2(0.5))", kCore, narrow);
    for (const recipe::Upload upload : {recipe::Upload(), {GL_RGBA, GL_UNSIGNED_BYTE}}) {
        cases.push_back(samples("sampler2DRect", "texture(t, vec2(0.5))", kCore,
                                texture_of(GL_TEXTURE_RECTANGLE, GL_RGBA8, upload)));
    }
    for (const GLenum target : Enums{GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY}) {
        const bool is_array = target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
        recipe::Texture texture = texture_of(target, GL_RGBA8);
        texture.samples = 4;
        cases.push_back(samples(
            is_array ? "sampler2DMSArray" : "sampler2DMS",
            is_array ? "texelFetch(t, ivec3(0), 1)" : "texelFetch(t, ivec2(0), 1)", kNew, texture));
    }
    cases.push_back(samples("samplerBuffer", "texelFetch(t, 0)", kNew,
                            texture_of(GL_TEXTURE_BUFFER, GL_RGBA32F)));
    expect_all_drawn(cases);
}

TEST_F(PlayerTexturesTest, TexturesOfEachFormatAreRead) {
    std::vector<Case> cases;
    const auto add = [&](const char *sampler, const char *expression, unsigned kinds, GLenum target,
                         GLenum format, recipe::Upload upload = {}, recipe::Values values = {}) {
        recipe::Texture texture = texture_of(target, format, upload);
        texture.parameters = std::move(values);
        cases.push_back(samples(sampler, expression, kinds, texture));
    };
    const auto add_2d = [&](GLenum format, unsigned kinds = kNew, recipe::Upload upload = {}) {
        add("sampler2D", "texture(t, vec2(0.5))", kinds, GL_TEXTURE_2D, format, upload);
    };
    constexpr GLenum kEtc1 = 0x8D64;
    for (const GLenum format :
         Enums{GL_SRGB8_ALPHA8, GL_R11F_G11F_B10F, GL_RGB9_E5, GL_RGB10_A2, GL_RG16F, GL_R32F,
               GL_RGB565, GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT,
               GL_COMPRESSED_RGBA8_ETC2_EAC, GL_COMPRESSED_SRGB8_ETC2, GL_COMPRESSED_R11_EAC,
               GL_COMPRESSED_RGBA_BPTC_UNORM, GL_COMPRESSED_RG_RGTC2}) {
        add_2d(format);
    }
    add_2d(GL_COMPRESSED_RGBA_ASTC_4x4_KHR, kEs32);
    add_2d(kEtc1, kEs32);
    add_2d(GL_RGB, kNew, {GL_RGB, GL_UNSIGNED_BYTE});
    add_2d(GL_LUMINANCE, kEs32, {GL_LUMINANCE, GL_UNSIGNED_BYTE});
    add_2d(GL_RGBA, kCore, {GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV});
    add_2d(GL_RGBA16F, kNew, {GL_RGBA, GL_HALF_FLOAT});
    add_2d(GL_SRGB8_ALPHA8, kNew, {GL_RGBA, GL_UNSIGNED_BYTE});
    for (const GLenum format :
         Enums{GL_COMPRESSED_RGBA8_ETC2_EAC, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT}) {
        add("sampler2DArray", "texture(t, vec3(0.5))", kNew, GL_TEXTURE_2D_ARRAY, format);
        add("samplerCube", "texture(t, vec3(0.5))", kNew, GL_TEXTURE_CUBE_MAP, format);
    }
    const recipe::Values nearest = {{GL_TEXTURE_MAG_FILTER, GL_NEAREST},
                                    {GL_TEXTURE_MIN_FILTER, GL_NEAREST}};
    add("isampler2D", "texture(t, vec2(0.5))", kNew, GL_TEXTURE_2D, GL_R32I, {}, nearest);
    add("usampler2D", "texture(t, vec2(0.5))", kNew, GL_TEXTURE_2D, GL_RGBA8UI,
        {GL_RGBA_INTEGER, GL_UNSIGNED_BYTE}, nearest);
    add("isampler3D", "texture(t, vec3(0.5))", kNew, GL_TEXTURE_3D, GL_RG16I, {}, nearest);
    add("usamplerCube", "texture(t, vec3(0.5))", kNew, GL_TEXTURE_CUBE_MAP, GL_R8UI, {}, nearest);
    add("isamplerBuffer", "texelFetch(t, 0)", kNew, GL_TEXTURE_BUFFER, GL_RGBA32I);
    const recipe::Values compared = {{GL_TEXTURE_COMPARE_FUNC, GL_GREATER},
                                     {GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE}};
    add("sampler2DShadow", "texture(t, vec3(0.5))", kNew, GL_TEXTURE_2D, GL_DEPTH_COMPONENT24, {},
        compared);
    add("sampler2DShadow", "texture(t, vec3(0.5))", kNew, GL_TEXTURE_2D, GL_DEPTH_COMPONENT16,
        {GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT}, compared);
    add("samplerCubeShadow", "texture(t, vec4(0.5))", kNew, GL_TEXTURE_CUBE_MAP,
        GL_DEPTH_COMPONENT32F, {}, compared);
    add("sampler2DArrayShadow", "texture(t, vec4(0.5))", kNew, GL_TEXTURE_2D_ARRAY,
        GL_DEPTH24_STENCIL8, {GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8}, compared);
    add("samplerCubeArrayShadow", "texture(t, vec4(0.5), 0.5)", kNew, GL_TEXTURE_CUBE_MAP_ARRAY,
        GL_DEPTH_COMPONENT16, {}, compared);
    recipe::Values stencil = nearest;
    stencil.insert(stencil.begin(), {GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX});
    add("usampler2D", "texture(t, vec2(0.5))", kNew, GL_TEXTURE_2D, GL_DEPTH24_STENCIL8, {},
        stencil);
    expect_all_drawn(cases);
}

TEST_F(PlayerTexturesTest, TexturesOfTheFirstVersionOfEsAreRead) {
    std::vector<Case> cases;
    const auto add = [&](const char *sampler, const char *expression, recipe::Texture texture) {
        cases.push_back(
            {std::string(sampler) + " of " + std::to_string(texture.format), kEs2, [=](Draw &draw) {
                 draw.fragment() = std::string("uniform ") + sampler +
                                   " t; void main() { gl_FragColor = " + expression + "; }";
                 draw.state.bindings = {{"t", GL_SAMPLER_2D, {0}}};
                 draw.state.units = {{0, texture}};
             }});
    };
    for (const GLenum format : Enums{GL_RGBA, GL_RGB, GL_ALPHA, GL_LUMINANCE, GL_LUMINANCE_ALPHA}) {
        const recipe::Upload upload = {format, GL_UNSIGNED_BYTE};
        add("sampler2D", "texture2D(t, vec2(0.5))", texture_of(GL_TEXTURE_2D, format, upload));
        add("samplerCube", "textureCube(t, vec3(0.5))",
            texture_of(GL_TEXTURE_CUBE_MAP, format, upload));
    }
    add("sampler2D", "texture2D(t, vec2(0.5))",
        texture_of(GL_TEXTURE_2D, GL_RGB, {GL_RGB, GL_UNSIGNED_SHORT_5_6_5}));
    add("sampler2D", "texture2D(t, vec2(0.5))",
        texture_of(GL_TEXTURE_2D, GL_DEPTH_COMPONENT, {GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT}));
    add("sampler2D", "texture2D(t, vec2(0.5))",
        texture_of(GL_TEXTURE_2D, GL_COMPRESSED_RGB_S3TC_DXT1_EXT));
    expect_all_drawn(cases);
}

}  // namespace
}  // namespace gl_test
