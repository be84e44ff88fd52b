// SPDX-License-Identifier: MIT
// The functions that the front end stands in front of while it records: those that draw, and those
// that change a state. Each calls the driver's, and notes the call.
#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>

#include "common/crash_guard.h"
#include "gl/contexts.h"
#include "gl/hook.h"
#include "record/functions.h"
#include "record/recorder.h"

namespace cairn::gl::record {
namespace {

template <typename Function>
struct HookOf;
template <typename R, typename... A>
struct HookOf<R (*)(A...)> {
    using Type = R(Real<R (*)(A...)> &real, A... arguments);
};

// The recording of the context that is current; null: it has none.
Recording *recording() {
    Context *context = current_context();
    return context == nullptr ? nullptr : context->recording.get();
}

Tracker *tracker() {
    Recording *current = recording();
    return current == nullptr ? nullptr : &current->tracker();
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
// the target that it is bound to; the bound vertex array has none.
enum class Of {
    context,
    texture,
    named_texture,
    sampler,
    renderbuffer,
    vertex_array,
    named_vertex_array,
    framebuffer,
};

template <Of of>
void set(Tracker &state, uint64_t object, uint64_t name, uint64_t value) {
    const auto number = static_cast<GLuint>(object);
    if constexpr (of == Of::context) state.set(name, value);
    if constexpr (of == Of::texture) state.set_of_texture(number, name, value);
    if constexpr (of == Of::named_texture) state.set_of(ObjectKind::texture, number, name, value);
    if constexpr (of == Of::sampler) state.set_of(ObjectKind::sampler, number, name, value);
    if constexpr (of == Of::renderbuffer) state.set_of_renderbuffer(name, value);
    if constexpr (of == Of::vertex_array) state.set_of_bound_vertex_array(name, value);
    if constexpr (of == Of::named_vertex_array) state.set_of_vertex_array(number, name, value);
    if constexpr (of == Of::framebuffer) state.set_of_framebuffer(GL_DRAW_FRAMEBUFFER, name, value);
}

// `call` says which function it is, whatever its ending.
template <Of of, size_t keys, typename... A>
void note(uint64_t call, A... arguments) {
    Tracker *state = tracker();
    if (state == nullptr) return;
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
    set<of>(*state, object, name, value);
}

const Functions &driver() {
    return *current_driver().recorded;
}

template <auto kMember, Of of, size_t keys, uint64_t call, typename F>
struct Noted;
template <auto kMember, Of of, size_t keys, uint64_t call, typename R, typename... A>
struct Noted<kMember, of, keys, call, R (*)(A...)> {
    static R function(A... arguments) {
        {
            const InsideFrontEnd inside;
            attempt([&] { note<of, keys>(call, arguments...); });
        }
        return (driver().*kMember)(arguments...);
    }
};

template <auto kMember, auto kHook>
struct Hooked;
template <auto kMember, typename R, typename... A, R (*kHook)(Real<R (*)(A...)> &, A...)>
struct Hooked<kMember, kHook> {
    static R function(A... arguments) {
        const InsideFrontEnd inside;
        Real<R (*)(A...)> real(driver().*kMember);
        return guarded([&] { return kHook(real, arguments...); },
                       [&] { return real.answer(arguments...); });
    }
};

constexpr uint64_t number_of(std::string_view name) {
    uint64_t hash = 14695981039346656037u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

// What the hooks below set, by names of their own.
constexpr uint64_t kSwitch = number_of("switch"), kAttribute = number_of("attribute"),
                   kAttachment = number_of("attachment"), kImage = number_of("image"),
                   kMipmaps = number_of("mipmaps"), kBuffers = number_of("buffers"),
                   kUniform = number_of("uniform");

template <typename Change>
void change(Change change) {
    if (Tracker *state = tracker()) change(*state);
}

void draw(GLenum mode, GLenum index_type, bool is_instanced) {
    if (Recording *current = recording()) current->before_draw({mode, index_type, is_instanced});
}

uint64_t classes_of(GLsizei width, GLsizei height, GLsizei depth) {
    const auto of = [](GLsizei size) { return recipe::size_class(static_cast<uint64_t>(size)); };
    return of(width) | of(height) << 4 | of(depth) << 8;
}

// An image of the texture that is bound.
void set_image(GLenum target, GLint level, GLint format, GLsizei width, GLsizei height,
               GLsizei depth, const recipe::Upload &upload = {}) {
    change([&](Tracker &state) {
        if (level == 0) {
            const uint64_t how = mixed(upload.format, upload.type);
            const uint64_t what = mixed(static_cast<uint64_t>(format), how);
            state.set_of_texture(target, kImage, mixed(what, classes_of(width, height, depth)));
            state.set_upload(target, upload);
        } else {
            state.set_of_texture(target, kMipmaps, 1);
        }
    });
}

void set_storage(GLenum target, GLsizei levels, GLenum format, GLsizei width, GLsizei height,
                 GLsizei depth) {
    set_image(target, 0, static_cast<GLint>(format), width, height, depth);
    if (levels > 1) set_image(target, 1, 0, 0, 0, 0);
}

void set_storage_of(GLuint texture, GLsizei levels, GLenum format, uint64_t classes) {
    change([&](Tracker &state) {
        state.set_of(ObjectKind::texture, texture, kImage, mixed(format, classes));
        state.set_of(ObjectKind::texture, texture, kMipmaps, levels > 1 ? 1 : 2);
    });
}

void attach(GLenum target, GLenum point, ObjectKind kind, GLuint object, GLenum how) {
    change([&](Tracker &state) {
        state.set_of_framebuffer(target, mixed(kAttachment, point),
                                 mixed(state.hash_of(kind, object), how));
    });
}

void set_attribute(GLuint index, GLint size, GLenum type, unsigned kind, GLsizei stride,
                   const void *pointer) {
    change([&](Tracker &state) {
        uint64_t value = mixed(static_cast<uint64_t>(size), type);
        value = mixed(mixed(value, kind), static_cast<uint64_t>(stride));
        // The first one's pointer says nothing: it may move along a buffer.
        const uint64_t step = state.step_to(pointer);
        state.set_of_bound_vertex_array(mixed(kAttribute, index),
                                        mixed(value, index == 0 ? 0 : step));
    });
}

// Units of samplers; other integers change what is computed, not what is compiled.
void set_unit(GLuint program, GLint location, GLint unit) {
    change([&](Tracker &state) {
        Objects &objects = state.objects();
        const MutexLock lock(objects.mutex());
        const auto is_at = [location](const UnitUniform &uniform) {
            return std::ranges::find(uniform.locations, location) != uniform.locations.end();
        };
        if (std::ranges::any_of(objects.program(program).uniforms, is_at)) {
            state.set(mixed(mixed(kUniform, program), static_cast<uint64_t>(location)),
                      static_cast<uint64_t>(unit));
        }
    });
}

}  // namespace

namespace hooks {

#define FUNCTION(like) decltype(&::gl##like)

void active_texture(Real<FUNCTION(ActiveTexture)> &real, GLenum unit) {
    change([&](Tracker &state) { state.activate(unit - GL_TEXTURE0); });
    real(unit);
}

void bind_texture(Real<FUNCTION(BindTexture)> &real, GLenum target, GLuint texture) {
    change([&](Tracker &state) { state.bind_texture(state.active_unit(), target, texture); });
    real(target, texture);
}

void bind_texture_unit(Real<FUNCTION(BindTextureUnit)> &real, GLuint unit, GLuint texture) {
    change([&](Tracker &state) { state.bind_texture(unit, 0, texture); });
    real(unit, texture);
}

void bind_textures(Real<FUNCTION(BindTextures)> &real, GLuint first, GLsizei count,
                   const GLuint *textures) {
    change([&](Tracker &state) {
        for (GLsizei i = 0; i < count; ++i) {
            state.bind_texture(first + static_cast<GLuint>(i), 0,
                               textures == nullptr ? 0 : textures[i]);
        }
    });
    real(first, count, textures);
}

void bind_sampler(Real<FUNCTION(BindSampler)> &real, GLuint unit, GLuint sampler) {
    change([&](Tracker &state) { state.bind_sampler(unit, sampler); });
    real(unit, sampler);
}

void bind_samplers(Real<FUNCTION(BindSamplers)> &real, GLuint first, GLsizei count,
                   const GLuint *samplers) {
    change([&](Tracker &state) {
        for (GLsizei i = 0; i < count; ++i) {
            state.bind_sampler(first + static_cast<GLuint>(i),
                               samplers == nullptr ? 0 : samplers[i]);
        }
    });
    real(first, count, samplers);
}

void bind_vertex_array(Real<FUNCTION(BindVertexArray)> &real, GLuint array) {
    change([&](Tracker &state) { state.bind_vertex_array(array); });
    real(array);
}

void bind_framebuffer(Real<FUNCTION(BindFramebuffer)> &real, GLenum target, GLuint framebuffer) {
    change([&](Tracker &state) { state.bind_framebuffer(target, framebuffer); });
    real(target, framebuffer);
}

void bind_renderbuffer(Real<FUNCTION(BindRenderbuffer)> &real, GLenum target, GLuint renderbuffer) {
    change([&](Tracker &state) { state.bind_renderbuffer(renderbuffer); });
    real(target, renderbuffer);
}

void framebuffer_renderbuffer(Real<FUNCTION(FramebufferRenderbuffer)> &real, GLenum target,
                              GLenum point, GLenum of, GLuint renderbuffer) {
    attach(target, point, ObjectKind::renderbuffer, renderbuffer, 0);
    real(target, point, of, renderbuffer);
}

void framebuffer_texture(Real<FUNCTION(FramebufferTexture)> &real, GLenum target, GLenum point,
                         GLuint texture, GLint level) {
    attach(target, point, ObjectKind::texture, texture, 1);
    real(target, point, texture, level);
}

void framebuffer_texture_2d(Real<FUNCTION(FramebufferTexture2D)> &real, GLenum target, GLenum point,
                            GLenum of, GLuint texture, GLint level) {
    attach(target, point, ObjectKind::texture, texture, of);
    real(target, point, of, texture, level);
}

void framebuffer_texture_layer(Real<FUNCTION(FramebufferTextureLayer)> &real, GLenum target,
                               GLenum point, GLuint texture, GLint level, GLint layer) {
    attach(target, point, ObjectKind::texture, texture, 2);
    real(target, point, texture, level, layer);
}

void draw_buffers(Real<FUNCTION(DrawBuffers)> &real, GLsizei count, const GLenum *buffers) {
    change([&](Tracker &state) {
        uint64_t value = 0;
        for (GLsizei i = 0; buffers != nullptr && i < count; ++i) value = mixed(value, buffers[i]);
        state.set_of_framebuffer(GL_DRAW_FRAMEBUFFER, kBuffers, value);
    });
    real(count, buffers);
}

void enable(Real<FUNCTION(Enable)> &real, GLenum what) {
    change([&](Tracker &state) { state.set(mixed(kSwitch, what), 1); });
    real(what);
}

void disable(Real<FUNCTION(Disable)> &real, GLenum what) {
    change([&](Tracker &state) { state.set(mixed(kSwitch, what), 0); });
    real(what);
}

void enable_i(Real<FUNCTION(Enablei)> &real, GLenum what, GLuint index) {
    change([&](Tracker &state) { state.set(mixed(mixed(kSwitch, what), index + 1), 1); });
    real(what, index);
}

void disable_i(Real<FUNCTION(Disablei)> &real, GLenum what, GLuint index) {
    change([&](Tracker &state) { state.set(mixed(mixed(kSwitch, what), index + 1), 0); });
    real(what, index);
}

void enable_attribute(Real<FUNCTION(EnableVertexAttribArray)> &real, GLuint index) {
    change([&](Tracker &state) { state.set_of_bound_vertex_array(mixed(kSwitch, index), 1); });
    real(index);
}

void disable_attribute(Real<FUNCTION(DisableVertexAttribArray)> &real, GLuint index) {
    change([&](Tracker &state) { state.set_of_bound_vertex_array(mixed(kSwitch, index), 0); });
    real(index);
}

void attribute_pointer(Real<FUNCTION(VertexAttribPointer)> &real, GLuint index, GLint size,
                       GLenum type, GLboolean normalized, GLsizei stride, const void *pointer) {
    set_attribute(index, size, type, normalized != GL_FALSE ? 1 : 0, stride, pointer);
    real(index, size, type, normalized, stride, pointer);
}

void attribute_i_pointer(Real<FUNCTION(VertexAttribIPointer)> &real, GLuint index, GLint size,
                         GLenum type, GLsizei stride, const void *pointer) {
    set_attribute(index, size, type, 2, stride, pointer);
    real(index, size, type, stride, pointer);
}

void tex_image_1d(Real<FUNCTION(TexImage1D)> &real, GLenum target, GLint level, GLint internal,
                  GLsizei width, GLint border, GLenum format, GLenum type, const void *data) {
    set_image(target, level, internal, width, 1, 1, {format, type});
    real(target, level, internal, width, border, format, type, data);
}

void tex_image_2d(Real<FUNCTION(TexImage2D)> &real, GLenum target, GLint level, GLint internal,
                  GLsizei width, GLsizei height, GLint border, GLenum format, GLenum type,
                  const void *data) {
    set_image(target, level, internal, width, height, 1, {format, type});
    real(target, level, internal, width, height, border, format, type, data);
}

void tex_image_3d(Real<FUNCTION(TexImage3D)> &real, GLenum target, GLint level, GLint internal,
                  GLsizei width, GLsizei height, GLsizei depth, GLint border, GLenum format,
                  GLenum type, const void *data) {
    set_image(target, level, internal, width, height, depth, {format, type});
    real(target, level, internal, width, height, depth, border, format, type, data);
}

void tex_image_2d_multisample(Real<FUNCTION(TexImage2DMultisample)> &real, GLenum target,
                              GLsizei samples, GLenum format, GLsizei width, GLsizei height,
                              GLboolean fixed) {
    set_image(target, 0, static_cast<GLint>(format), width, height, samples);
    real(target, samples, format, width, height, fixed);
}

void compressed_tex_image_2d(Real<FUNCTION(CompressedTexImage2D)> &real, GLenum target, GLint level,
                             GLenum format, GLsizei width, GLsizei height, GLint border,
                             GLsizei size, const void *data) {
    set_image(target, level, static_cast<GLint>(format), width, height, 1);
    real(target, level, format, width, height, border, size, data);
}

void compressed_tex_image_3d(Real<FUNCTION(CompressedTexImage3D)> &real, GLenum target, GLint level,
                             GLenum format, GLsizei width, GLsizei height, GLsizei depth,
                             GLint border, GLsizei size, const void *data) {
    set_image(target, level, static_cast<GLint>(format), width, height, depth);
    real(target, level, format, width, height, depth, border, size, data);
}

void copy_tex_image_2d(Real<FUNCTION(CopyTexImage2D)> &real, GLenum target, GLint level,
                       GLenum format, GLint x, GLint y, GLsizei width, GLsizei height,
                       GLint border) {
    set_image(target, level, static_cast<GLint>(format), width, height, 1);
    real(target, level, format, x, y, width, height, border);
}

void tex_storage_1d(Real<FUNCTION(TexStorage1D)> &real, GLenum target, GLsizei levels,
                    GLenum format, GLsizei width) {
    set_storage(target, levels, format, width, 1, 1);
    real(target, levels, format, width);
}

void tex_storage_2d(Real<FUNCTION(TexStorage2D)> &real, GLenum target, GLsizei levels,
                    GLenum format, GLsizei width, GLsizei height) {
    set_storage(target, levels, format, width, height, 1);
    real(target, levels, format, width, height);
}

void tex_storage_3d(Real<FUNCTION(TexStorage3D)> &real, GLenum target, GLsizei levels,
                    GLenum format, GLsizei width, GLsizei height, GLsizei depth) {
    set_storage(target, levels, format, width, height, depth);
    real(target, levels, format, width, height, depth);
}

void tex_storage_2d_multisample(Real<FUNCTION(TexStorage2DMultisample)> &real, GLenum target,
                                GLsizei samples, GLenum format, GLsizei width, GLsizei height,
                                GLboolean fixed) {
    set_storage(target, 1, format, width, height, samples);
    real(target, samples, format, width, height, fixed);
}

void texture_storage_2d(Real<FUNCTION(TextureStorage2D)> &real, GLuint texture, GLsizei levels,
                        GLenum format, GLsizei width, GLsizei height) {
    set_storage_of(texture, levels, format, classes_of(width, height, 1));
    real(texture, levels, format, width, height);
}

void texture_storage_3d(Real<FUNCTION(TextureStorage3D)> &real, GLuint texture, GLsizei levels,
                        GLenum format, GLsizei width, GLsizei height, GLsizei depth) {
    set_storage_of(texture, levels, format, classes_of(width, height, depth));
    real(texture, levels, format, width, height, depth);
}

void use_program(Real<FUNCTION(UseProgram)> &real, GLuint program) {
    change([&](Tracker &state) { state.use_program(program); });
    real(program);
}

void uniform_1i(Real<FUNCTION(Uniform1i)> &real, GLint location, GLint value) {
    change([&](Tracker &state) { set_unit(state.program(), location, value); });
    real(location, value);
}

void uniform_1iv(Real<FUNCTION(Uniform1iv)> &real, GLint location, GLsizei count,
                 const GLint *values) {
    change([&](Tracker &state) {
        if (count > 0 && values != nullptr) set_unit(state.program(), location, values[0]);
    });
    real(location, count, values);
}

void program_uniform_1i(Real<FUNCTION(ProgramUniform1i)> &real, GLuint program, GLint location,
                        GLint value) {
    set_unit(program, location, value);
    real(program, location, value);
}

// The application's own error, which questions have taken from the driver, comes first.
GLenum get_error(Real<FUNCTION(GetError)> &real) {
    Context *context = bound_context();
    if (context != nullptr && context->recording != nullptr) {
        const GLenum kept = context->recording->take_error();
        if (kept != GL_NO_ERROR) return kept;
    }
    return real();
}

void dispatch_compute(Real<FUNCTION(DispatchCompute)> &real, GLuint x, GLuint y, GLuint z) {
    draw(recipe::DrawState::kDispatch, 0, false);
    real(x, y, z);
}

void dispatch_compute_indirect(Real<FUNCTION(DispatchComputeIndirect)> &real, GLintptr offset) {
    draw(recipe::DrawState::kDispatch, 0, false);
    real(offset);
}

void draw_arrays(Real<FUNCTION(DrawArrays)> &real, GLenum mode, GLint first, GLsizei count) {
    draw(mode, 0, false);
    real(mode, first, count);
}

void draw_arrays_indirect(Real<FUNCTION(DrawArraysIndirect)> &real, GLenum mode,
                          const void *indirect) {
    draw(mode, 0, true);
    real(mode, indirect);
}

void draw_arrays_instanced(Real<FUNCTION(DrawArraysInstanced)> &real, GLenum mode, GLint first,
                           GLsizei count, GLsizei instances) {
    draw(mode, 0, instances > 1);
    real(mode, first, count, instances);
}

void draw_arrays_instanced_base_instance(Real<FUNCTION(DrawArraysInstancedBaseInstance)> &real,
                                         GLenum mode, GLint first, GLsizei count, GLsizei instances,
                                         GLuint base) {
    draw(mode, 0, instances > 1);
    real(mode, first, count, instances, base);
}

void draw_elements(Real<FUNCTION(DrawElements)> &real, GLenum mode, GLsizei count, GLenum type,
                   const void *indices) {
    draw(mode, type, false);
    real(mode, count, type, indices);
}

void draw_elements_base_vertex(Real<FUNCTION(DrawElementsBaseVertex)> &real, GLenum mode,
                               GLsizei count, GLenum type, const void *indices, GLint base) {
    draw(mode, type, false);
    real(mode, count, type, indices, base);
}

void draw_elements_indirect(Real<FUNCTION(DrawElementsIndirect)> &real, GLenum mode, GLenum type,
                            const void *indirect) {
    draw(mode, type, true);
    real(mode, type, indirect);
}

void draw_elements_instanced(Real<FUNCTION(DrawElementsInstanced)> &real, GLenum mode,
                             GLsizei count, GLenum type, const void *indices, GLsizei instances) {
    draw(mode, type, instances > 1);
    real(mode, count, type, indices, instances);
}

void draw_elements_instanced_base_instance(Real<FUNCTION(DrawElementsInstancedBaseInstance)> &real,
                                           GLenum mode, GLsizei count, GLenum type,
                                           const void *indices, GLsizei instances, GLuint base) {
    draw(mode, type, instances > 1);
    real(mode, count, type, indices, instances, base);
}

void draw_elements_instanced_base_vertex(Real<FUNCTION(DrawElementsInstancedBaseVertex)> &real,
                                         GLenum mode, GLsizei count, GLenum type,
                                         const void *indices, GLsizei instances, GLint base) {
    draw(mode, type, instances > 1);
    real(mode, count, type, indices, instances, base);
}

void draw_elements_instanced_base_vertex_base_instance(
    Real<FUNCTION(DrawElementsInstancedBaseVertexBaseInstance)> &real, GLenum mode, GLsizei count,
    GLenum type, const void *indices, GLsizei instances, GLint vertex, GLuint instance) {
    draw(mode, type, instances > 1);
    real(mode, count, type, indices, instances, vertex, instance);
}

void draw_range_elements(Real<FUNCTION(DrawRangeElements)> &real, GLenum mode, GLuint first,
                         GLuint last, GLsizei count, GLenum type, const void *indices) {
    draw(mode, type, false);
    real(mode, first, last, count, type, indices);
}

void draw_range_elements_base_vertex(Real<FUNCTION(DrawRangeElementsBaseVertex)> &real, GLenum mode,
                                     GLuint first, GLuint last, GLsizei count, GLenum type,
                                     const void *indices, GLint base) {
    draw(mode, type, false);
    real(mode, first, last, count, type, indices, base);
}

void multi_draw_arrays(Real<FUNCTION(MultiDrawArrays)> &real, GLenum mode, const GLint *first,
                       const GLsizei *count, GLsizei draws) {
    draw(mode, 0, false);
    real(mode, first, count, draws);
}

void multi_draw_arrays_indirect(Real<FUNCTION(MultiDrawArraysIndirect)> &real, GLenum mode,
                                const void *indirect, GLsizei draws, GLsizei stride) {
    draw(mode, 0, true);
    real(mode, indirect, draws, stride);
}

void multi_draw_elements(Real<FUNCTION(MultiDrawElements)> &real, GLenum mode, const GLsizei *count,
                         GLenum type, const void *const *indices, GLsizei draws) {
    draw(mode, type, false);
    real(mode, count, type, indices, draws);
}

void multi_draw_elements_base_vertex(Real<FUNCTION(MultiDrawElementsBaseVertex)> &real, GLenum mode,
                                     const GLsizei *count, GLenum type, const void *const *indices,
                                     GLsizei draws, const GLint *base) {
    draw(mode, type, false);
    real(mode, count, type, indices, draws, base);
}

void multi_draw_elements_indirect(Real<FUNCTION(MultiDrawElementsIndirect)> &real, GLenum mode,
                                  GLenum type, const void *indirect, GLsizei draws,
                                  GLsizei stride) {
    draw(mode, type, true);
    real(mode, type, indirect, draws, stride);
}

#undef FUNCTION

}  // namespace hooks

namespace {

#define NOTED(name, like, of, keys)                                                                \
    {"gl" #name, reinterpret_cast<void *>(&Noted<&Functions::name, Of::of, keys, number_of(#like), \
                                                 decltype(&::gl##like)>::function)},
#define HOOKED(name, like, hook) \
    {"gl" #name, reinterpret_cast<void *>(&Hooked<&Functions::name, &hooks::hook>::function)},
#define CALLED(name, like)
const NamedFunction kHooks[] = {RECORD_FUNCTIONS(NOTED, HOOKED, CALLED)};
#undef NOTED
#undef HOOKED
#undef CALLED

}  // namespace

const Functions *functions_of(void *(*find)(const char *name)) {
    auto *functions = new Functions;
#define X(name, like, ...) \
    functions->name = reinterpret_cast<decltype(&::gl##like)>(or_missing(find("gl" #name)));
    RECORD_FUNCTIONS(X, X, X)
#undef X
    return functions;
}

void *hook_of(const char *name) {
    return function_of_name(kHooks, name);
}

}  // namespace cairn::gl::record
