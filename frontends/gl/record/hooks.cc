// SPDX-License-Identifier: MIT
// The functions that the front end stands in front of while it records: those that draw, and those
// that change a state. Each notes the call, leaves the front end, and calls the driver's.
#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <tuple>

#include "common/crash_guard.h"
#include "gl/contexts.h"
#include "gl/hook.h"
#include "record/functions.h"
#include "record/recorder.h"

namespace cairn::gl::record {
namespace {

// The recording of the context that is current; null: it has none.
Recording *recording() {
    Context *context = bound_context();
    if (context != nullptr && !context->is_prepared) context = current_context();
    return context == nullptr ? nullptr : context->recording.get();
}

const Functions &driver() {
    return *current_driver().recorded;
}

// Notes a call by kNote, which has the arguments behind a Tracker or a Recording.
template <auto kMember, auto kNote, typename Function>
struct Hooked;
template <auto kMember, auto kNote, typename R, typename... A>
struct Hooked<kMember, kNote, R (*)(A...)> {
    static R function(A... arguments) {
        {
            const InsideFrontEnd inside;
            attempt([&] {
                Recording *here = recording();
                // What goes into a list of commands only, happens later or never.
                if (here == nullptr || here->list_mode() == GL_COMPILE) return;
                if constexpr (std::is_invocable_v<decltype(kNote), Tracker &, A...>) {
                    kNote(here->tracker(), arguments...);
                } else {
                    kNote(*here, arguments...);
                }
            });
        }
        return (driver().*kMember)(arguments...);
    }
};

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

template <typename T>
uint64_t bits_of(T value) {
    if constexpr (std::is_pointer_v<T>) {
        using Pointed = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (std::is_same_v<Pointed, GLint> || std::is_same_v<Pointed, GLfloat>) {
            return value == nullptr ? 0 : bits_of(*value);
        } else {
            return 0;
        }
    } else if constexpr (std::is_same_v<T, GLfloat>) {
        return std::bit_cast<uint32_t>(value);
    } else {
        return static_cast<uint64_t>(value);
    }
}

// Whose state a call changes. All but the context's have the object as first argument: its name, or
// the target that it is bound to; what is bound and has one target only has none.
enum class Of {
    context,
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
        uint64_t object = 0, name = mixed(0, call), value = 0;
        size_t at = 0;
        const auto take = [&](uint64_t bits) {
            const size_t number = at++;
            if (kHasObject && number == 0) {
                object = bits;
            } else if (number < keys + (kHasObject ? 1 : 0)) {
                name = mixed(name, bits);
            } else {
                value = mixed(value, bits);
            }
        };
        (take(bits_of(arguments)), ...);
        set(state, static_cast<GLuint>(object), name, value);
    }

