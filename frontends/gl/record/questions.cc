// SPDX-License-Identifier: MIT
#include "record/questions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include "recipe/parameters.h"
#include "record/uniform_types.h"

namespace cairn::gl::record {
namespace {

// The answer where a driver does not answer.
constexpr GLint kSilence = INT32_MIN + 14;
// Some answers are more than one number: GL_POLYGON_MODE's are two.
constexpr size_t kNumbersMax = 4;

bool is_stencil_number(GLenum name) {
    constexpr GLenum kMasks[] = {GL_STENCIL_VALUE_MASK, GL_STENCIL_WRITEMASK,
                                 GL_STENCIL_BACK_VALUE_MASK, GL_STENCIL_BACK_WRITEMASK};
    return std::ranges::find(kMasks, name) != std::end(kMasks);
}

constexpr std::array<GLfloat, 4> kNeverSet = {0, 0, 0, 1};

// A few bytes of an attribute, as far as drivers put such attributes into one buffer.
constexpr uint64_t kNearBytes = 2047;
constexpr GLuint kNone = UINT32_MAX;
constexpr GLint kBlocksMax = 256, kUniformsMax = 1 << 16, kAttributesMax = 64;

// Those that are near each other in one buffer are a group: vertices that one allocation holds.
void group_attributes(std::vector<recipe::Attribute> &attributes,
                      const std::vector<AttributePlace> &places) {
    // Groups, by where the first of each begins.
    std::vector<size_t> order;
    for (size_t i = 0; i < places.size(); ++i) {
        if (attributes[i].source != 0) order.push_back(i);
    }
    const auto by = [&](size_t i) {
        return std::tuple(places[i].buffer, attributes[i].stride, attributes[i].divisor,
                          places[i].offset, i);
    };
    std::ranges::sort(order, {}, by);
    uint32_t group = 0;
    for (size_t n = 0, first = 0; n < order.size(); ++n) {
        const size_t i = order[n], f = order[first];
        const bool is_near = n > 0 && places[i].buffer == places[f].buffer &&
                             attributes[i].stride == attributes[f].stride &&
                             attributes[i].divisor == attributes[f].divisor &&
                             places[i].offset - places[f].offset <= kNearBytes;
        if (!is_near) {
            first = n;
            ++group;
        }
        attributes[i].group = group;
        attributes[i].offset =
            static_cast<uint32_t>(places[i].offset - places[order[first]].offset);
    }
    // Numbered as they are met, so that buffers' names do not matter.
    std::map<uint32_t, uint32_t> numbers;
    for (recipe::Attribute &attribute : attributes) {
        if (attribute.source == 0) continue;
        const auto next = static_cast<uint32_t>(numbers.size());
        attribute.group = numbers.emplace(attribute.group, next).first->second;
    }
}

}  // namespace

GLint Questions::integer(GLenum name) const {
    GLint value = 0;
    gl_.GetIntegerv(name, &value);
    return value;
}

GLint Questions::integer_of(GLenum name, GLuint index) const {
    GLint value = 0;
    more_.GetIntegeri_v(name, index, &value);
    return value;
}

// The indices of uniforms outside of blocks, as those that name units are. Engines have thousands of
// others: each member of each element of an array in a block is one, and drivers look for an index by
// going through all of them.
std::vector<GLuint> Questions::free_uniforms(GLuint name) const {
    GLint uniforms = 0, blocks = 0;
    gl_.GetProgramiv(name, GL_ACTIVE_UNIFORMS, &uniforms);
    if (has(301, 300)) gl_.GetProgramiv(name, GL_ACTIVE_UNIFORM_BLOCKS, &blocks);
    std::vector<GLuint> all(static_cast<size_t>(std::clamp(uniforms, 0, kUniformsMax)));
    std::iota(all.begin(), all.end(), 0u);
    std::vector<GLint> in_blocks;
    for (GLuint block = 0; block < static_cast<GLuint>(std::clamp(blocks, 0, kBlocksMax));
         ++block) {
        GLint count = 0;
        more_.GetActiveUniformBlockiv(name, block, GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS, &count);
        in_blocks.assign(static_cast<size_t>(std::clamp(count, 0, kUniformsMax)), -1);
        more_.GetActiveUniformBlockiv(name, block, GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES,
                                      in_blocks.data());
        for (const GLint index : in_blocks) {
            if (index >= 0 && number(index) < all.size()) all[number(index)] = kNone;
        }
    }
    std::erase(all, kNone);
    return all;
}

std::shared_ptr<const ProgramInterface> Questions::list(GLuint name) const {
    const auto listed = std::make_shared<ProgramInterface>();
    ProgramInterface &program = *listed;
    GLint attributes = 0;
    gl_.GetProgramiv(name, GL_ACTIVE_ATTRIBUTES, &attributes);
    std::array<GLchar, 1024> text;
    for (const GLuint i : free_uniforms(name)) {
        UnitUniform uniform;
        GLsizei size = 0;
        more_.GetActiveUniform(name, i, text.size(), &size, &uniform.size, &uniform.type,
                               text.data());
        if (target_of_sampler(uniform.type) == 0 && !is_image(uniform.type)) continue;
        uniform.name.assign(text.data(), static_cast<size_t>(std::max(size, 0)));
        if (uniform.name.ends_with("[0]")) uniform.name.resize(uniform.name.size() - 3);
        for (GLint element = 0; element < std::min(uniform.size, kUnitsMax); ++element) {
            const std::string of_element =
                element == 0 ? uniform.name : uniform.name + "[" + std::to_string(element) + "]";
            uniform.locations.push_back(more_.GetUniformLocation(name, of_element.c_str()));
        }
        program.uniforms.push_back(std::move(uniform));
    }
    for (GLint i = 0; i < std::min(attributes, kAttributesMax); ++i) {
        GLsizei size = 0;
        GLint elements = 1;
        GLenum type = 0;
        more_.GetActiveAttrib(name, static_cast<GLuint>(i), text.size(), &size, &elements, &type,
                              text.data());
        const GLint first = more_.GetAttribLocation(name, text.data());
        if (first < 0) continue;  // of older versions, such as gl_Vertex
        const GLuint count = locations_of(type) * static_cast<GLuint>(std::clamp(elements, 1, 16));
        for (GLuint n = 0; n < count; ++n) {
            program.attributes.push_back(static_cast<GLuint>(first) + n);
        }
    }
    std::ranges::sort(program.attributes);
    return listed;
}

recipe::DrawState Questions::ask(const Draw &draw, GLuint name, const ProgramInterface &program,
                                 Objects &objects) {
    recipe::DrawState state;
    state.mode = draw.mode;
    state.index_type = draw.index_type;
    state.is_instanced = draw.is_instanced ? 1 : 0;
    ask_units(name, program, objects, state);
    if (draw.mode == recipe::DrawState::kDispatch) return state;
    ask_values(state.values);
    state.framebuffer = ask_framebuffer(objects);
    state.color_buffers = ask_color_buffers(state.framebuffer.draw_buffers.size());
    state.attributes = ask_attributes(program);
    return state;
}

void Questions::ask_values(recipe::Values &values) {
    if (!has_found_known_) {
        for (size_t i = 0; i < std::size(recipe::kParameters); ++i) {
            std::array<GLint, kNumbersMax> answer = {kSilence};
            gl_.GetIntegerv(recipe::kParameters[i].name, answer.data());
            if (answer[0] != kSilence) known_.push_back(i);
        }
        has_found_known_ = true;
    }
    for (const size_t i : known_) {
        const auto &[name, initial, is_switch] = recipe::kParameters[i];
        static_cast<void>(is_switch);
        std::array<GLint, kNumbersMax> answer = {initial};
        gl_.GetIntegerv(name, answer.data());
        GLint value = answer[0];
        if (name == GL_LINE_WIDTH) value = std::min(value, 2);
        if (is_stencil_number(name) && (value & 0xFF) == 0xFF) value = -1;
        if (value != initial) values.emplace_back(name, value);
    }
    std::ranges::sort(values);
}

// What was deleted, here or in another context, and is still bound or attached, has no name any more:
// to bind it would make a new object. Then nobody says.
GLenum Questions::format_of_renderbuffer(GLuint name) const {
    const auto before = static_cast<GLuint>(integer(GL_RENDERBUFFER_BINDING));
    GLint format = 0;
    if (before != name && before != 0 && more_.IsRenderbuffer(before) == GL_FALSE) return 0;
    if (before != name && more_.IsRenderbuffer(name) == GL_FALSE) return 0;
    if (before != name) more_.BindRenderbuffer(GL_RENDERBUFFER, name);
    more_.GetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_INTERNAL_FORMAT, &format);
    if (before != name) more_.BindRenderbuffer(GL_RENDERBUFFER, before);
    return number(format);
}

