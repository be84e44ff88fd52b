// SPDX-License-Identifier: MIT
// The player behind `cairn warm` in states that real programs draw in.
#include "player_states.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_directory.h"

namespace gl_test {
namespace {

recipe::Attachment attachment_of(GLenum target, GLenum format, std::uint32_t samples = 0) {
    recipe::Attachment attachment;
    attachment.target = target;
    attachment.format = format;
    attachment.samples = samples;
    return attachment;
}

// Draws into these color buffers, with as many outputs of this type.
Case draws_into(const char *name, unsigned kinds, std::vector<recipe::Attachment> colors,
                recipe::Attachment depth = {}, const char *type = "vec4") {
    return {name, kinds, [=](Draw &draw) {
                draw.fragment() = "";
                std::string body;
                draw.state.framebuffer = {};
                for (std::size_t i = 0; i < colors.size(); ++i) {
                    const std::string n = std::to_string(i);
                    draw.fragment() +=
                        "layout(location = " + n + ") out highp " + type + " c" + n + "; ";
                    body += "c" + n + " = " + type + "(1); ";
                    draw.state.framebuffer.draw_buffers.push_back(GL_COLOR_ATTACHMENT0 +
                                                                  static_cast<GLenum>(i));
                }
                if (colors.empty()) draw.state.framebuffer.draw_buffers = {GL_NONE};
                draw.fragment() += "void main() { " + body + "}";
                draw.state.framebuffer.colors = colors;
                draw.state.framebuffer.depth = depth;
                const bool has_stencil =
                    depth.format == GL_DEPTH24_STENCIL8 || depth.format == GL_DEPTH32F_STENCIL8;
                if (has_stencil) draw.state.framebuffer.stencil = depth;
            }};
}

TEST_F(PlayerStatesTest, FramebuffersOfEachKindAreDrawnInto) {
    const auto layered = [](GLenum target) {
        recipe::Attachment attachment = attachment_of(target, GL_RGBA8);
        attachment.is_layered = 1;
        return attachment;
    };
    constexpr GLenum kBuffer = GL_RENDERBUFFER, k2d = GL_TEXTURE_2D;
    const recipe::Attachment depth = attachment_of(k2d, GL_DEPTH_COMPONENT24);
    recipe::Attachment uploaded = attachment_of(k2d, GL_RGBA);
    uploaded.upload = {GL_RGBA, GL_UNSIGNED_BYTE};
    std::vector<Case> cases = {
        draws_into("two formats", kNew,
                   {attachment_of(k2d, GL_RGBA8), attachment_of(k2d, GL_R11F_G11F_B10F)}, depth),
        draws_into("buffer and texture", kNew,
                   {attachment_of(kBuffer, GL_RGB10_A2), attachment_of(k2d, GL_RG8)},
                   attachment_of(kBuffer, GL_DEPTH24_STENCIL8)),
        draws_into("depth only", kNew, {}, depth),
        draws_into("depth and stencil only", kNew, {}, attachment_of(k2d, GL_DEPTH32F_STENCIL8)),
        draws_into("nothing at all", kNew, {}),
        draws_into("samples", kNew, {attachment_of(kBuffer, GL_RGBA8, 4)},
                   attachment_of(kBuffer, GL_DEPTH24_STENCIL8, 4)),
        draws_into("samples of textures", kNew,
                   {attachment_of(GL_TEXTURE_2D_MULTISAMPLE, GL_RGBA16F, 4),
                    attachment_of(GL_TEXTURE_2D_MULTISAMPLE, GL_RGBA8, 4)},
                   attachment_of(GL_TEXTURE_2D_MULTISAMPLE, GL_DEPTH_COMPONENT24, 4)),
        draws_into("a layer of samples", kNew,
                   {attachment_of(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_RGBA8, 4)}),
        draws_into("integers", kNew,
                   {attachment_of(k2d, GL_RGBA32UI), attachment_of(kBuffer, GL_R8UI)}, {}, "uvec4"),
        draws_into("signed integers", kNew, {attachment_of(k2d, GL_RG16I)}, depth, "ivec4"),
        draws_into("sRGB", kNew, {attachment_of(k2d, GL_SRGB8_ALPHA8)}),
        draws_into("cube", kNew, {attachment_of(GL_TEXTURE_CUBE_MAP, GL_RGBA8)}),
        draws_into("layer of 3D", kNew, {attachment_of(GL_TEXTURE_3D, GL_RGBA8)}),
        draws_into("layer of array", kNew, {attachment_of(GL_TEXTURE_2D_ARRAY, GL_RGBA8)}),
        draws_into("layer of cubes", kNew, {attachment_of(GL_TEXTURE_CUBE_MAP_ARRAY, GL_RGBA8)}),
        draws_into("layers of 3D", kNew, {layered(GL_TEXTURE_3D)}),
        draws_into("layers of cube", kNew, {layered(GL_TEXTURE_CUBE_MAP)}),
        draws_into("layers of array", kNew, {layered(GL_TEXTURE_2D_ARRAY)}),
        draws_into("layers of cubes", kNew, {layered(GL_TEXTURE_CUBE_MAP_ARRAY)}),
        draws_into("rectangle", kCore, {attachment_of(GL_TEXTURE_RECTANGLE, GL_RGBA8)}),
        draws_into("line", kCore, {attachment_of(GL_TEXTURE_1D, GL_RGBA8)}),
        draws_into("layer of lines", kCore, {attachment_of(GL_TEXTURE_1D_ARRAY, GL_RGBA8)}),
        draws_into("uploaded", kNew, {uploaded}),
        draws_into("second only", kNew, {{}, attachment_of(k2d, GL_RGBA8)}),
    };
    const auto change = [&cases](const auto &with) {
        cases.back().change = [with, before = cases.back().change](Draw &draw) {
            before(draw);
            with(draw.state);
        };
    };
    change([](recipe::DrawState &state) {
        state.framebuffer.draw_buffers = {GL_NONE, GL_COLOR_ATTACHMENT1};
    });
    cases.push_back(draws_into("written as sRGB", kCore, {attachment_of(k2d, GL_SRGB8_ALPHA8)}));
    change([](recipe::DrawState &state) { state.values = {{GL_FRAMEBUFFER_SRGB, 1}}; });
    cases.push_back(draws_into("stencil only", kNew, {attachment_of(kBuffer, GL_RGBA8)}));
    change([](recipe::DrawState &state) {
        state.framebuffer.stencil = attachment_of(kBuffer, GL_STENCIL_INDEX8);
        state.values = {{GL_STENCIL_TEST, 1}, {GL_STENCIL_FUNC, GL_EQUAL}};
    });
    cases.push_back(draws_into("blended apart", kNew,
                               {attachment_of(k2d, GL_RGBA8), attachment_of(k2d, GL_RGBA16F)}));
    change([](recipe::DrawState &state) {
        state.color_buffers.resize(2);
        state.color_buffers[1] = {1, GL_SRC_ALPHA, GL_ONE, GL_ONE, GL_ZERO, GL_MAX, GL_FUNC_ADD, 5};
    });
    for (const auto &[name, surface] :
         {std::pair("window of 565", recipe::Surface{5, 6, 5, 0, 16, 0, 0}),
          std::pair("window of samples", recipe::Surface{8, 8, 8, 8, 24, 8, 4}),
          std::pair("window without depth", recipe::Surface{8, 8, 8, 0, 0, 0, 0})}) {
        const recipe::Surface of = surface;
        cases.push_back({name, kAll, [of](Draw &draw) { draw.state.framebuffer.surface = of; }});
    }
    cases.push_back({"window that is not drawn into", kNew,
                     [](Draw &draw) { draw.state.framebuffer.draw_buffers = {GL_NONE}; }});
    for (const GLenum format : Enums{GL_RGB565, GL_RGBA4, GL_RGB5_A1}) {
        cases.push_back({"old buffer", kEs2, [format](Draw &draw) {
                             draw.state.framebuffer = {};
                             draw.state.framebuffer.draw_buffers = {GL_COLOR_ATTACHMENT0};
                             draw.state.framebuffer.colors = {attachment_of(kBuffer, format)};
                             draw.state.framebuffer.depth =
                                 attachment_of(kBuffer, GL_DEPTH_COMPONENT16);
                         }});
    }
    expect_all_drawn(cases);
}

// An image in unit 1, and a sampler of the same kind in unit 0.
Case image(const char *type, const char *layout, const char *statement, GLenum target,
           GLenum format) {
    return {type, kNew, [=](Draw &draw) {
                draw.fragment() = std::string("layout(binding = 1, ") + layout +
                                  ") uniform highp " + type +
                                  " i; layout(binding = 0) uniform highp sampler2D t; " +
                                  "layout(location = 0) out vec4 c; void main() { " + statement +
                                  " c = texture(t, vec2(0.5)); }";
                recipe::ImageUnit unit;
                unit.number = 1;
                unit.format = format;
                unit.access = GL_READ_WRITE;
                unit.is_layered = target == GL_TEXTURE_2D || target == GL_TEXTURE_BUFFER ? 0 : 1;
                unit.texture = texture_of(target, format);
                draw.state.images = {unit};
                draw.state.units = {{0, texture_of(GL_TEXTURE_2D, GL_RGBA8)}};
                draw.state.bindings = {{"i", GL_IMAGE_2D, {1}}, {"t", GL_SAMPLER_2D, {0}}};
            }};
}

TEST_F(PlayerStatesTest, ImagesAndBuffersAreReadAndWritten) {
    const auto with = [](const char *declarations, const char *statement) {
        return [=](Draw &draw) {
            draw.fragment() = std::string(declarations) +
                              " layout(location = 0) out vec4 c; void main() { c = vec4(1.0); " +
                              statement + " }";
        };
    };
    expect_all_drawn({
        image("image2D", "r32f", "imageStore(i, ivec2(0), imageLoad(i, ivec2(1)));", GL_TEXTURE_2D,
              GL_R32F),
        image("uimage2D", "r32ui", "imageAtomicAdd(i, ivec2(0), 1u);", GL_TEXTURE_2D, GL_R32UI),
        image("writeonly image3D", "rgba8", "imageStore(i, ivec3(0), vec4(1.0));", GL_TEXTURE_3D,
              GL_RGBA8),
        image("writeonly image2DArray", "rgba8", "imageStore(i, ivec3(0), vec4(1.0));",
              GL_TEXTURE_2D_ARRAY, GL_RGBA8),
        image("writeonly imageCube", "rgba16f", "imageStore(i, ivec3(0), vec4(1.0));",
              GL_TEXTURE_CUBE_MAP, GL_RGBA16F),
        image("writeonly imageBuffer", "rgba32f", "imageStore(i, 0, vec4(1.0));", GL_TEXTURE_BUFFER,
              GL_RGBA32F),
        {"uniform buffer", kNew,
         with("layout(std140, binding = 2) uniform B { vec4 v[64]; } b;", "c = b.v[7];")},
        {"storage buffer", kNew,
         with("layout(std430, binding = 1) buffer B { vec4 v[]; } b;", "b.v[3] = b.v[2];")},
        {"counter", kNew,
         with("layout(binding = 0) uniform atomic_uint n;", "atomicCounterIncrement(n);")},
    });
}

// How many files the driver keeps after it drew with an image, and a sampler of textures of these formats.
std::size_t files_after(const std::vector<GLenum> &formats) {
    const cairn_test::TempDirectory folder;
    const Kind &kind = kKinds[2];
    Draw draw = usual(kind);
    image("image2D", "r32f", "imageStore(i, ivec2(0), imageLoad(i, ivec2(1)));", GL_TEXTURE_2D,
          GL_R32F)
        .change(draw);
    {
        Player player(folder.path());
        EXPECT_TRUE(player.open_context(kind.context));
        for (const GLenum format : formats) {
            draw.state.units[0].texture.format = format;
            EXPECT_EQ(player.work(work_of(kind, draw))->drawn, 1u);
        }
        player.close_input();
        EXPECT_EQ(player.wait(), 0);
    }
    std::size_t count = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path())) {
        if (entry.is_regular_file()) ++count;
    }
    return count;
}

