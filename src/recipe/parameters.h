// The parameters of a context that a DrawState has in its `values`, and what GL begins with.
// SPDX-License-Identifier: MIT
//
// Of all versions together: a context does not know all of them, nor begin with the same everywhere.
#pragma once

#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>

namespace cairn::recipe {

struct Parameter {
    GLenum name;
    GLint initial;
    bool is_switch;  // of glEnable
};

inline constexpr Parameter kParameters[] = {
    {GL_CULL_FACE, 0, true},
    {GL_DEPTH_TEST, 0, true},
    {GL_STENCIL_TEST, 0, true},
    {GL_SCISSOR_TEST, 0, true},
    {GL_DITHER, 1, true},
    {GL_POLYGON_OFFSET_FILL, 0, true},
    {GL_POLYGON_OFFSET_LINE, 0, true},
    {GL_POLYGON_OFFSET_POINT, 0, true},
    {GL_SAMPLE_ALPHA_TO_COVERAGE, 0, true},
    {GL_SAMPLE_ALPHA_TO_ONE, 0, true},
    {GL_SAMPLE_COVERAGE, 0, true},
    {GL_SAMPLE_MASK, 0, true},
    {GL_SAMPLE_SHADING, 0, true},
    {GL_MULTISAMPLE, 1, true},
    {GL_RASTERIZER_DISCARD, 0, true},
    {GL_PRIMITIVE_RESTART, 0, true},
    {GL_PRIMITIVE_RESTART_FIXED_INDEX, 0, true},
    {GL_DEPTH_CLAMP, 0, true},
    {GL_FRAMEBUFFER_SRGB, 0, true},
    {GL_PROGRAM_POINT_SIZE, 0, true},
    {GL_TEXTURE_CUBE_MAP_SEAMLESS, 0, true},
    {GL_LINE_SMOOTH, 0, true},
    {GL_POLYGON_SMOOTH, 0, true},
    {GL_COLOR_LOGIC_OP, 0, true},
    {GL_CLIP_DISTANCE0, 0, true},
    {GL_CLIP_DISTANCE1, 0, true},
    {GL_CLIP_DISTANCE2, 0, true},
    {GL_CLIP_DISTANCE3, 0, true},
    {GL_CLIP_DISTANCE4, 0, true},
    {GL_CLIP_DISTANCE5, 0, true},
    {GL_CLIP_DISTANCE6, 0, true},
    {GL_CLIP_DISTANCE7, 0, true},
    {GL_ALPHA_TEST, 0, true},
    {GL_POINT_SPRITE, 0, true},
    {GL_POINT_SMOOTH, 0, true},
    {GL_LINE_STIPPLE, 0, true},
    {GL_POLYGON_STIPPLE, 0, true},
    {GL_VERTEX_PROGRAM_TWO_SIDE, 0, true},
    {GL_CULL_FACE_MODE, GL_BACK, false},
    {GL_FRONT_FACE, GL_CCW, false},
    {GL_DEPTH_FUNC, GL_LESS, false},
    {GL_DEPTH_WRITEMASK, 1, false},
    {GL_STENCIL_FUNC, GL_ALWAYS, false},
    {GL_STENCIL_VALUE_MASK, -1, false},
    {GL_STENCIL_WRITEMASK, -1, false},
    {GL_STENCIL_REF, 0, false},
    {GL_STENCIL_FAIL, GL_KEEP, false},
    {GL_STENCIL_PASS_DEPTH_FAIL, GL_KEEP, false},
    {GL_STENCIL_PASS_DEPTH_PASS, GL_KEEP, false},
    {GL_STENCIL_BACK_FUNC, GL_ALWAYS, false},
    {GL_STENCIL_BACK_VALUE_MASK, -1, false},
    {GL_STENCIL_BACK_WRITEMASK, -1, false},
    {GL_STENCIL_BACK_REF, 0, false},
    {GL_STENCIL_BACK_FAIL, GL_KEEP, false},
    {GL_STENCIL_BACK_PASS_DEPTH_FAIL, GL_KEEP, false},
    {GL_STENCIL_BACK_PASS_DEPTH_PASS, GL_KEEP, false},
    {GL_POLYGON_MODE, GL_FILL, false},
    {GL_LOGIC_OP_MODE, GL_COPY, false},
    {GL_PROVOKING_VERTEX, GL_LAST_VERTEX_CONVENTION, false},
    {GL_CLIP_ORIGIN, GL_LOWER_LEFT, false},
    {GL_CLIP_DEPTH_MODE, GL_NEGATIVE_ONE_TO_ONE, false},
    {GL_PATCH_VERTICES, 3, false},
    {GL_ALPHA_TEST_FUNC, GL_ALWAYS, false},
    {GL_SHADE_MODEL, GL_SMOOTH, false},
    {GL_POINT_SPRITE_COORD_ORIGIN, GL_UPPER_LEFT, false},
    {GL_LINE_WIDTH, 1, false},
    {GL_MIN_SAMPLE_SHADING_VALUE, 0, false},
};

}  // namespace cairn::recipe
