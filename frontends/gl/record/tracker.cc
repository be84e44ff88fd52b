// SPDX-License-Identifier: MIT
#include "record/tracker.h"

#include <algorithm>

namespace cairn::gl::record {
namespace {

constexpr GLenum kSamplerTarget = 1;  // no target of textures

uint64_t place_of(GLuint unit, GLenum target) {
    return uint64_t{unit} << 32 | target;
}

}  // namespace

void Tracker::set_of(ObjectKind kind, GLuint object, uint64_t name, uint64_t value) {
    const MutexLock lock(objects_->mutex());
    objects_->slots(kind, object).set(name, value);
}

GLuint Tracker::bound_texture(GLenum target) const {
    // A cube's faces are images of one texture.
    if (target >= GL_TEXTURE_CUBE_MAP_POSITIVE_X && target <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z) {
        target = GL_TEXTURE_CUBE_MAP;
    }
    const Bound *bound = bound_at(place_of(unit_, target));
    return bound == nullptr ? 0 : bound->name;
}

void Tracker::set_of_texture(GLenum target, uint64_t name, uint64_t value) {
    set_of(ObjectKind::texture, bound_texture(target), name, value);
}

void Tracker::set_upload(GLenum target, const recipe::Upload &upload) {
    const MutexLock lock(objects_->mutex());
    objects_->texture(bound_texture(target)).upload = upload;
}

void Tracker::set_of_framebuffer(GLenum target, uint64_t name, uint64_t value) {
    const GLuint bound = target == GL_READ_FRAMEBUFFER ? read_framebuffer_ : draw_framebuffer_;
    framebuffers_[bound].set(name, value);
}

uint64_t Tracker::step_to(const void *pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const uintptr_t step = address - last_pointer_;
    last_pointer_ = address;
    constexpr uintptr_t kNear = 2048;
    return step < kNear ? step : kNear;
}

const Tracker::Bound *Tracker::bound_at(uint64_t place) const {
    const auto found = std::ranges::find(bound_, place, &Bound::place);
    return found == bound_.end() ? nullptr : &*found;
}

void Tracker::bind(uint64_t place, ObjectKind kind, GLuint name) {
    const auto found = std::ranges::find(bound_, place, &Bound::place);
    if (found != bound_.end() && found->name == name) return;
    if (name == 0) {
        if (found != bound_.end()) {
            *found = bound_.back();
            bound_.pop_back();
        }
        return;
    }
    const MutexLock lock(objects_->mutex());
    const Bound bound = {place, name, &objects_->slots(kind, name)};
    if (found != bound_.end()) {
        *found = bound;
    } else {
        bound_.push_back(bound);
    }
}

void Tracker::bind_texture(GLuint unit, GLenum target, GLuint texture) {
    if (target == 0 && texture == 0) {  // glBindTextureUnit: of all targets
        std::erase_if(bound_, [unit](const Bound &bound) {
            return bound.place >> 32 == unit && bound.place != place_of(unit, kSamplerTarget);
        });
        return;
    }
    {
        const MutexLock lock(objects_->mutex());
        GLenum &known = objects_->texture(texture).target;
        if (known == 0) known = target;
        if (target == 0) target = known;
    }
    bind(place_of(unit, target), ObjectKind::texture, texture);
}

void Tracker::bind_sampler(GLuint unit, GLuint sampler) {
    bind(place_of(unit, kSamplerTarget), ObjectKind::sampler, sampler);
}

void Tracker::bind_framebuffer(GLenum target, GLuint framebuffer) {
    if (target != GL_READ_FRAMEBUFFER) draw_framebuffer_ = framebuffer;
    if (target != GL_DRAW_FRAMEBUFFER) read_framebuffer_ = framebuffer;
}

uint64_t Tracker::hash_of(ObjectKind kind, GLuint object) {
    if (object == 0) return 0;
    const MutexLock lock(objects_->mutex());
    return mixed(1, objects_->slots(kind, object).hash());
}

uint64_t Tracker::hash() {
    uint64_t hash = mixed(own_.hash(), draw_framebuffer_ == 0 ? 1 : 2);
    hash = mixed(hash, vertex_arrays_[vertex_array_].hash());
    hash = mixed(hash, framebuffers_[draw_framebuffer_].hash());
    uint64_t all = 0;
    for (const Bound &bound : bound_) all += mixed(bound.place, bound.slots->hash());
    return mixed(hash, all);
}

}  // namespace cairn::gl::record