// Machine code is for the sampler's texture, not for that of the image.
TEST_F(PlayerStatesTest, ASamplerBesideAnImageReadsItsOwnTexture) {
    const std::size_t files = files_after({GL_RGBA8, GL_RGBA8});
    EXPECT_GT(files, 0u);
    EXPECT_GT(files_after({GL_RGBA8, GL_RGBA16F}), files);
}

Draw compute() {
    Draw draw;
    draw.stages = {
        {GL_COMPUTE_SHADER,
         "layout(local_size_x = 4) in; layout(binding = 0, rgba8) uniform writeonly "
         "highp image2D i; layout(binding = 0) uniform highp sampler2D t; layout(std430, "
         "binding = 0) buffer B { float v[]; } b; shared float s[4]; void main() { "
         "s[gl_LocalInvocationIndex] = 1.0; barrier(); b.v[0] = s[3]; "
         "imageStore(i, ivec2(0), texelFetch(t, ivec2(0), 0)); }"}};
    recipe::ImageUnit unit;
    unit.format = GL_RGBA8;
    unit.access = GL_WRITE_ONLY;
    unit.texture = texture_of(GL_TEXTURE_2D, GL_RGBA8);
    draw.state.mode = recipe::DrawState::kDispatch;
    draw.state.images = {unit};
    draw.state.units = {{0, texture_of(GL_TEXTURE_2D, GL_RGBA8)}};
    draw.state.bindings = {{"i", GL_IMAGE_2D, {0}}, {"t", GL_SAMPLER_2D, {0}}};
    return draw;
}

