// SPDX-License-Identifier: MIT
#include "state.h"

#include <algorithm>
#include <cstdlib>

#include "recipe/parameters.h"
#include "textures.h"

namespace cairn::warm {
namespace {

// All zeros: of vertices, indices, uniforms and what a program writes.
constexpr GLsizeiptr kBufferSize = 256 * 1024;
constexpr uint32_t kGroupsMax = 64;

// A multiple of the vertices of every primitive.
constexpr GLsizei kVertices = 12;
constexpr GLuint kPatchMax = 32;

GLuint make_buffer(GLenum target) {
    static const std::vector<char> zeros(kBufferSize);
    GLuint name = 0;
    gl.GenBuffers(1, &name);
    gl.BindBuffer(target, name);
    gl.BufferData(target, kBufferSize, zeros.data(), GL_DYNAMIC_DRAW);
    return name;
}

// The same in memory, for each group apart from the others. Pages that nobody writes are one.
const char *memory(uint32_t group) {
    static const auto *zeros = static_cast<const char *>(std::calloc(kGroupsMax, kBufferSize));
    return zeros + std::min(group, kGroupsMax - 1) * kBufferSize;
}

// Each in a group of its own.
std::vector<recipe::Attribute> each_apart(std::vector<recipe::Attribute> attributes) {
    uint32_t group = 0;
    for (recipe::Attribute &attribute : attributes) {
        if (attribute.source == 0) continue;
        attribute.group = group++;
        attribute.offset = 0;
    }
    return attributes;
}

const void *at(uint32_t offset) {
    return reinterpret_cast<const void *>(uintptr_t{offset});
}

bool is_image(GLenum type) {
    return type >= GL_IMAGE_1D && type <= GL_UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY;
}

bool has_attachments(const recipe::Framebuffer &framebuffer) {
    const auto is_there = [](const recipe::Attachment &each) { return each.format != 0; };
    return is_there(framebuffer.depth) || is_there(framebuffer.stencil) ||
           std::ranges::any_of(framebuffer.colors, is_there);
}

}  // namespace

Painter::Painter(Display &display) : display_(display) {
    make_array();
    indices_ = make_buffer(GL_ELEMENT_ARRAY_BUFFER);
    constexpr GLenum kBlocks[] = {GL_UNIFORM_BUFFER, GL_SHADER_STORAGE_BUFFER,
                                  GL_ATOMIC_COUNTER_BUFFER};
    for (const GLenum target : kBlocks) {
        if (display.version() < 300) break;
        const GLuint buffer = make_buffer(target);
        if (take_errors()) continue;
        for (GLuint i = 0; i < 84; ++i) gl.BindBufferBase(target, i, buffer);
        take_errors();
    }
    take_errors();
}

// A new one for each draw: see ways_to_draw().
void Painter::make_array() {
    if (array_ != 0) gl.DeleteVertexArrays(1, &array_);
    array_ = 0;
    gl.GenVertexArrays(1, &array_);
    // Contexts of the core profile have none of their own.
    if (array_ != 0) gl.BindVertexArray(array_);
}

GLint Painter::value_of(GLenum name) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    return std::ranges::find(recipe::kParameters, name, &recipe::Parameter::name)->initial;
}

