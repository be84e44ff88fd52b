// SPDX-License-Identifier: MIT
#include "record/tracker.h"

#include <algorithm>

namespace cairn::gl::record {
namespace {

constexpr GLenum kSamplerTarget = 1;  // no target of textures
constexpr uint64_t kAsTheWhole = ~uint64_t{0};
constexpr uint64_t kAttachment = 0x61747461;
// More than any driver has.
constexpr size_t kPartsMax = 1024, kPushedMax = 64, kAttachedMax = 64;

uint64_t place_of(GLuint unit, GLenum target) {
    return uint64_t{unit} << 32 | target;
}

}  // namespace

void Tracker::set(uint64_t name, uint64_t value) {
    own_.set(name, value);
    for (const auto &[whole, part] : parts_) {
        if (whole == name) own_.set(part, kAsTheWhole);
    }
}

void Tracker::set_part(uint64_t name, uint64_t part, uint64_t value) {
    const std::pair known(name, mixed(mixed(0, name), part));
    if (std::ranges::find(parts_, known) == parts_.end()) {
        if (parts_.size() >= kPartsMax) return;
        parts_.push_back(known);
    }
    own_.set(known.second, value);
}

void Tracker::push() {
    if (pushed_.size() < kPushedMax) pushed_.push_back(own_);
}

// What was set since the push may have been of a kind that it did not save.
void Tracker::pop() {
    if (pushed_.empty()) return;
    popped_ = mixed(own_.hash(), pushed_.back().hash());
    own_ = pushed_.back();
    pushed_.pop_back();
}

void Tracker::set_of(ObjectKind kind, GLuint object, uint64_t name, uint64_t value) {
    const MutexLock lock(objects_->mutex());
    objects_->object(kind, object).slots.set(name, value);
}

std::vector<Tracker::Bound>::iterator Tracker::bound_at(uint64_t place) {
    return std::ranges::find(bound_, place, &Bound::place);
}

GLuint Tracker::bound_texture(GLenum target) {
    // A cube's faces are images of one texture.
    if (target >= GL_TEXTURE_CUBE_MAP_POSITIVE_X && target <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z) {
        target = GL_TEXTURE_CUBE_MAP;
    }
    const auto bound = bound_at(place_of(unit_, target));
    return bound == bound_.end() ? 0 : bound->name;
}

void Tracker::set_of_texture(GLenum target, uint64_t name, uint64_t value) {
    set_of(ObjectKind::texture, bound_texture(target), name, value);
}

void Tracker::set_upload(GLenum target, const recipe::Upload &upload) {
    const MutexLock lock(objects_->mutex());
    objects_->object(ObjectKind::texture, bound_texture(target)).upload = upload;
}

void Tracker::set_of_bound_framebuffer(GLenum target, uint64_t name, uint64_t value) {
    bound_framebuffer(target).slots.set(name, value);
}

void Tracker::attach(Framebuffer &framebuffer, GLenum point, ObjectKind kind, GLuint name,
                     uint64_t how) {
    framebuffer.slots.set(mixed(kAttachment, point), name == 0 ? 0 : how + 1);
    auto &all = framebuffer.attached;
    std::erase_if(all, [point](const auto &attached) { return attached.first == point; });
    if (name == 0 || all.size() >= kAttachedMax) return;
    const MutexLock lock(objects_->mutex());
    all.emplace_back(point, &objects_->object(kind, name).slots);
}

uint64_t Tracker::step_to(const void *pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (first_pointer_ == 0) first_pointer_ = address + 1;
    constexpr uint64_t kNear = 2048;
    const uint64_t step = address + 1 - first_pointer_ + kNear;
    return step < 2 * kNear ? step : 2 * kNear;
}

void Tracker::bind(uint64_t place, GLuint name, const Slots &slots) {
    const Bound bound = {place, name, &slots};
    if (const auto found = bound_at(place); found != bound_.end()) {
        *found = bound;
    } else {
        bound_.push_back(bound);
    }
}

void Tracker::unbind(uint64_t place) {
    const auto found = bound_at(place);
    if (found == bound_.end()) return;
    *found = bound_.back();
    bound_.pop_back();
}

Object &Tracker::texture(GLuint name) {
    Object *&known = textures_[name];
    if (known == nullptr) {
        const MutexLock lock(objects_->mutex());
        known = &objects_->object(ObjectKind::texture, name);
    }
    return *known;
}

void Tracker::bind_texture(GLuint unit, GLenum target, GLuint texture) {
    if (unit >= limits_.units) return;
    if (texture == 0 && target == 0) {  // glBindTextureUnit: of all targets
        std::erase_if(bound_, [unit](const Bound &bound) {
            return bound.place >> 32 == unit && bound.place != place_of(unit, kSamplerTarget);
        });
    } else if (texture == 0) {
        unbind(place_of(unit, target));
    } else {
        Object &object = this->texture(texture);
        GLenum known = object.target.load(std::memory_order_relaxed);
        if (known == 0) object.target.store(known = target, std::memory_order_relaxed);
        bind(place_of(unit, target == 0 ? known : target), texture, object.slots);
    }
}

void Tracker::bind_sampler(GLuint unit, GLuint sampler) {
    if (unit >= limits_.units) return;
    if (sampler == 0) return unbind(place_of(unit, kSamplerTarget));
    const MutexLock lock(objects_->mutex());
    bind(place_of(unit, kSamplerTarget), sampler,
         objects_->object(ObjectKind::sampler, sampler).slots);
}

void Tracker::bind_framebuffer(GLenum target, GLuint framebuffer) {
    Framebuffer *bound = &framebuffers_[framebuffer];
    if (target != GL_READ_FRAMEBUFFER) draw_framebuffer_ = bound;
    if (target != GL_DRAW_FRAMEBUFFER) read_framebuffer_ = bound;
}

void Tracker::use_program(GLuint program) {
    program_ = program;
    const ProgramObject *&known = programs_[program];
    if (known == nullptr) {
        const MutexLock lock(objects_->mutex());
        known = &objects_->program(program);
    }
    used_ = known;
}

void Tracker::delete_object(ObjectKind kind, GLuint name) {
    if (name == 0) return;
    const MutexLock lock(objects_->mutex());
    Object &object = objects_->object(kind, name);
    std::erase_if(bound_, [&](const Bound &bound) { return bound.slots == &object.slots; });
    if (kind == ObjectKind::renderbuffer && renderbuffer_ == name) renderbuffer_ = 0;
    // Another context may have it bound, so its place stays.
    object.slots.clear();
    object.target = 0;
    object.upload = {};
}

void Tracker::delete_vertex_array(GLuint array) {
    if (array == 0) return;
    if (vertex_array_ == &vertex_arrays_[array]) bind_vertex_array(0);
    vertex_arrays_.erase(array);
}

void Tracker::delete_framebuffer(GLuint framebuffer) {
    if (framebuffer == 0) return;
    const Framebuffer *deleted = &framebuffers_[framebuffer];
    if (draw_framebuffer_ == deleted) bind_framebuffer(GL_DRAW_FRAMEBUFFER, 0);
    if (read_framebuffer_ == deleted) bind_framebuffer(GL_READ_FRAMEBUFFER, 0);
    framebuffers_.erase(framebuffer);
}

uint64_t Tracker::hash_of(ObjectKind kind, GLuint object) {
    if (object == 0) return 0;
    const MutexLock lock(objects_->mutex());
    return mixed(1, objects_->object(kind, object).slots.hash());
}

uint64_t Tracker::hash() const {
    uint64_t hash = mixed(own_.hash(), popped_);
    hash = mixed(hash, draw_framebuffer_ == window_ ? 1 + window_number_ : 0);
    hash = mixed(hash, vertex_array_->hash());
    hash = mixed(hash, draw_framebuffer_->hash());
    uint64_t all = 0;
    for (const Bound &bound : bound_) all += mixed(bound.place, bound.slots->hash());
    return mixed(hash, all);
}

}  // namespace cairn::gl::record