TEST_F(PlayerStatesTest, ComputeReadsAndWrites) {
    expect_all_drawn({{"compute", kNew, [](Draw &draw) { draw = compute(); }}});
}

recipe::Attribute attribute_of(std::uint32_t location, std::uint32_t size, GLenum type,
                               std::uint32_t kind, std::uint32_t stride) {
    recipe::Attribute attribute;
    attribute.location = location;
    attribute.source = 1;
    attribute.size = size;
    attribute.type = type;
    attribute.kind = kind;
    attribute.stride = stride;
    return attribute;
}

TEST_F(PlayerStatesTest, AttributesOfEachFormatAreRead) {
    std::vector<Case> cases;
    const auto add = [&](unsigned kinds, const char *type, std::uint32_t size, GLenum of,
                         std::uint32_t kind, std::uint32_t stride) {
        const recipe::Attribute attribute = attribute_of(0, size, of, kind, stride);
        cases.push_back({std::string(type) + " of " + std::to_string(of), kinds, [=](Draw &draw) {
                             if (kinds != kAll) {
                                 draw.vertex() = std::string("layout(location = 0) in ") + type +
                                                 " p; void main() { gl_Position = vec4(p.xyyx); }";
                             }
                             draw.state.attributes = {attribute};
                         }});
    };
    for (const GLenum type : Enums{GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_UNSIGNED_SHORT}) {
        add(kAll, "vec4", 4, type, 0, 8);
        add(kAll, "vec4", 4, type, 1, 8);
        add(kNew, "ivec4", 4, type, 2, 8);
    }
    for (const GLenum type : Enums{GL_INT, GL_UNSIGNED_INT}) {
        add(kNew, type == GL_INT ? "ivec3" : "uvec3", 3, type, 2, 12);
        add(kNew, "vec4", 4, type, 1, 16);
    }
    for (const std::uint32_t kind : {0u, 1u}) {
        add(kNew, "vec4", 4, GL_INT_2_10_10_10_REV, kind, 4);
        add(kNew, "vec4", 4, GL_UNSIGNED_INT_2_10_10_10_REV, kind, 4);
    }
    add(kNew, "vec4", 4, GL_HALF_FLOAT, 0, 8);
    add(kAll, "vec4", 2, GL_FIXED, 0, 2048);
    add(kCore, "vec4", GL_BGRA, GL_UNSIGNED_BYTE, 1, 4);
    add(kCore, "vec4", GL_BGRA, GL_UNSIGNED_INT_2_10_10_10_REV, 1, 4);
    add(kCore, "vec3", 3, GL_UNSIGNED_INT_10F_11F_11F_REV, 0, 4);
    add(kCore, "vec4", 4, GL_DOUBLE, 0, 32);
    add(kCore, "dvec2", 2, GL_DOUBLE, 3, 16);
    add(kCore, "dvec4", 4, GL_DOUBLE, 3, 32);
    expect_all_drawn(cases);
}