void Painter::set_stencil() {
    gl.StencilFuncSeparate(GL_FRONT, static_cast<GLenum>(value_of(GL_STENCIL_FUNC)),
                           value_of(GL_STENCIL_REF),
                           static_cast<GLuint>(value_of(GL_STENCIL_VALUE_MASK)));
    gl.StencilFuncSeparate(GL_BACK, static_cast<GLenum>(value_of(GL_STENCIL_BACK_FUNC)),
                           value_of(GL_STENCIL_BACK_REF),
                           static_cast<GLuint>(value_of(GL_STENCIL_BACK_VALUE_MASK)));
    gl.StencilOpSeparate(GL_FRONT, static_cast<GLenum>(value_of(GL_STENCIL_FAIL)),
                         static_cast<GLenum>(value_of(GL_STENCIL_PASS_DEPTH_FAIL)),
                         static_cast<GLenum>(value_of(GL_STENCIL_PASS_DEPTH_PASS)));
    gl.StencilOpSeparate(GL_BACK, static_cast<GLenum>(value_of(GL_STENCIL_BACK_FAIL)),
                         static_cast<GLenum>(value_of(GL_STENCIL_BACK_PASS_DEPTH_FAIL)),
                         static_cast<GLenum>(value_of(GL_STENCIL_BACK_PASS_DEPTH_PASS)));
    gl.StencilMaskSeparate(GL_FRONT, static_cast<GLuint>(value_of(GL_STENCIL_WRITEMASK)));
    gl.StencilMaskSeparate(GL_BACK, static_cast<GLuint>(value_of(GL_STENCIL_BACK_WRITEMASK)));
}

void Painter::set_value(GLenum name, GLint value, bool is_switch) {
    if (is_switch) return value != 0 ? gl.Enable(name) : gl.Disable(name);
    const auto word = static_cast<GLenum>(value);
    switch (name) {
        case GL_CULL_FACE_MODE:
            return gl.CullFace(word);
        case GL_FRONT_FACE:
            return gl.FrontFace(word);
        case GL_DEPTH_FUNC:
            return gl.DepthFunc(word);
        case GL_DEPTH_WRITEMASK:
            return gl.DepthMask(value != 0 ? GL_TRUE : GL_FALSE);
        case GL_POLYGON_MODE:
            return gl.PolygonMode(GL_FRONT_AND_BACK, word);
        case GL_LOGIC_OP_MODE:
            return gl.LogicOp(word);
        case GL_PROVOKING_VERTEX:
            return gl.ProvokingVertex(word);
        case GL_CLIP_ORIGIN:
        case GL_CLIP_DEPTH_MODE:
            return gl.ClipControl(static_cast<GLenum>(value_of(GL_CLIP_ORIGIN)),
                                  static_cast<GLenum>(value_of(GL_CLIP_DEPTH_MODE)));
        case GL_PATCH_VERTICES:
            return gl.PatchParameteri(name, value);
        case GL_ALPHA_TEST_FUNC:
            return gl.AlphaFunc(word, 0.5f);
        case GL_SHADE_MODEL:
            return gl.ShadeModel(word);
        case GL_POINT_SPRITE_COORD_ORIGIN:
            return gl.PointParameteri(name, value);
        case GL_LINE_WIDTH:
            return gl.LineWidth(static_cast<GLfloat>(value));
        case GL_MIN_SAMPLE_SHADING_VALUE:
            return gl.MinSampleShading(static_cast<GLfloat>(value));
        default:
            return set_stencil();
    }
}

// Calls only what changes something: a context without the parameter may not know the call.
void Painter::set_values(const recipe::Values &values) {
    std::map<GLenum, GLint> wanted(values.begin(), values.end());
    std::map<GLenum, GLint> before;
    before.swap(values_);
    values_ = std::move(wanted);
    for (const recipe::Parameter &parameter : recipe::kParameters) {
        const auto found = before.find(parameter.name);
        const GLint now = found == before.end() ? parameter.initial : found->second;
        const GLint then = value_of(parameter.name);
        if (now != then) set_value(parameter.name, then, parameter.is_switch);
    }
}