recipe::Attachment Questions::ask_attachment(GLenum point, Objects &objects) const {
    const auto value = [&](GLenum what) {
        GLint answer = 0;
        more_.GetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, point, what, &answer);
        return answer;
    };
    const GLint type = value(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
    if (type == GL_NONE || type == 0) return {};
    const auto name = static_cast<GLuint>(value(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME));
    recipe::Attachment attachment;
    if (type == GL_RENDERBUFFER) {
        attachment.target = GL_RENDERBUFFER;
        attachment.format = format_of_renderbuffer(name);
    } else {
        const HowMade made = objects.how_made(name);
        attachment.target = made.target;
        attachment.upload = made.upload;
        if (attachment.target == 0) attachment.target = target_of_texture(name);
        attachment.format = format_of_texture(
            attachment.target, name, value(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL),
            value(GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE));
        if (has(302, 302)) {
            attachment.is_layered = value(GL_FRAMEBUFFER_ATTACHMENT_LAYERED) != 0 ? 1 : 0;
        }
    }
    // Where nobody says what it is.
    if (attachment.format == 0) {
        attachment.format = point == GL_DEPTH_ATTACHMENT     ? GL_DEPTH_COMPONENT16
                            : point == GL_STENCIL_ATTACHMENT ? GL_STENCIL_INDEX8
                                                             : GL_RGBA8;
    }
    return attachment;
}