TEST_F(PlayerStatesTest, AttributesLieTogetherAndApart) {
    const auto matrix = [](std::uint32_t divisor) {
        return [divisor](Draw &draw) {
            draw.vertex() =
                "layout(location = 0) in vec4 p; layout(location = 1) in mat4 m; "
                "void main() { gl_Position = m * p; }";
            for (std::uint32_t i = 0; i < 4; ++i) {
                recipe::Attribute column = attribute_of(1 + i, 4, GL_FLOAT, 0, 64);
                column.divisor = divisor;
                column.group = 1;
                column.offset = 16 * i;
                draw.state.attributes.push_back(column);
            }
            draw.state.is_instanced = divisor != 0 ? 1 : 0;
            draw.state.index_type = GL_UNSIGNED_INT;
        };
    };
    expect_all_drawn({
        {"matrix", kNew, matrix(0)},
        {"matrix of each instance", kNew, matrix(1)},
        {"matrix of each third", kNew, matrix(3)},
        {"constant", kAll, [](Draw &draw) { draw.state.attributes[0].source = 0; }},
        {"memory", kEs2 | kEs32,
         [](Draw &draw) {
             draw.state.attributes[0].source = 2;
             draw.state.index_type = GL_UNSIGNED_BYTE;
         }},
        {"none", kNew,
         [](Draw &draw) {
             draw.vertex() = "void main() { gl_Position = vec4(gl_VertexID, 0, 0, 1); }";
             draw.state.attributes.clear();
         }},
    });
}