bool Painter::set_framebuffer(const recipe::Framebuffer &framebuffer, Scratch &scratch) {
    if (framebuffer.is_window != 0) {
        if (!display_.draw_into(framebuffer.surface)) return false;
        gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
    } else {
        scratch.make_framebuffer();
        for (size_t i = 0; i < framebuffer.colors.size(); ++i) {
            scratch.attach(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(i), framebuffer.colors[i]);
        }
        const bool is_packed = framebuffer.depth.format != 0 &&
                               framebuffer.depth == framebuffer.stencil &&
                               display_.version() >= 300;
        if (is_packed) {
            scratch.attach(GL_DEPTH_STENCIL_ATTACHMENT, framebuffer.depth);
        } else {
            scratch.attach(GL_DEPTH_ATTACHMENT, framebuffer.depth);
            scratch.attach(GL_STENCIL_ATTACHMENT, framebuffer.stencil);
        }
        if (!has_attachments(framebuffer)) {
            gl.FramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 4);
            gl.FramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_HEIGHT, 4);
        }
    }
    // Without it, there is one buffer, which is drawn into.
    if (display_.version() >= 300 && !framebuffer.draw_buffers.empty()) {
        gl.DrawBuffers(static_cast<GLsizei>(framebuffer.draw_buffers.size()),
                       framebuffer.draw_buffers.data());
    }
    gl.Viewport(0, 0, 4, 4);
    take_errors();
    return gl.CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

void Painter::set_color_buffers(const std::vector<recipe::ColorBuffer> &buffers) {
    const auto mask = [](const recipe::ColorBuffer &buffer, unsigned bit) {
        return static_cast<GLboolean>((buffer.mask >> bit & 1) != 0 ? GL_TRUE : GL_FALSE);
    };
    const recipe::ColorBuffer all = buffers.empty() ? recipe::ColorBuffer() : buffers.front();
    (all.blends != 0 ? gl.Enable : gl.Disable)(GL_BLEND);
    if (all.blends != 0) {
        gl.BlendFuncSeparate(all.source_rgb, all.target_rgb, all.source_alpha, all.target_alpha);
        // The advanced equations are for both at once.
        if (all.equation_rgb == all.equation_alpha) {
            gl.BlendEquation(all.equation_rgb);
        } else {
            gl.BlendEquationSeparate(all.equation_rgb, all.equation_alpha);
        }
    }
    gl.ColorMask(mask(all, 0), mask(all, 1), mask(all, 2), mask(all, 3));
    for (GLuint i = 0; buffers.size() > 1 && i < buffers.size(); ++i) {
        const recipe::ColorBuffer &buffer = buffers[i];
        (buffer.blends != 0 ? gl.Enablei : gl.Disablei)(GL_BLEND, i);
        if (buffer.blends != 0) {
            gl.BlendFuncSeparatei(i, buffer.source_rgb, buffer.target_rgb, buffer.source_alpha,
                                  buffer.target_alpha);
            if (buffer.equation_rgb == buffer.equation_alpha) {
                gl.BlendEquationi(i, buffer.equation_rgb);
            } else {
                gl.BlendEquationSeparatei(i, buffer.equation_rgb, buffer.equation_alpha);
            }
        }
        gl.ColorMaski(i, mask(buffer, 0), mask(buffer, 1), mask(buffer, 2), mask(buffer, 3));
    }
}

void Painter::set_units(GLuint program, const recipe::DrawState &state, Scratch &scratch) {
    for (const recipe::ImageUnit &image : state.images) {
        if (image.format == 0) continue;
        const GLuint texture = scratch.make_texture(image.texture);
        gl.BindImageTexture(image.number, texture, 0, image.is_layered != 0 ? GL_TRUE : GL_FALSE, 0,
                            image.access, image.format);
    }
    // After the images, whose textures are bound to a unit, too.
    for (const recipe::Unit &unit : state.units) {
        gl.ActiveTexture(GL_TEXTURE0 + std::min(unit.number, 255u));
        if (unit.texture.format != 0) scratch.make_texture(unit.texture);
    }
    gl.ActiveTexture(GL_TEXTURE0);
    for (const recipe::Binding &binding : state.bindings) {
        // Only the shader says it in OpenGL ES.
        if (display_.is_es() && is_image(binding.type)) continue;
        std::vector<GLint> units;
        for (const uint32_t unit : binding.units) units.push_back(static_cast<GLint>(unit));
        const GLint location = gl.GetUniformLocation(program, binding.uniform.c_str());
        if (location < 0 || units.empty()) continue;
        gl.Uniform1iv(location, static_cast<GLsizei>(units.size()), units.data());
    }
}