recipe::Surface Questions::ask_surface() const {
    recipe::Surface surface;
    if (!has(300, 300)) {
        surface = {number(integer(GL_RED_BITS)),   number(integer(GL_GREEN_BITS)),
                   number(integer(GL_BLUE_BITS)),  number(integer(GL_ALPHA_BITS)),
                   number(integer(GL_DEPTH_BITS)), number(integer(GL_STENCIL_BITS)),
                   number(integer(GL_SAMPLES))};
        return surface;
    }
    const auto bits = [&](GLenum point, GLenum what) {
        GLint type = 0, answer = 0;
        more_.GetFramebufferAttachmentParameteriv(GL_DRAW_FRAMEBUFFER, point,
                                                  GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);
        if (type == GL_NONE || type == 0) return 0u;
        more_.GetFramebufferAttachmentParameteriv(GL_DRAW_FRAMEBUFFER, point, what, &answer);
        return number(answer);
    };
    const GLenum color = is_es_ ? GL_BACK : GL_BACK_LEFT;
    const GLenum point =
        is_es_ || bits(color, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE) != 0 ? color : GL_FRONT_LEFT;
    surface = {bits(point, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE),
               bits(point, GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE),
               bits(point, GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE),
               bits(point, GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE),
               bits(GL_DEPTH, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE),
               bits(GL_STENCIL, GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE),
               number(integer(GL_SAMPLES))};
    return surface;
}

recipe::Framebuffer Questions::ask_framebuffer(Objects &objects) const {
    recipe::Framebuffer framebuffer;
    framebuffer.is_window = integer(GL_FRAMEBUFFER_BINDING) == 0 ? 1 : 0;
    if (has(200, 300)) {
        const GLint count = std::clamp(integer(GL_MAX_DRAW_BUFFERS), 1, 32);
        for (GLint i = 0; i < count; ++i) {
            framebuffer.draw_buffers.push_back(
                number(integer(GL_DRAW_BUFFER0 + static_cast<GLenum>(i))));
        }
        while (framebuffer.draw_buffers.size() > 1 && framebuffer.draw_buffers.back() == GL_NONE) {
            framebuffer.draw_buffers.pop_back();
        }
    }
    if (framebuffer.is_window != 0) {
        framebuffer.surface = ask_surface();
        // A window has one, whatever it is called.
        const bool draws =
            framebuffer.draw_buffers.empty() || framebuffer.draw_buffers.front() != GL_NONE;
        framebuffer.draw_buffers = {draws ? GLenum{GL_BACK} : GLenum{GL_NONE}};
        return framebuffer;
    }
    if (framebuffer.draw_buffers.empty()) framebuffer.draw_buffers = {GL_COLOR_ATTACHMENT0};
    const GLint points = has(300, 300) ? std::clamp(integer(GL_MAX_COLOR_ATTACHMENTS), 1, 32) : 1;
    for (GLint i = 0; i < points; ++i) {
        framebuffer.colors.push_back(
            ask_attachment(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(i), objects));
    }
    while (!framebuffer.colors.empty() && framebuffer.colors.back().format == 0) {
        framebuffer.colors.pop_back();
    }
    framebuffer.depth = ask_attachment(GL_DEPTH_ATTACHMENT, objects);
    framebuffer.stencil = ask_attachment(GL_STENCIL_ATTACHMENT, objects);
    // All attachments have so many.
    const uint32_t samples = number(integer(GL_SAMPLES));
    for (recipe::Attachment &color : framebuffer.colors) {
        if (color.format != 0) color.samples = samples;
    }
    if (framebuffer.depth.format != 0) framebuffer.depth.samples = samples;
    if (framebuffer.stencil.format != 0) framebuffer.stencil.samples = samples;
    return framebuffer;
}