// As glTransformFeedbackVaryings is recorded.
recipe::Setting varyings(GLenum mode, const std::vector<std::string> &names) {
    std::string arguments;
    for (const std::uint64_t number : {std::uint64_t{mode}, std::uint64_t{names.size()}}) {
        std::array<std::byte, 8> bytes = {};
        put_le(MutableBytes(bytes), 0, number);
        arguments.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
    for (const std::string &name : names) arguments += name + '\0';
    return {3, arguments};
}

const char *const kControl =
    "layout(vertices = 4) out; void main() { gl_out[gl_InvocationID].gl_Position = "
    "gl_in[gl_InvocationID].gl_Position; gl_TessLevelInner[0] = gl_TessLevelInner[1] = 1.0; "
    "for (int i = 0; i < 4; ++i) gl_TessLevelOuter[i] = 1.0; }";
const char *const kEvaluation =
    "layout(quads, equal_spacing, ccw) in; void main() { "
    "gl_Position = gl_in[0].gl_Position + vec4(gl_TessCoord, 0.0); }";

std::string geometry(const char *in, int vertices) {
    return std::string("layout(") + in +
           ") in; layout(triangle_strip, max_vertices = 3) out; void main() { for (int i = 0; i < "
           "3; "
           "++i) { gl_Position = gl_in[" +
           std::to_string(vertices - 1) + "].gl_Position; EmitVertex(); } EndPrimitive(); }";
}

TEST_F(PlayerStatesTest, EachStageTakesItsPrimitives) {
    std::vector<Case> cases;
    const auto add_geometry = [&](GLenum mode, const char *in, int vertices) {
        cases.push_back({in, kNew, [=](Draw &draw) {
                             draw.stages.emplace_back(GL_GEOMETRY_SHADER, geometry(in, vertices));
                             draw.state.mode = mode;
                         }});
    };
    add_geometry(GL_POINTS, "points", 1);
    add_geometry(GL_LINE_STRIP, "lines", 2);
    add_geometry(GL_TRIANGLE_STRIP, "triangles", 3);
    add_geometry(GL_LINES_ADJACENCY, "lines_adjacency", 4);
    add_geometry(GL_LINE_STRIP_ADJACENCY, "lines_adjacency", 4);
    add_geometry(GL_TRIANGLES_ADJACENCY, "triangles_adjacency", 6);
    add_geometry(GL_TRIANGLE_STRIP_ADJACENCY, "triangles_adjacency", 6);
    for (const bool has_geometry : {false, true}) {
        cases.push_back({"patches", kNew, [=](Draw &draw) {
                             draw.stages.emplace_back(GL_TESS_CONTROL_SHADER, kControl);
                             draw.stages.emplace_back(GL_TESS_EVALUATION_SHADER, kEvaluation);
                             if (has_geometry) {
                                 draw.stages.emplace_back(GL_GEOMETRY_SHADER,
                                                          geometry("triangles", 3));
                             }
                             draw.state.mode = GL_PATCHES;
                             draw.state.values = {{GL_PATCH_VERTICES, 4}};
                         }});
    }
    cases.push_back({"patches without control", kCore, [](Draw &draw) {
                         draw.stages.emplace_back(GL_TESS_EVALUATION_SHADER, kEvaluation);
                         draw.state.mode = GL_PATCHES;
                     }});
    for (const GLenum mode : Enums{GL_INTERLEAVED_ATTRIBS, GL_SEPARATE_ATTRIBS}) {
        cases.push_back({"feedback", kNew, [mode](Draw &draw) {
                             draw.vertex() =
                                 "layout(location = 0) in vec4 p; out vec4 a; out vec2 b; "
                                 "void main() { gl_Position = a = p; b = p.xy; }";
                             draw.settings = {varyings(mode, {"a", "b"})};
                             draw.state.values = {{GL_RASTERIZER_DISCARD, 1}};
                             draw.state.mode = GL_POINTS;
                         }});
    }
    for (const GLenum mode : Enums{GL_LINE_LOOP, GL_TRIANGLE_FAN, GL_POINTS}) {
        cases.push_back({"mode", kAll, [mode](Draw &draw) { draw.state.mode = mode; }});
    }
    expect_all_drawn(cases);
}

TEST_F(PlayerStatesTest, ParametersAreSetAndTakenBack) {
    std::vector<Case> cases;
    const auto add = [&](const char *name, unsigned kinds, recipe::Values values) {
        cases.push_back({name, kinds, [values](Draw &draw) { draw.state.values = values; }});
    };
    add("depth", kAll,
        {{GL_DEPTH_TEST, 1},
         {GL_DEPTH_FUNC, GL_GEQUAL},
         {GL_DEPTH_WRITEMASK, 0},
         {GL_CULL_FACE, 1},
         {GL_CULL_FACE_MODE, GL_FRONT},
         {GL_FRONT_FACE, GL_CW}});
    add("stencil", kAll,
        {{GL_STENCIL_TEST, 1},
         {GL_STENCIL_FUNC, GL_EQUAL},
         {GL_STENCIL_REF, 3},
         {GL_STENCIL_VALUE_MASK, 15},
         {GL_STENCIL_BACK_FAIL, GL_INCR_WRAP},
         {GL_STENCIL_BACK_WRITEMASK, 1},
         {GL_STENCIL_PASS_DEPTH_PASS, GL_REPLACE}});
    add("samples", kAll,
        {{GL_SAMPLE_ALPHA_TO_COVERAGE, 1},
         {GL_SAMPLE_COVERAGE, 1},
         {GL_POLYGON_OFFSET_FILL, 1},
         {GL_SCISSOR_TEST, 1},
         {GL_DITHER, 0},
         {GL_LINE_WIDTH, 2}});
    add("newer", kNew,
        {{GL_SAMPLE_SHADING, 1},
         {GL_MIN_SAMPLE_SHADING_VALUE, 1},
         {GL_SAMPLE_MASK, 1},
         {GL_PRIMITIVE_RESTART_FIXED_INDEX, 1}});
    add("desktop", kCore,
        {{GL_DEPTH_CLAMP, 1},
         {GL_POLYGON_MODE, GL_LINE},
         {GL_COLOR_LOGIC_OP, 1},
         {GL_LOGIC_OP_MODE, GL_XOR},
         {GL_PROVOKING_VERTEX, GL_FIRST_VERTEX_CONVENTION},
         {GL_CLIP_ORIGIN, GL_UPPER_LEFT},
         {GL_CLIP_DEPTH_MODE, GL_ZERO_TO_ONE},
         {GL_CLIP_DISTANCE0, 1},
         {GL_PROGRAM_POINT_SIZE, 1},
         {GL_PRIMITIVE_RESTART, 1},
         {GL_SAMPLE_ALPHA_TO_ONE, 1},
         {GL_MULTISAMPLE, 0},
         {GL_TEXTURE_CUBE_MAP_SEAMLESS, 1},
         {GL_LINE_SMOOTH, 1},
         {GL_POLYGON_SMOOTH, 1},
         {GL_POINT_SPRITE_COORD_ORIGIN, GL_LOWER_LEFT}});
    cases.push_back({"equation of the advanced ones", kEs32, [](Draw &draw) {
                         draw.fragment() =
                             "layout(blend_support_multiply) out; layout(location = 0) out vec4 c; "
                             "void main() { c = vec4(1.0); }";
                         draw.state.color_buffers[0] = {
                             1,       GL_ONE,          GL_ZERO,         GL_ONE,
                             GL_ZERO, GL_MULTIPLY_KHR, GL_MULTIPLY_KHR, 15};
                     }});
    cases.push_back(
        {"second source", kCore, [](Draw &draw) {
             draw.fragment() =
                 "layout(location = 0) out vec4 c; layout(location = 0, index = 1) out "
                 "vec4 d; void main() { c = d = vec4(1.0); }";
             draw.state.color_buffers[0] = {
                 1,           GL_ONE, GL_SRC1_COLOR, GL_ONE, GL_ONE_MINUS_SRC1_ALPHA, GL_FUNC_ADD,
                 GL_FUNC_ADD, 15};
         }});
    expect_all_drawn(cases);
}

TEST_F(PlayerStatesTest, WhatGlDoesNotKnowIsComplainedOf) {
    const Kind &kind = kKinds[2];
    Player player;
    start(player, kind);
    Draw draw = usual(kind);
    draw.state.units = {{0, texture_of(GL_TEXTURE_2D, 0x7777)}};
    ASSERT_TRUE(player.work(work_of(kind, draw)));
    EXPECT_NE(player.complaints(), "");
}

}  // namespace
}  // namespace gl_test