  private:
    static void set(Tracker &state, GLuint object, uint64_t name, uint64_t value) {
        if constexpr (of == Of::context) state.set(name, value);
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
constexpr size_t kIndirect = ~size_t{0};

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

// What the hooks below set, by names of their own.
constexpr uint64_t kSwitch = number_of("switch"), kAttribute = number_of("attribute"),
                   kAttachment = number_of("attachment"), kImage = number_of("image"),
                   kMipmaps = number_of("mipmaps"), kBuffers = number_of("buffers"),
                   kUniform = number_of("uniform"), kWide = number_of("wide"),
                   kVertexBuffer = number_of("vertex buffer");

uint64_t classes_of(GLsizei width, GLsizei height, GLsizei depth) {
    const auto of = [](GLsizei size) { return recipe::size_class(static_cast<uint64_t>(size)); };
    return of(width) | of(height) << 4 | of(depth) << 8;
}

// An image of the texture that is bound.
void set_image(Tracker &state, GLenum target, GLint level, GLint format, GLsizei width,
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

void set_storage(Tracker &state, GLenum target, GLsizei levels, GLenum format, GLsizei width,
                 GLsizei height, GLsizei depth) {
    set_image(state, target, 0, static_cast<GLint>(format), width, height, depth);
    if (levels > 1) set_image(state, target, 1, 0, 0, 0, 0);
}

void set_storage_of(Tracker &state, GLuint texture, GLsizei levels, GLenum format, GLsizei width,
                    GLsizei height, GLsizei depth) {
    state.set_of(ObjectKind::texture, texture, kImage,
                 mixed(format, classes_of(width, height, depth)));
    state.set_of(ObjectKind::texture, texture, kMipmaps, levels > 1 ? 1 : 2);
}

// How a vertex array reads from a buffer, whichever it is.
uint64_t value_of_buffer(GLuint buffer, GLsizei stride) {
    return mixed(static_cast<uint64_t>(stride), buffer == 0 ? 1 : 2);
}

void attach(Tracker &state, GLenum target, GLenum point, ObjectKind kind, GLuint object,
            GLenum how) {
    state.set_of_bound_framebuffer(target, mixed(kAttachment, point),
                                   mixed(state.hash_of(kind, object), how));
}

void attach_to(Tracker &state, GLuint framebuffer, GLenum point, ObjectKind kind, GLuint object,
               GLenum how) {
    state.set_of_framebuffer(framebuffer, mixed(kAttachment, point),
                             mixed(state.hash_of(kind, object), how));
}

// The driver does not read more than it has places for, and neither do we.
size_t readable(GLsizei count, size_t places) {
    return count < 0 || static_cast<size_t>(count) > places ? 0 : static_cast<size_t>(count);
}

uint64_t value_of(GLsizei count, const GLenum *buffers, size_t places) {
    uint64_t value = 0;
    if (buffers == nullptr) return value;
    for (size_t i = 0; i < readable(count, places); ++i) value = mixed(value, buffers[i]);
    return value;
}

void set_attribute(Tracker &state, GLuint index, GLint size, GLenum type, unsigned kind,
                   GLsizei stride, const void *pointer) {
    uint64_t value = mixed(static_cast<uint64_t>(size), type);
    value = mixed(mixed(value, kind), static_cast<uint64_t>(stride));
    // The first one's pointer says nothing: it may move along a buffer.
    const uint64_t step = state.step_to(pointer);
    state.set_of_bound_vertex_array(mixed(kAttribute, index), mixed(value, index == 0 ? 0 : step));
}

// Units of samplers; other integers change what is computed, not what is compiled.
void set_units(Tracker &state, GLuint program, GLint location, GLsizei count, const GLint *units) {
    Objects &objects = state.objects();
    const MutexLock lock(objects.mutex());
    for (const UnitUniform &uniform : objects.program(program).linked.uniforms) {
        const auto first = std::ranges::find(uniform.locations, location);
        if (first == uniform.locations.end() || units == nullptr) continue;
        // The driver reads no further than the uniform goes.
        const auto rest = static_cast<size_t>(uniform.locations.end() - first);
        for (size_t i = 0; i < std::min(static_cast<size_t>(std::max(count, 0)), rest); ++i) {
            state.set(mixed(mixed(kUniform, program),
                            static_cast<uint64_t>(first[static_cast<std::ptrdiff_t>(i)])),
                      static_cast<uint64_t>(units[i]));
        }
    }
}

template <typename Delete>
void for_each_name(GLsizei count, const GLuint *names, Delete each) {
    if (count <= 0 || names == nullptr) return;
    std::ranges::for_each(std::span(names, static_cast<size_t>(count)), each);
}

}  // namespace

namespace hooks {

void active_texture(Tracker &state, GLenum unit) {
    state.activate(unit - GL_TEXTURE0);
}

void bind_texture(Tracker &state, GLenum target, GLuint texture) {
    state.bind_texture(state.active_unit(), target, texture);
}

void bind_texture_unit(Tracker &state, GLuint unit, GLuint texture) {
    state.bind_texture(unit, 0, texture);
}

void bind_textures(Tracker &state, GLuint first, GLsizei count, const GLuint *textures) {
    for (size_t i = 0; i < readable(count, state.units_from(first)); ++i) {
        state.bind_texture(first + static_cast<GLuint>(i), 0,
                           textures == nullptr ? 0 : textures[i]);
    }
}

void bind_sampler(Tracker &state, GLuint unit, GLuint sampler) {
    state.bind_sampler(unit, sampler);
}

void bind_samplers(Tracker &state, GLuint first, GLsizei count, const GLuint *samplers) {
    for (size_t i = 0; i < readable(count, state.units_from(first)); ++i) {
        state.bind_sampler(first + static_cast<GLuint>(i), samplers == nullptr ? 0 : samplers[i]);
    }
}

void bind_vertex_array(Tracker &state, GLuint array) {
    state.bind_vertex_array(array);
}

void bind_framebuffer(Tracker &state, GLenum target, GLuint framebuffer) {
    state.bind_framebuffer(target, framebuffer);
}

void bind_renderbuffer(Tracker &state, GLenum /*target*/, GLuint renderbuffer) {
    state.bind_renderbuffer(renderbuffer);
}

template <ObjectKind kind>
void delete_objects(Tracker &state, GLsizei count, const GLuint *names) {
    for_each_name(count, names, [&](GLuint name) { state.delete_object(kind, name); });
}

void delete_vertex_arrays(Tracker &state, GLsizei count, const GLuint *names) {
    for_each_name(count, names, [&](GLuint name) { state.delete_vertex_array(name); });
}

void delete_framebuffers(Tracker &state, GLsizei count, const GLuint *names) {
    for_each_name(count, names, [&](GLuint name) { state.delete_framebuffer(name); });
}

void framebuffer_renderbuffer(Tracker &state, GLenum target, GLenum point, GLenum /*of*/,
                              GLuint renderbuffer) {
    attach(state, target, point, ObjectKind::renderbuffer, renderbuffer, 0);
}

void framebuffer_texture(Tracker &state, GLenum target, GLenum point, GLuint texture,
                         GLint /*level*/) {
    attach(state, target, point, ObjectKind::texture, texture, 1);
}

void framebuffer_texture_2d(Tracker &state, GLenum target, GLenum point, GLenum of, GLuint texture,
                            GLint /*level*/) {
    attach(state, target, point, ObjectKind::texture, texture, of);
}

void framebuffer_texture_2d_multisample(Tracker &state, GLenum target, GLenum point, GLenum of,
                                        GLuint texture, GLint /*level*/, GLsizei samples) {
    attach(state, target, point, ObjectKind::texture, texture, of + static_cast<GLenum>(samples));
}

void framebuffer_texture_3d(Tracker &state, GLenum target, GLenum point, GLenum of, GLuint texture,
                            GLint /*level*/, GLint /*layer*/) {
    attach(state, target, point, ObjectKind::texture, texture, of);
}

void framebuffer_texture_multiview(Tracker &state, GLenum target, GLenum point, GLuint texture,
                                   GLint /*level*/, GLint /*first*/, GLsizei views) {
    attach(state, target, point, ObjectKind::texture, texture, 3 + static_cast<GLenum>(views));
}

void framebuffer_texture_layer(Tracker &state, GLenum target, GLenum point, GLuint texture,
                               GLint /*level*/, GLint /*layer*/) {
    attach(state, target, point, ObjectKind::texture, texture, 2);
}

void named_framebuffer_renderbuffer(Tracker &state, GLuint framebuffer, GLenum point, GLenum /*of*/,
                                    GLuint renderbuffer) {
    attach_to(state, framebuffer, point, ObjectKind::renderbuffer, renderbuffer, 0);
}

void named_framebuffer_texture(Tracker &state, GLuint framebuffer, GLenum point, GLuint texture,
                               GLint /*level*/) {
    attach_to(state, framebuffer, point, ObjectKind::texture, texture, 1);
}

void named_framebuffer_texture_layer(Tracker &state, GLuint framebuffer, GLenum point,
                                     GLuint texture, GLint /*level*/, GLint /*layer*/) {
    attach_to(state, framebuffer, point, ObjectKind::texture, texture, 2);
}

void draw_buffers(Tracker &state, GLsizei count, const GLenum *buffers) {
    state.set_of_bound_framebuffer(GL_DRAW_FRAMEBUFFER, kBuffers,
                                   value_of(count, buffers, state.limits().draw_buffers));
}

void named_draw_buffers(Tracker &state, GLuint framebuffer, GLsizei count, const GLenum *buffers) {
    state.set_of_framebuffer(framebuffer, kBuffers,
                             value_of(count, buffers, state.limits().draw_buffers));
}

void line_width(Tracker &state, GLfloat width) {
    state.set(kWide, width > 1 ? 2 : 1);
}

template <uint64_t now>
void enable(Tracker &state, GLenum what) {
    state.set(mixed(kSwitch, what), now);
}

template <uint64_t now>
void enable_indexed(Tracker &state, GLenum what, GLuint index) {
    state.set(mixed(mixed(kSwitch, what), uint64_t{index} + 1), now);
}

template <uint64_t now>
void enable_attribute(Tracker &state, GLuint index) {
    state.set_of_bound_vertex_array(mixed(kSwitch, index), now);
}

template <uint64_t now>
void enable_attribute_of(Tracker &state, GLuint array, GLuint index) {
    state.set_of_vertex_array(array, mixed(kSwitch, index), now);
}

void bind_vertex_buffer(Tracker &state, GLuint index, GLuint buffer, GLintptr /*offset*/,
                        GLsizei stride) {
    state.set_of_bound_vertex_array(mixed(kVertexBuffer, index), value_of_buffer(buffer, stride));
}

void vertex_array_vertex_buffer(Tracker &state, GLuint array, GLuint index, GLuint buffer,
                                GLintptr /*offset*/, GLsizei stride) {
    state.set_of_vertex_array(array, mixed(kVertexBuffer, index), value_of_buffer(buffer, stride));
}

void vertex_array_vertex_buffers(Tracker &state, GLuint array, GLuint first, GLsizei count,
                                 const GLuint *buffers, const GLintptr * /*offsets*/,
                                 const GLsizei *strides) {
    for (size_t i = 0; i < readable(count, state.vertex_buffers_from(first)); ++i) {
        const bool is_there = buffers != nullptr && strides != nullptr;
        state.set_of_vertex_array(array, mixed(kVertexBuffer, first + i),
                                  is_there ? value_of_buffer(buffers[i], strides[i]) : 0);
    }
}

void bind_vertex_buffers(Tracker &state, GLuint first, GLsizei count, const GLuint *buffers,
                         const GLintptr *offsets, const GLsizei *strides) {
    vertex_array_vertex_buffers(state, state.vertex_array(), first, count, buffers, offsets,
                                strides);
}

void attribute_pointer(Tracker &state, GLuint index, GLint size, GLenum type, GLboolean normalized,
                       GLsizei stride, const void *pointer) {
    set_attribute(state, index, size, type, normalized != GL_FALSE ? 1 : 0, stride, pointer);
}

void attribute_i_pointer(Tracker &state, GLuint index, GLint size, GLenum type, GLsizei stride,
                         const void *pointer) {
    set_attribute(state, index, size, type, 2, stride, pointer);
}

void attribute_l_pointer(Tracker &state, GLuint index, GLint size, GLenum type, GLsizei stride,
                         const void *pointer) {
    set_attribute(state, index, size, type, 3, stride, pointer);
}

void tex_image_1d(Tracker &state, GLenum target, GLint level, GLint internal, GLsizei width,
                  GLint /*border*/, GLenum format, GLenum type, const void * /*data*/) {
    set_image(state, target, level, internal, width, 1, 1, {format, type});
}

void tex_image_2d(Tracker &state, GLenum target, GLint level, GLint internal, GLsizei width,
                  GLsizei height, GLint /*border*/, GLenum format, GLenum type,
                  const void * /*data*/) {
    set_image(state, target, level, internal, width, height, 1, {format, type});
}

void tex_image_3d(Tracker &state, GLenum target, GLint level, GLint internal, GLsizei width,
                  GLsizei height, GLsizei depth, GLint /*border*/, GLenum format, GLenum type,
                  const void * /*data*/) {
    set_image(state, target, level, internal, width, height, depth, {format, type});
}

void tex_image_3d_multisample(Tracker &state, GLenum target, GLsizei samples, GLenum format,
                              GLsizei width, GLsizei height, GLsizei /*depth*/,
                              GLboolean /*fixed*/) {
    set_image(state, target, 0, static_cast<GLint>(format), width, height, samples);
}

void tex_image_2d_multisample(Tracker &state, GLenum target, GLsizei samples, GLenum format,
                              GLsizei width, GLsizei height, GLboolean /*fixed*/) {
    set_image(state, target, 0, static_cast<GLint>(format), width, height, samples);
}

// Who made the image has chosen its format.
void image_target_texture(Tracker &state, GLenum target, void * /*image*/) {
    set_image(state, target, 0, 0, 0, 0, 0);
}

void tex_buffer(Tracker &state, GLenum target, GLenum format, GLuint /*buffer*/) {
    set_image(state, target, 0, static_cast<GLint>(format), 0, 0, 0);
}

void tex_buffer_range(Tracker &state, GLenum target, GLenum format, GLuint buffer,
                      GLintptr /*offset*/, GLsizeiptr /*size*/) {
    tex_buffer(state, target, format, buffer);
}

void texture_buffer(Tracker &state, GLuint texture, GLenum format, GLuint /*buffer*/) {
    set_storage_of(state, texture, 1, format, 0, 0, 0);
}

void texture_buffer_range(Tracker &state, GLuint texture, GLenum format, GLuint buffer,
                          GLintptr /*offset*/, GLsizeiptr /*size*/) {
    texture_buffer(state, texture, format, buffer);
}

void compressed_tex_image_1d(Tracker &state, GLenum target, GLint level, GLenum format,
                             GLsizei width, GLint /*border*/, GLsizei /*size*/,
                             const void * /*data*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, 1, 1);
}

void compressed_tex_image_2d(Tracker &state, GLenum target, GLint level, GLenum format,
                             GLsizei width, GLsizei height, GLint /*border*/, GLsizei /*size*/,
                             const void * /*data*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, height, 1);
}

void compressed_tex_image_3d(Tracker &state, GLenum target, GLint level, GLenum format,
                             GLsizei width, GLsizei height, GLsizei depth, GLint /*border*/,
                             GLsizei /*size*/, const void * /*data*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, height, depth);
}

void copy_tex_image_1d(Tracker &state, GLenum target, GLint level, GLenum format, GLint /*x*/,
                       GLint /*y*/, GLsizei width, GLint /*border*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, 1, 1);
}

void copy_tex_image_2d(Tracker &state, GLenum target, GLint level, GLenum format, GLint /*x*/,
                       GLint /*y*/, GLsizei width, GLsizei height, GLint /*border*/) {
    set_image(state, target, level, static_cast<GLint>(format), width, height, 1);
}

void tex_storage_1d(Tracker &state, GLenum target, GLsizei levels, GLenum format, GLsizei width) {
    set_storage(state, target, levels, format, width, 1, 1);
}

void tex_storage_2d(Tracker &state, GLenum target, GLsizei levels, GLenum format, GLsizei width,
                    GLsizei height) {
    set_storage(state, target, levels, format, width, height, 1);
}

void tex_storage_3d(Tracker &state, GLenum target, GLsizei levels, GLenum format, GLsizei width,
                    GLsizei height, GLsizei depth) {
    set_storage(state, target, levels, format, width, height, depth);
}

void tex_storage_2d_multisample(Tracker &state, GLenum target, GLsizei samples, GLenum format,
                                GLsizei width, GLsizei height, GLboolean /*fixed*/) {
    set_storage(state, target, 1, format, width, height, samples);
}

void tex_storage_3d_multisample(Tracker &state, GLenum target, GLsizei samples, GLenum format,
                                GLsizei width, GLsizei height, GLsizei /*depth*/,
                                GLboolean /*fixed*/) {
    set_storage(state, target, 1, format, width, height, samples);
}

void texture_storage_1d(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                        GLsizei width) {
    set_storage_of(state, texture, levels, format, width, 1, 1);
}

void texture_storage_2d(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                        GLsizei width, GLsizei height) {
    set_storage_of(state, texture, levels, format, width, height, 1);
}

void texture_storage_3d(Tracker &state, GLuint texture, GLsizei levels, GLenum format,
                        GLsizei width, GLsizei height, GLsizei depth) {
    set_storage_of(state, texture, levels, format, width, height, depth);
}

void texture_storage_2d_multisample(Tracker &state, GLuint texture, GLsizei samples, GLenum format,
                                    GLsizei width, GLsizei height, GLboolean /*fixed*/) {
    set_storage_of(state, texture, 1, format, width, height, samples);
}

void texture_storage_3d_multisample(Tracker &state, GLuint texture, GLsizei samples, GLenum format,
                                    GLsizei width, GLsizei height, GLsizei /*depth*/,
                                    GLboolean /*fixed*/) {
    set_storage_of(state, texture, 1, format, width, height, samples);
}

void use_program(Tracker &state, GLuint program) {
    state.use_program(program);
}

void uniform_1i(Tracker &state, GLint location, GLint value) {
    set_units(state, state.program(), location, 1, &value);
}

void uniform_1iv(Tracker &state, GLint location, GLsizei count, const GLint *values) {
    set_units(state, state.program(), location, count, values);
}

void program_uniform_1i(Tracker &state, GLuint program, GLint location, GLint value) {
    set_units(state, program, location, 1, &value);
}

void program_uniform_1iv(Tracker &state, GLuint program, GLint location, GLsizei count,
                         const GLint *values) {
    set_units(state, program, location, count, values);
}

void dispatch_compute(Recording &here, GLuint /*x*/, GLuint /*y*/, GLuint /*z*/) {
    here.before_draw({.mode = recipe::DrawState::kDispatch});
}

void dispatch_compute_indirect(Recording &here, GLintptr /*offset*/) {
    here.before_draw({.mode = recipe::DrawState::kDispatch});
}

}  // namespace hooks

namespace {

// The application's own error, which questions have taken from the driver, comes first.
GLenum get_error() {
    Context *context = bound_context();
    if (context != nullptr && context->recording != nullptr) {
        const GLenum kept = context->recording->take_error();
        if (kept != GL_NO_ERROR) return kept;
    }
    return driver().GetError();
}

// What is asked while commands go into a list would change what is in it.
void set_list_mode(GLenum mode) {
    const InsideFrontEnd inside;
    attempt([&] {
        if (Recording *here = recording()) here->set_list_mode(mode);
    });
}

void new_list(GLuint list, GLenum mode) {
    set_list_mode(mode);
    driver().NewList(list, mode);
}

void end_list() {
    set_list_mode(0);
    driver().EndList();
}

#define BEFORE(name, like, note) \
    {"gl" #name,                 \
     reinterpret_cast<void *>(&Hooked<&Functions::name, note, decltype(&::gl##like)>::function)},
#define NOTED(name, like, of, keys) BEFORE(name, like, (Note<Of::of, keys, number_of(#like)>{}))
#define DRAWN(name, like, index_type, instances) \
    BEFORE(name, like, (NoteDraw<index_type, instances>{}))
#define HOOKED(name, like, hook) BEFORE(name, like, &hooks::hook)
#define CALLED(name, like)
const NamedFunction kHooks[] = {
    {"glGetError", reinterpret_cast<void *>(&get_error)},
    {"glNewList", reinterpret_cast<void *>(&new_list)},
    {"glEndList", reinterpret_cast<void *>(&end_list)},
    RECORD_FUNCTIONS(NOTED, DRAWN, HOOKED, CALLED)  //
};
#undef BEFORE
#undef NOTED
#undef DRAWN
#undef HOOKED
#undef CALLED

}  // namespace

const Functions *functions_of(void *(*find)(const char *name)) {
    auto *functions = new Functions;
#define X(name, like, ...) \
    functions->name = reinterpret_cast<decltype(&::gl##like)>(or_missing(find("gl" #name)));
    RECORD_FUNCTIONS(X, X, X, X)
#undef X
    return functions;
}

void *hook_of(const char *name) {
    return function_of_name(kHooks, name);
}

}  // namespace cairn::gl::record
