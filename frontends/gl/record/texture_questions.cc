// SPDX-License-Identifier: MIT
// Questions about textures and what is bound to units.
#include <algorithm>
#include <iterator>
#include <map>

#include "record/questions.h"
#include "record/uniform_types.h"

namespace cairn::gl::record {
namespace {

// Parameters of textures and samplers, and what GL begins with.
struct TextureParameter {
    GLenum name;
    GLint initial;
    bool is_of_sampler;
    int gl, es;  // versions that have it; 0: none
};
constexpr TextureParameter kTextureParameters[] = {
    {GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_LINEAR, true, 200, 200},
    {GL_TEXTURE_MAG_FILTER, GL_LINEAR, true, 200, 200},
    {GL_TEXTURE_WRAP_S, GL_REPEAT, true, 200, 200},
    {GL_TEXTURE_WRAP_T, GL_REPEAT, true, 200, 200},
    {GL_TEXTURE_WRAP_R, GL_REPEAT, true, 200, 300},
    {GL_TEXTURE_COMPARE_MODE, GL_NONE, true, 200, 300},
    {GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL, true, 200, 300},
    {GL_TEXTURE_MIN_LOD, -1000, true, 200, 300},
    {GL_TEXTURE_MAX_LOD, 1000, true, 200, 300},
    {GL_TEXTURE_LOD_BIAS, 0, true, 200, 0},
    {GL_TEXTURE_MAX_ANISOTROPY, 1, true, 200, 200},
    {GL_TEXTURE_SRGB_DECODE_EXT, GL_DECODE_EXT, true, 201, 300},
    {GL_TEXTURE_BASE_LEVEL, 0, false, 200, 300},
    {GL_TEXTURE_MAX_LEVEL, 1000, false, 200, 300},
    {GL_TEXTURE_SWIZZLE_R, GL_RED, false, 303, 300},
    {GL_TEXTURE_SWIZZLE_G, GL_GREEN, false, 303, 300},
    {GL_TEXTURE_SWIZZLE_B, GL_BLUE, false, 303, 300},
    {GL_TEXTURE_SWIZZLE_A, GL_ALPHA, false, 303, 300},
    {GL_DEPTH_STENCIL_TEXTURE_MODE, GL_DEPTH_COMPONENT, false, 403, 301},
};

struct Target {
    GLenum target;
    GLenum binding;  // the question what is bound
    GLenum image;    // the target of questions about an image
};
constexpr Target kTargets[] = {
    {GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D, GL_TEXTURE_2D},
    {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_CUBE_MAP_POSITIVE_X},
    {GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D, GL_TEXTURE_3D},
    {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_2D_ARRAY},
    {GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D, GL_TEXTURE_1D},
    {GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY, GL_TEXTURE_1D_ARRAY},
    {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE, GL_TEXTURE_RECTANGLE},
    {GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER, GL_TEXTURE_BUFFER},
    {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, GL_TEXTURE_CUBE_MAP_ARRAY},
    {GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE},
    {GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
     GL_TEXTURE_2D_MULTISAMPLE_ARRAY},
};
const Target *find_target(GLenum target) {
    const auto *found = std::ranges::find(kTargets, target, &Target::target);
    return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace

// Of one that was never bound to a target.
GLenum Questions::target_of_texture(GLuint name) const {
    GLint target = GL_TEXTURE_2D;
    if (has(405, 0)) more_.GetTextureParameteriv(name, GL_TEXTURE_TARGET, &target);
    return number(target);
}

GLenum Questions::format_of_texture(GLenum target, GLuint name, GLint level, GLint face) const {
    const Target *of = find_target(target);
    if (of == nullptr || !has(200, 301)) return 0;
    const auto before = static_cast<GLuint>(integer(of->binding));
    GLint format = 0;
    if (before != name && before != 0 && more_.IsTexture(before) == GL_FALSE) return 0;
    if (before != name && more_.IsTexture(name) == GL_FALSE) return 0;
    if (before != name) more_.BindTexture(target, name);
    const GLenum image = target == GL_TEXTURE_CUBE_MAP && face != 0 ? number(face) : of->image;
    more_.GetTexLevelParameteriv(image, level, GL_TEXTURE_INTERNAL_FORMAT, &format);
    if (before != name) more_.BindTexture(target, before);
    return number(format);
}

void Questions::ask_parameters(GLenum target, GLuint sampler, recipe::Values &values) const {
    for (const TextureParameter &each : kTextureParameters) {
        if (!has(each.gl, each.es)) continue;
        GLint value = each.initial;
        if (sampler != 0 && each.is_of_sampler) {
            more_.GetSamplerParameteriv(sampler, each.name, &value);
        } else {
            more_.GetTexParameteriv(target, each.name, &value);
        }
        if (value != each.initial) values.emplace_back(each.name, value);
    }
    std::ranges::sort(values);
}

recipe::Texture Questions::ask_bound_texture(GLenum target) const {
    recipe::Texture texture;
    texture.target = target;
    const Target *of = find_target(target);
    if (!has(200, 301)) {
        // Nobody says.
        texture.format = GL_RGBA8;
        texture.width = texture.height = 4;
        return texture;
    }
    const auto value = [&](GLint level, GLenum name) {
        GLint answer = 0;
        more_.GetTexLevelParameteriv(of->image, level, name, &answer);
        return answer;
    };
    texture.format = number(value(0, GL_TEXTURE_INTERNAL_FORMAT));
    const GLint width = value(0, GL_TEXTURE_WIDTH);
    if (width <= 0) {
        texture.format = 0;
        return texture;
    }
    texture.width = recipe::size_class(number(width));
    texture.height = recipe::size_class(number(value(0, GL_TEXTURE_HEIGHT)));
    texture.depth = recipe::size_class(number(value(0, GL_TEXTURE_DEPTH)));
    if (target == GL_TEXTURE_2D_MULTISAMPLE || target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY) {
        texture.samples = number(value(0, GL_TEXTURE_SAMPLES));
    } else if (target != GL_TEXTURE_RECTANGLE && target != GL_TEXTURE_BUFFER) {
        texture.levels = value(1, GL_TEXTURE_WIDTH) > 0 ? 2 : 1;
    }
    return texture;
}

// REQUIRES: its unit is active.
recipe::Texture Questions::ask_texture(GLenum target, GLuint sampler, Objects &objects) const {
    const Target *of = find_target(target);
    recipe::Texture texture;
    texture.target = target;
    const GLint name = of == nullptr ? 0 : integer(of->binding);
    if (name == 0) return texture;
    texture = ask_bound_texture(target);
    texture.upload = objects.how_made(static_cast<GLuint>(name)).upload;
    const bool is_filtered = target != GL_TEXTURE_BUFFER && target != GL_TEXTURE_2D_MULTISAMPLE &&
                             target != GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
    if (is_filtered) ask_parameters(target, sampler, texture.parameters);
    return texture;
}

void Questions::ask_image(const recipe::Binding &image, recipe::DrawState &state) const {
    for (const uint32_t unit : image.units) {
        recipe::ImageUnit asked;
        asked.number = unit;
        asked.format = number(integer_of(GL_IMAGE_BINDING_FORMAT, unit));
        asked.access = number(integer_of(GL_IMAGE_BINDING_ACCESS, unit));
        asked.is_layered = integer_of(GL_IMAGE_BINDING_LAYERED, unit) != 0 ? 1 : 0;
        // The texture behind it has this format, too, as far as its uses differ by it.
        asked.texture.target = GL_TEXTURE_2D;
        asked.texture.format = asked.format;
        asked.texture.width = asked.texture.height = 4;
        const bool is_new = std::ranges::none_of(
            state.images, [&](const auto &other) { return other.number == unit; });
        if (is_new) state.images.push_back(std::move(asked));
    }
}

void Questions::ask_units(GLuint name, const ProgramInterface &program, Objects &objects,
                          recipe::DrawState &state) const {
    // Put back whatever happens.
    struct ActiveUnit {
        const Functions &gl;
        const GLenum before;
        GLenum now = before;
        void activate(GLenum unit) {
            if (now != unit) gl.ActiveTexture(now = unit);
        }
        ~ActiveUnit() { activate(before); }
    };
    ActiveUnit active{more_, static_cast<GLenum>(integer(GL_ACTIVE_TEXTURE))};
    std::map<std::pair<uint32_t, GLenum>, recipe::Texture> units;
    for (const UnitUniform &uniform : program.uniforms) {
        recipe::Binding binding = {uniform.name, uniform.type, {}};
        for (const GLint location : uniform.locations) {
            GLint unit = 0;
            if (location >= 0) more_.GetUniformiv(name, location, &unit);
            binding.units.push_back(std::min(number(unit), uint32_t{kUnitsMax} - 1));
        }
        const GLenum target = target_of_sampler(uniform.type);
        if (target == 0) {
            ask_image(binding, state);
        }
        for (const uint32_t unit : binding.units) {
            if (target == 0 || units.contains({unit, target})) continue;
            active.activate(GL_TEXTURE0 + unit);
            const GLint sampler = has(303, 300) ? integer(GL_SAMPLER_BINDING) : 0;
            units[{unit, target}] = ask_texture(target, static_cast<GLuint>(sampler), objects);
        }
        state.bindings.push_back(std::move(binding));
    }
    for (auto &[place, texture] : units) state.units.push_back({place.first, std::move(texture)});
    std::ranges::sort(state.bindings, {}, &recipe::Binding::uniform);
}

}  // namespace cairn::gl::record