GLuint Painter::vertex_buffer(size_t group) {
    group = std::min<size_t>(group, kGroupsMax - 1);
    while (vertex_buffers_.size() <= group) vertex_buffers_.push_back(make_buffer(GL_ARRAY_BUFFER));
    return vertex_buffers_[group];
}

void Painter::set_attributes(const std::vector<recipe::Attribute> &attributes) {
    for (const GLuint location : attributes_) gl.DisableVertexAttribArray(location);
    attributes_.clear();
    // Memory of the application is for the vertex array that older contexts have of their own.
    const bool has_memory = std::ranges::any_of(
        attributes, [](const recipe::Attribute &each) { return each.source == 2; });
    if (has_memory) {
        gl.BindVertexArray(0);
    } else {
        make_array();
    }
    gl.BindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices_);
    for (const recipe::Attribute &attribute : attributes) {
        const GLuint location = attribute.location;
        if (attribute.source == 0) {
            if (attribute.size > 1) {
                gl.VertexAttrib4f(location, 0, 0, 0, 1);
            } else {
                gl.VertexAttrib1f(location, 0);
            }
            continue;
        }
        const auto size = static_cast<GLint>(attribute.size);
        const auto stride = static_cast<GLsizei>(std::min(attribute.stride, 2048u));
        const void *offset = at(std::min(attribute.offset, 2047u));
        gl.BindBuffer(GL_ARRAY_BUFFER, attribute.source == 1 ? vertex_buffer(attribute.group) : 0);
        if (attribute.source == 2) {
            offset = memory(attribute.group) + std::min(attribute.offset, 2047u);
        }
        if (attribute.kind == 2) {
            gl.VertexAttribIPointer(location, size, attribute.type, stride, offset);
        } else if (attribute.kind == 3) {
            gl.VertexAttribLPointer(location, size, attribute.type, stride, offset);
        } else {
            gl.VertexAttribPointer(location, size, attribute.type,
                                   attribute.kind == 1 ? GL_TRUE : GL_FALSE, stride, offset);
        }
        gl.EnableVertexAttribArray(location);
        if (display_.version() >= 300) gl.VertexAttribDivisor(location, attribute.divisor);
        attributes_.push_back(location);
    }
}

std::vector<recipe::DrawState> ways_to_draw(const recipe::DrawState &state) {
    std::vector<recipe::DrawState> ways = {state, state};
    ways.back().attributes = each_apart(state.attributes);
    if (ways.back() == state) ways.pop_back();
    return ways;
}

bool Painter::draw(GLuint program, const recipe::DrawState &state) {
    Scratch scratch;
    const bool is_dispatch = state.mode == recipe::DrawState::kDispatch;
    // First: its textures are bound for a moment.
    const bool is_complete = is_dispatch || set_framebuffer(state.framebuffer, scratch);
    gl.UseProgram(program);
    set_units(program, state, scratch);
    if (is_dispatch) {
        take_errors();
        gl.DispatchCompute(1, 1, 1);
        return !take_errors();
    }
    set_values(state.values);
    set_color_buffers(state.color_buffers);
    set_attributes(state.attributes);
    take_errors();
    const bool is_drawn = is_complete && draw_vertices(state);
    gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
    take_errors();
    return is_drawn;
}

bool Painter::draw_vertices(const recipe::DrawState &state) const {
    const GLsizei count = state.mode == GL_PATCHES
                              ? std::clamp(value_of(GL_PATCH_VERTICES), 1, GLint{kPatchMax})
                              : kVertices;
    const GLsizei instances = state.is_instanced != 0 ? 2 : 1;
    if (state.index_type != 0 && instances > 1) {
        gl.DrawElementsInstanced(state.mode, count, state.index_type, nullptr, instances);
    } else if (state.index_type != 0) {
        gl.DrawElements(state.mode, count, state.index_type, nullptr);
    } else if (instances > 1) {
        gl.DrawArraysInstanced(state.mode, 0, count, instances);
    } else {
        gl.DrawArrays(state.mode, 0, count);
    }
    return !take_errors();
}

}  // namespace cairn::warm
