// What each call of the application means for what is known of its context's state.
// SPDX-License-Identifier: MIT
//
// For record/functions.inc: NOTED becomes a Note, DRAWN a NoteDraw, HOOKED one of `hooks`. Each is
// called before the driver is, with a Tracker or a Recording and the arguments.
//
// Thread safety, failure: as tracker.h. Arguments are whatever the application says: arrays are read no
// further than the driver reads them.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <tuple>

#include "record/recorder.h"

namespace cairn::gl::record {

// Of a function. Those that set the same by other arguments have one number: the last call counts.
constexpr uint64_t number_of(std::string_view name) {
    for (const std::string_view ending : {"iv", "fv", "i", "f"}) {
        if (!name.ends_with(ending)) continue;
        name.remove_suffix(ending.size());
        break;
    }
    if (name.ends_with("Separate")) name.remove_suffix(std::string_view("Separate").size());
    uint64_t hash = 14695981039346656037u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

// What is set by names of its own.
inline constexpr uint64_t kSwitch = number_of("switch"), kAttribute = number_of("attribute"),
                          kConstant = number_of("constant"), kImage = number_of("image"),
                          kImageUnit = number_of("image unit"), kMipmaps = number_of("mipmaps"),
                          kBuffers = number_of("buffers"), kUniform = number_of("uniform"),
                          kWide = number_of("wide"), kVertexBuffer = number_of("vertex buffer");

template <typename T>
constexpr bool kIsNumbers = std::is_same_v<T, const GLint *> || std::is_same_v<T, const GLfloat *>;

// `parameter` is the argument before it, which says how many numbers a pointer points to.
template <typename T>
uint64_t bits_of(T value, uint64_t parameter) {
    if constexpr (kIsNumbers<T>) {
        if (value == nullptr) return 0;
        uint64_t bits = 0;
        const size_t count = parameter == GL_TEXTURE_SWIZZLE_RGBA ? 4 : 1;
        for (size_t i = 0; i < count; ++i) bits = mixed(bits, bits_of(value[i], 0));
        return bits;
    } else if constexpr (std::is_pointer_v<T>) {
        return 0;
    } else if constexpr (std::is_same_v<T, GLfloat>) {
        return std::bit_cast<uint32_t>(value);
    } else {
        return static_cast<uint64_t>(value);
    }
}

// Whose state a call changes. All but the context's have the object as first argument: its name, or
// the target that it is bound to; what is bound and has one target only has none. Of an attribute
// that is the same for all vertices, it counts only that it was set.
enum class Of {
    context,
    constant,
    texture,
    named_texture,
    sampler,
    renderbuffer,
    named_renderbuffer,
    vertex_array,
    named_vertex_array,
    framebuffer,
    named_framebuffer,
};

// `call` is the function's number.
template <Of of, size_t keys, uint64_t call>
struct Note {
    template <typename... A>
    void operator()(Tracker &state, A... arguments) const {
        constexpr bool kHasObject =
            of != Of::context && of != Of::vertex_array && of != Of::framebuffer;
        uint64_t object = 0, name = mixed(0, call), key = 0, value = 0, last = 0;
        size_t at = 0;
        const auto take = [&](uint64_t bits) {
            const size_t number = at++;
            last = bits;
            if (kHasObject && number == 0) {
                object = bits;
            } else if (number < keys + (kHasObject ? 1 : 0)) {
                key = mixed(key, bits);
            } else {
                value = mixed(value, bits);
            }
        };
        (take(bits_of(arguments, last)), ...);
        if constexpr (of != Of::context) {
            set(state, static_cast<GLuint>(object), keys == 0 ? name : mixed(name, key), value);
        } else if (keys == 0 || key == mixed(0, GL_FRONT_AND_BACK)) {
            state.set(name, value);
        } else {
            state.set_part(name, key, value);
        }
    }

  private:
    static void set(Tracker &state, GLuint object, uint64_t name, uint64_t value) {
        if constexpr (of == Of::constant) state.set(mixed(kConstant, object), 1);
        if constexpr (of == Of::texture) state.set_of_texture(object, name, value);
        if constexpr (of == Of::named_texture) {
            state.set_of(ObjectKind::texture, object, name, value);
        }
        if constexpr (of == Of::sampler) state.set_of(ObjectKind::sampler, object, name, value);
        if constexpr (of == Of::renderbuffer) state.set_of_renderbuffer(name, value);
        if constexpr (of == Of::named_renderbuffer) {
            state.set_of(ObjectKind::renderbuffer, object, name, value);
        }
        if constexpr (of == Of::vertex_array) state.set_of_bound_vertex_array(name, value);
        if constexpr (of == Of::named_vertex_array) state.set_of_vertex_array(object, name, value);
        if constexpr (of == Of::framebuffer) {
            state.set_of_bound_framebuffer(GL_DRAW_FRAMEBUFFER, name, value);
        }
        if constexpr (of == Of::named_framebuffer) state.set_of_framebuffer(object, name, value);
    }
};

// How many instances a call has that reads them from a buffer.
inline constexpr size_t kIndirect = ~size_t{0};

// The arguments at these places say how it draws.
template <size_t index_type, size_t instances>
struct NoteDraw {
    template <typename... A>
    void operator()(Recording &here, A... arguments) const {
        const auto all = std::forward_as_tuple(arguments...);
        Draw draw;
        draw.mode = std::get<0>(all);
        if constexpr (index_type != 0) draw.index_type = std::get<index_type>(all);
        if constexpr (instances == kIndirect) {
            draw.is_instanced = true;
        } else if constexpr (instances != 0) {
            draw.is_instanced = std::get<instances>(all) > 1;
        }
        here.before_draw(draw);
    }
};

inline uint64_t classes_of(GLsizei width, GLsizei height, GLsizei depth) {
    const auto of = [](GLsizei size) { return recipe::size_class(static_cast<uint64_t>(size)); };
    return of(width) | of(height) << 4 | of(depth) << 8;
}

// An image of the texture that is bound.
inline void set_image(Tracker &state, GLenum target, GLint level, GLint format, GLsizei width,
                      GLsizei height, GLsizei depth, const recipe::Upload &upload = {}) {
    if (level == 0) {
        const uint64_t how = mixed(upload.format, upload.type);
        const uint64_t what = mixed(static_cast<uint64_t>(format), how);
        state.set_of_texture(target, kImage, mixed(what, classes_of(width, height, depth)));
        state.set_upload(target, upload);
    } else {
        state.set_of_texture(target, kMipmaps, 1);
    }
}

inline void set_storage(Tracker &state, GLenum target, GLsizei levels, GLenum format, GLsizei width,
                        GLsizei height, GLsizei depth) {
    set_image(state, target, 0, static_cast<GLint>(format), width, height, depth);
    if (levels > 1) set_image(state, target, 1, 0, 0, 0, 0);
}

inline void set_storage_of(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                           GLsizei width, GLsizei height, GLsizei depth) {
    state.set_of(ObjectKind::texture, texture, kImage,
                 mixed(format, classes_of(width, height, depth)));
    state.set_of(ObjectKind::texture, texture, kMipmaps, levels > 1 ? 1 : 2);
}

// How a vertex array reads from a buffer, whichever it is.
inline uint64_t value_of_buffer(GLuint buffer, GLsizei stride) {
    return mixed(static_cast<uint64_t>(stride), buffer == 0 ? 1 : 2);
}

// The driver does not read more than it has places for, and neither do we.
inline size_t readable(GLsizei count, size_t places) {
    return count < 0 || static_cast<size_t>(count) > places ? 0 : static_cast<size_t>(count);
}

inline uint64_t value_of(GLsizei count, const GLenum *buffers, size_t places) {
    uint64_t value = 0;
    if (buffers == nullptr) return value;
    for (size_t i = 0; i < readable(count, places); ++i) value = mixed(value, buffers[i]);
    return value;
}

inline void set_attribute(Tracker &state, GLuint index, GLint size, GLenum type, unsigned kind,
                          GLsizei stride, const void *pointer) {
    uint64_t value = mixed(static_cast<uint64_t>(size), type);
    value = mixed(mixed(value, kind), static_cast<uint64_t>(stride));
    value = mixed(mixed(value, state.has_array_buffer() ? 1 : 0), state.step_to(pointer));
    state.set_of_bound_vertex_array(mixed(kAttribute, index), value);
}

// Units of samplers; other integers change what is computed, not what is compiled.
inline void set_units(Tracker &state, GLuint name, GLint location, GLsizei count,
                      const GLint *units) {
    Objects &objects = state.objects();
    const MutexLock lock(objects.mutex());
    ProgramObject &program = objects.program(name);
    if (program.linked.interface == nullptr || units == nullptr || count < 0) return;
    for (const UnitUniform &uniform : program.linked.interface->uniforms) {
        const auto first = std::ranges::find(uniform.locations, location);
        // The driver reads no further than the uniform goes.
        std::span<const GLint> places(first, uniform.locations.end());
        places = places.first(std::min(places.size(), static_cast<size_t>(count)));
        for (size_t i = 0; i < places.size(); ++i) {
            program.units.set(mixed(kUniform, static_cast<uint64_t>(places[i])),
                              static_cast<uint64_t>(units[i]));
        }
    }
}

template <typename Delete>
void for_each_name(GLsizei count, const GLuint *names, Delete each) {
    if (count <= 0 || names == nullptr) return;
    std::ranges::for_each(std::span(names, static_cast<size_t>(count)), each);
}

namespace hooks {

inline void active_texture(Tracker &state, GLenum unit) {
    state.activate(unit - GL_TEXTURE0);
}

inline void bind_texture(Tracker &state, GLenum target, GLuint texture) {
    state.bind_texture(state.active_unit(), target, texture);
}

inline void bind_texture_unit(Tracker &state, GLuint unit, GLuint texture) {
    state.bind_texture(unit, 0, texture);
}

inline void bind_textures(Tracker &state, GLuint first, GLsizei count, const GLuint *textures) {
    for (size_t i = 0; i < readable(count, state.units_from(first)); ++i) {
        state.bind_texture(first + static_cast<GLuint>(i), 0,
                           textures == nullptr ? 0 : textures[i]);
    }
}

inline void bind_sampler(Tracker &state, GLuint unit, GLuint sampler) {
    state.bind_sampler(unit, sampler);
}

inline void bind_samplers(Tracker &state, GLuint first, GLsizei count, const GLuint *samplers) {
    for (size_t i = 0; i < readable(count, state.units_from(first)); ++i) {
        state.bind_sampler(first + static_cast<GLuint>(i), samplers == nullptr ? 0 : samplers[i]);
    }
}

inline void bind_image(Tracker &state, GLuint unit, GLuint texture, GLint /*level*/,
                       GLboolean layered, GLint /*layer*/, GLenum access, GLenum format) {
    const uint64_t how = texture == 0 ? 0 : 1u + layered;
    state.set(mixed(kImageUnit, unit), mixed(mixed(how, access), format));
}

inline void bind_images(Tracker &state, GLuint first, GLsizei count, const GLuint *textures) {
    for (size_t i = 0; i < readable(count, state.images_from(first)); ++i) {
        const GLuint texture = textures == nullptr ? 0 : textures[i];
        state.set(mixed(kImageUnit, first + i), state.hash_of(ObjectKind::texture, texture));
    }
}

inline void bind_vertex_array(Tracker &state, GLuint array) {
    state.bind_vertex_array(array);
}

inline void bind_buffer(Tracker &state, GLenum target, GLuint buffer) {
    if (target == GL_ARRAY_BUFFER) state.bind_array_buffer(buffer != 0);
}

inline void push_attrib(Tracker &state, GLbitfield /*mask*/) {
    state.push();
}

inline void pop_attrib(Tracker &state) {
    state.pop();
}

inline void bind_framebuffer(Tracker &state, GLenum target, GLuint framebuffer) {
    state.bind_framebuffer(target, framebuffer);
}

inline void bind_renderbuffer(Tracker &state, GLenum /*target*/, GLuint renderbuffer) {
    state.bind_renderbuffer(renderbuffer);
}

template <ObjectKind kind>
void delete_objects(Tracker &state, GLsizei count, const GLuint *names) {
    for_each_name(count, names, [&](GLuint name) { state.delete_object(kind, name); });
}

inline void delete_vertex_arrays(Tracker &state, GLsizei count, const GLuint *names) {
    for_each_name(count, names, [&](GLuint name) { state.delete_vertex_array(name); });
}

inline void delete_framebuffers(Tracker &state, GLsizei count, const GLuint *names) {
    for_each_name(count, names, [&](GLuint name) { state.delete_framebuffer(name); });
}

inline void framebuffer_renderbuffer(Tracker &state, GLenum target, GLenum point, GLenum /*of*/,
                                     GLuint renderbuffer) {
    state.attach(target, point, ObjectKind::renderbuffer, renderbuffer, 0);
}

inline void framebuffer_texture(Tracker &state, GLenum target, GLenum point, GLuint texture,
                                GLint /*level*/) {
    state.attach(target, point, ObjectKind::texture, texture, 1);
}

inline void framebuffer_texture_2d(Tracker &state, GLenum target, GLenum point, GLenum of,
                                   GLuint texture, GLint /*level*/) {
    state.attach(target, point, ObjectKind::texture, texture, of);
}

inline void framebuffer_texture_2d_multisample(Tracker &state, GLenum target, GLenum point,
                                               GLenum of, GLuint texture, GLint /*level*/,
                                               GLsizei samples) {
    state.attach(target, point, ObjectKind::texture, texture, of + static_cast<GLenum>(samples));
}

inline void framebuffer_texture_3d(Tracker &state, GLenum target, GLenum point, GLenum of,
                                   GLuint texture, GLint /*level*/, GLint /*layer*/) {
    state.attach(target, point, ObjectKind::texture, texture, of);
}

inline void framebuffer_texture_multiview(Tracker &state, GLenum target, GLenum point,
                                          GLuint texture, GLint /*level*/, GLint /*first*/,
                                          GLsizei views) {
    state.attach(target, point, ObjectKind::texture, texture, 3 + static_cast<GLenum>(views));
}

inline void framebuffer_texture_layer(Tracker &state, GLenum target, GLenum point, GLuint texture,
                                      GLint /*level*/, GLint /*layer*/) {
    state.attach(target, point, ObjectKind::texture, texture, 2);
}

inline void named_framebuffer_renderbuffer(Tracker &state, GLuint framebuffer, GLenum point,
                                           GLenum /*of*/, GLuint renderbuffer) {
    state.attach_to(framebuffer, point, ObjectKind::renderbuffer, renderbuffer, 0);
}

inline void named_framebuffer_texture(Tracker &state, GLuint framebuffer, GLenum point,
                                      GLuint texture, GLint /*level*/) {
    state.attach_to(framebuffer, point, ObjectKind::texture, texture, 1);
}

inline void named_framebuffer_texture_layer(Tracker &state, GLuint framebuffer, GLenum point,
                                            GLuint texture, GLint /*level*/, GLint /*layer*/) {
    state.attach_to(framebuffer, point, ObjectKind::texture, texture, 2);
}

inline void draw_buffer(Tracker &state, GLenum buffer) {
    state.set_of_bound_framebuffer(GL_DRAW_FRAMEBUFFER, kBuffers, mixed(0, buffer));
}

inline void named_draw_buffer(Tracker &state, GLuint framebuffer, GLenum buffer) {
    state.set_of_framebuffer(framebuffer, kBuffers, mixed(0, buffer));
}

inline void draw_buffers(Tracker &state, GLsizei count, const GLenum *buffers) {
    state.set_of_bound_framebuffer(GL_DRAW_FRAMEBUFFER, kBuffers,
                                   value_of(count, buffers, state.limits().draw_buffers));
}

inline void named_draw_buffers(Tracker &state, GLuint framebuffer, GLsizei count,
                               const GLenum *buffers) {
    state.set_of_framebuffer(framebuffer, kBuffers,
                             value_of(count, buffers, state.limits().draw_buffers));
}

inline void line_width(Tracker &state, GLfloat width) {
    state.set(kWide, width > 1 ? 2 : 1);
}

template <uint64_t now>
void enable(Tracker &state, GLenum what) {
    state.set(mixed(kSwitch, what), now);
}

template <uint64_t now>
void enable_indexed(Tracker &state, GLenum what, GLuint index) {
    state.set_part(mixed(kSwitch, what), index, now);
}

template <uint64_t now>
void enable_attribute(Tracker &state, GLuint index) {
    state.set_of_bound_vertex_array(mixed(kSwitch, index), now);
}

template <uint64_t now>
void enable_attribute_of(Tracker &state, GLuint array, GLuint index) {
    state.set_of_vertex_array(array, mixed(kSwitch, index), now);
}

inline void bind_vertex_buffer(Tracker &state, GLuint index, GLuint buffer, GLintptr /*offset*/,
                               GLsizei stride) {
    state.set_of_bound_vertex_array(mixed(kVertexBuffer, index), value_of_buffer(buffer, stride));
}

inline void vertex_array_vertex_buffer(Tracker &state, GLuint array, GLuint index, GLuint buffer,
                                       GLintptr /*offset*/, GLsizei stride) {
    state.set_of_vertex_array(array, mixed(kVertexBuffer, index), value_of_buffer(buffer, stride));
}

inline void vertex_array_vertex_buffers(Tracker &state, GLuint array, GLuint first, GLsizei count,
                                        const GLuint *buffers, const GLintptr * /*offsets*/,
                                        const GLsizei *strides) {
    for (size_t i = 0; i < readable(count, state.vertex_buffers_from(first)); ++i) {
        const bool is_there = buffers != nullptr && strides != nullptr;
        state.set_of_vertex_array(array, mixed(kVertexBuffer, first + i),
                                  is_there ? value_of_buffer(buffers[i], strides[i]) : 0);
    }
}

inline void bind_vertex_buffers(Tracker &state, GLuint first, GLsizei count, const GLuint *buffers,
                                const GLintptr *offsets, const GLsizei *strides) {
    vertex_array_vertex_buffers(state, state.vertex_array(), first, count, buffers, offsets,
                                strides);
}

inline void attribute_pointer(Tracker &state, GLuint index, GLint size, GLenum type,
                              GLboolean normalized, GLsizei stride, const void *pointer) {
    set_attribute(state, index, size, type, normalized != GL_FALSE ? 1 : 0, stride, pointer);
}

inline void attribute_i_pointer(Tracker &state, GLuint index, GLint size, GLenum type,
                                GLsizei stride, const void *pointer) {
    set_attribute(state, index, size, type, 2, stride, pointer);
}

inline void attribute_l_pointer(Tracker &state, GLuint index, GLint size, GLenum type,
                                GLsizei stride, const void *pointer) {
    set_attribute(state, index, size, type, 3, stride, pointer);
}

inline void tex_image_1d(Tracker &state, GLenum target, GLint level, GLint internal, GLsizei width,
                         GLint /*border*/, GLenum format, GLenum type, const void * /*data*/) {
    set_image(state, target, level, internal, width, 1, 1, {format, type});
}

inline void tex_image_2d(Tracker &state, GLenum target, GLint level, GLint internal, GLsizei width,
                         GLsizei height, GLint /*border*/, GLenum format, GLenum type,
                         const void * /*data*/) {
    set_image(state, target, level, internal, width, height, 1, {format, type});
}

inline void tex_image_3d(Tracker &state, GLenum target, GLint level, GLint internal, GLsizei width,
                         GLsizei height, GLsizei depth, GLint /*border*/, GLenum format,
                         GLenum type, const void * /*data*/) {
    set_image(state, target, level, internal, width, height, depth, {format, type});
}

inline void tex_image_3d_multisample(Tracker &state, GLenum target, GLsizei samples, GLenum format,
                                     GLsizei width, GLsizei height, GLsizei /*depth*/,
                                     GLboolean /*fixed*/) {
    set_image(state, target, 0, static_cast<GLint>(format), width, height, samples);
}

inline void tex_image_2d_multisample(Tracker &state, GLenum target, GLsizei samples, GLenum format,
                                     GLsizei width, GLsizei height, GLboolean /*fixed*/) {
    set_image(state, target, 0, static_cast<GLint>(format), width, height, samples);
}

// Who made the image has chosen its format.
inline void image_target_texture(Tracker &state, GLenum target, void * /*image*/) {
    set_image(state, target, 0, 0, 0, 0, 0);
}

inline void tex_buffer(Tracker &state, GLenum target, GLenum format, GLuint /*buffer*/) {
    set_image(state, target, 0, static_cast<GLint>(format), 0, 0, 0);
}

inline void tex_buffer_range(Tracker &state, GLenum target, GLenum format, GLuint buffer,
                             GLintptr /*offset*/, GLsizeiptr /*size*/) {
    tex_buffer(state, target, format, buffer);
}

inline void texture_buffer(Tracker &state, GLuint texture, GLenum format, GLuint /*buffer*/) {
    set_storage_of(state, texture, 1, format, 0, 0, 0);
}

inline void texture_buffer_range(Tracker &state, GLuint texture, GLenum format, GLuint buffer,
                                 GLintptr /*offset*/, GLsizeiptr /*size*/) {
    texture_buffer(state, texture, format, buffer);
}

inline void compressed_tex_image_1d(Tracker &state, GLenum target, GLint level, GLenum format,
                                    GLsizei width, GLint /*border*/, GLsizei /*size*/,
                                    const void * /*data*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, 1, 1);
}

inline void compressed_tex_image_2d(Tracker &state, GLenum target, GLint level, GLenum format,
                                    GLsizei width, GLsizei height, GLint /*border*/,
                                    GLsizei /*size*/, const void * /*data*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, height, 1);
}

inline void compressed_tex_image_3d(Tracker &state, GLenum target, GLint level, GLenum format,
                                    GLsizei width, GLsizei height, GLsizei depth, GLint /*border*/,
                                    GLsizei /*size*/, const void * /*data*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, height, depth);
}

inline void copy_tex_image_1d(Tracker &state, GLenum target, GLint level, GLenum format,
                              GLint /*x*/, GLint /*y*/, GLsizei width, GLint /*border*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, 1, 1);
}

inline void copy_tex_image_2d(Tracker &state, GLenum target, GLint level, GLenum format,
                              GLint /*x*/, GLint /*y*/, GLsizei width, GLsizei height,
                              GLint /*border*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, height, 1);
}

inline void tex_storage_1d(Tracker &state, GLenum target, GLsizei levels, GLenum format,
                           GLsizei width) {
    set_storage(state, target, levels, format, width, 1, 1);
}

inline void tex_storage_2d(Tracker &state, GLenum target, GLsizei levels, GLenum format,
                           GLsizei width, GLsizei height) {
    set_storage(state, target, levels, format, width, height, 1);
}

inline void tex_storage_3d(Tracker &state, GLenum target, GLsizei levels, GLenum format,
                           GLsizei width, GLsizei height, GLsizei depth) {
    set_storage(state, target, levels, format, width, height, depth);
}

inline void tex_storage_2d_multisample(Tracker &state, GLenum target, GLsizei samples,
                                       GLenum format, GLsizei width, GLsizei height,
                                       GLboolean /*fixed*/) {
    set_storage(state, target, 1, format, width, height, samples);
}

inline void tex_storage_3d_multisample(Tracker &state, GLenum target, GLsizei samples,
                                       GLenum format, GLsizei width, GLsizei height,
                                       GLsizei /*depth*/, GLboolean /*fixed*/) {
    set_storage(state, target, 1, format, width, height, samples);
}

inline void texture_storage_1d(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                               GLsizei width) {
    set_storage_of(state, texture, levels, format, width, 1, 1);
}

inline void texture_storage_2d(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                               GLsizei width, GLsizei height) {
    set_storage_of(state, texture, levels, format, width, height, 1);
}

inline void texture_storage_3d(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                               GLsizei width, GLsizei height, GLsizei depth) {
    set_storage_of(state, texture, levels, format, width, height, depth);
}

inline void texture_storage_2d_multisample(Tracker &state, GLuint texture, GLsizei samples,
                                           GLenum format, GLsizei width, GLsizei height,
                                           GLboolean /*fixed*/) {
    set_storage_of(state, texture, 1, format, width, height, samples);
}

inline void texture_storage_3d_multisample(Tracker &state, GLuint texture, GLsizei samples,
                                           GLenum format, GLsizei width, GLsizei height,
                                           GLsizei /*depth*/, GLboolean /*fixed*/) {
    set_storage_of(state, texture, 1, format, width, height, samples);
}

inline void texture_view(Tracker &state, GLuint texture, GLenum target, GLuint /*of*/,
                         GLenum format, GLuint /*level*/, GLuint levels, GLuint /*layer*/,
                         GLuint /*layers*/) {
    set_storage_of(state, texture, static_cast<GLsizei>(std::min(levels, 2u)), format, 0, 0, 0);
    state.set_of(ObjectKind::texture, texture, kImage, mixed(format, target));
}

inline void use_program(Tracker &state, GLuint program) {
    state.use_program(program);
}

inline void uniform_1i(Tracker &state, GLint location, GLint value) {
    set_units(state, state.program(), location, 1, &value);
}

inline void uniform_1iv(Tracker &state, GLint location, GLsizei count, const GLint *values) {
    set_units(state, state.program(), location, count, values);
}

inline void program_uniform_1i(Tracker &state, GLuint program, GLint location, GLint value) {
    set_units(state, program, location, 1, &value);
}

inline void program_uniform_1iv(Tracker &state, GLuint program, GLint location, GLsizei count,
                                const GLint *values) {
    set_units(state, program, location, count, values);
}

inline void dispatch_compute(Recording &here, GLuint /*x*/, GLuint /*y*/, GLuint /*z*/) {
    here.before_draw({.mode = recipe::DrawState::kDispatch});
}

inline void dispatch_compute_group_size(Recording &here, GLuint x, GLuint y, GLuint z,
                                        GLuint /*width*/, GLuint /*height*/, GLuint /*depth*/) {
    dispatch_compute(here, x, y, z);
}

inline void dispatch_compute_indirect(Recording &here, GLintptr /*offset*/) {
    here.before_draw({.mode = recipe::DrawState::kDispatch});
}

}  // namespace hooks

}  // namespace cairn::gl::record