std::vector<recipe::ColorBuffer> Questions::ask_color_buffers(size_t count) const {
    const bool has_each = has(400, 302);
    std::vector<recipe::ColorBuffer> buffers;
    for (GLuint i = 0; i < (has_each ? std::max<size_t>(count, 1) : 1); ++i) {
        const auto value = [&](GLenum name) {
            return number(has_each ? integer_of(name, i) : integer(name));
        };
        recipe::ColorBuffer buffer;
        std::array<GLboolean, 4> mask = {1, 1, 1, 1};
        if (has_each) {
            buffer.blends = more_.IsEnabledi(GL_BLEND, i) != GL_FALSE ? 1 : 0;
            more_.GetBooleani_v(GL_COLOR_WRITEMASK, i, mask.data());
        } else {
            buffer.blends = gl_.IsEnabled(GL_BLEND) != GL_FALSE ? 1 : 0;
            gl_.GetBooleanv(GL_COLOR_WRITEMASK, mask.data());
        }
        for (unsigned bit = 0; bit < 4; ++bit) {
            if (mask[bit] == GL_FALSE) buffer.mask &= ~(1u << bit);
        }
        // What is not used has no effect.
        if (buffer.blends != 0) {
            buffer.source_rgb = value(GL_BLEND_SRC_RGB);
            buffer.target_rgb = value(GL_BLEND_DST_RGB);
            buffer.source_alpha = value(GL_BLEND_SRC_ALPHA);
            buffer.target_alpha = value(GL_BLEND_DST_ALPHA);
            buffer.equation_rgb = value(GL_BLEND_EQUATION_RGB);
            buffer.equation_alpha = value(GL_BLEND_EQUATION_ALPHA);
        }
        buffers.push_back(buffer);
    }
    if (std::ranges::all_of(buffers, [&](const auto &each) { return each == buffers.front(); })) {
        buffers.resize(1);
    }
    return buffers;
}

recipe::Attribute Questions::ask_attribute(GLuint location, AttributePlace &place) const {
    const auto value = [&](GLenum name) {
        GLint answer = 0;
        more_.GetVertexAttribiv(location, name, &answer);
        return answer;
    };
    recipe::Attribute attribute;
    attribute.location = location;
    if (value(GL_VERTEX_ATTRIB_ARRAY_ENABLED) == 0) {
        // Mesa makes other code for one that was never set.
        std::array<GLfloat, 4> current = kNeverSet;
        more_.GetVertexAttribfv(location, GL_CURRENT_VERTEX_ATTRIB, current.data());
        attribute.size = current == kNeverSet ? 1 : 4;
        attribute.stride = 0;
        return attribute;
    }
    attribute.size = number(value(GL_VERTEX_ATTRIB_ARRAY_SIZE));
    attribute.type = number(value(GL_VERTEX_ATTRIB_ARRAY_TYPE));
    attribute.kind = value(GL_VERTEX_ATTRIB_ARRAY_NORMALIZED) != 0 ? 1 : 0;
    if (has(300, 300) && value(GL_VERTEX_ATTRIB_ARRAY_INTEGER) != 0) attribute.kind = 2;
    if (has(403, 0) && value(GL_VERTEX_ATTRIB_ARRAY_LONG) != 0) attribute.kind = 3;
    if (has(403, 301)) {
        const auto binding = static_cast<GLuint>(value(GL_VERTEX_ATTRIB_BINDING));
        GLint64 offset = 0;
        more_.GetInteger64i_v(GL_VERTEX_BINDING_OFFSET, binding, &offset);
        place = {integer_of(GL_VERTEX_BINDING_BUFFER, binding),
                 static_cast<uint64_t>(offset) + number(value(GL_VERTEX_ATTRIB_RELATIVE_OFFSET))};
        attribute.stride = number(integer_of(GL_VERTEX_BINDING_STRIDE, binding));
        attribute.divisor = number(integer_of(GL_VERTEX_BINDING_DIVISOR, binding));
    } else {
        void *pointer = nullptr;
        more_.GetVertexAttribPointerv(location, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
        place = {value(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING),
                 reinterpret_cast<uintptr_t>(pointer)};
        attribute.stride = number(value(GL_VERTEX_ATTRIB_ARRAY_STRIDE));
        if (has(303, 300)) attribute.divisor = number(value(GL_VERTEX_ATTRIB_ARRAY_DIVISOR));
    }
    attribute.source = place.buffer != 0 ? 1 : 2;
    attribute.stride = std::min(attribute.stride, uint32_t{kNearBytes} + 1);
    return attribute;
}

std::vector<recipe::Attribute> Questions::ask_attributes(const ProgramInterface &program) const {
    std::vector<recipe::Attribute> attributes;
    std::vector<AttributePlace> places(program.attributes.size());
    attributes.reserve(places.size());
    for (const GLuint location : program.attributes) {
        attributes.push_back(ask_attribute(location, places[attributes.size()]));
    }
    group_attributes(attributes, places);
    return attributes;
}

}  // namespace cairn::gl::record
