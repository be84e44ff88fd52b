// SPDX-License-Identifier: MIT
#include "share_group.h"

#include <algorithm>
#include <utility>

#include "record/tracker.h"

namespace cairn::gl {

bool ShareGroup::has_gone(const Objects::value_type &item) const {
    const auto &[name, object] = item;
    const auto is_object = object.shader != nullptr ? gl_.IsShader : gl_.IsProgram;
    return object.is_deleted && is_object(name) == GL_FALSE;
}

// The older object goes first: without memory for the new one, the name is not tracked.
void ShareGroup::add_shader(GLuint name, GLenum type) {
    forget(name);
    add(name, {.shader = std::make_shared<Shader>(name, type)});
}

ProgramRef ShareGroup::add_program(GLuint name) {
    forget(name);
    auto program = std::make_shared<Program>(name);
    add(name, {.program = program});
    return program;
}

void ShareGroup::add(GLuint name, Object object) {
    const MutexLock lock(mutex_);
    // Removes deleted objects that have gone since, when their program was deleted: no call tells
    // of that.
    if (deleted_ >= deleted_limit_) {
        std::erase_if(objects_, [this](const auto &item) { return has_gone(item); });
        deleted_ = static_cast<size_t>(
            std::count_if(objects_.begin(), objects_.end(),
                          [](const auto &item) { return item.second.is_deleted; }));
        deleted_limit_ = std::max<size_t>(64, 2 * deleted_);
    }
    objects_[name] = std::move(object);
}

void ShareGroup::forget(GLuint name) {
    const MutexLock lock(mutex_);
    objects_.erase(name);
}

ShareGroup::Object ShareGroup::find(GLuint name) {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(name);
    if (found == objects_.end()) return {};
    if (has_gone(*found)) {
        objects_.erase(found);
        return {};
    }
    return found->second;
}

void ShareGroup::deleted(GLuint name) {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(name);
    if (found == objects_.end() || found->second.is_deleted) return;
    found->second.is_deleted = true;
    if (has_gone(*found)) {
        objects_.erase(found);
    } else {
        ++deleted_;
    }
}

bool ShareGroup::accept(const Key &traits) {
    const MutexLock lock(mutex_);
    if (!has_traits_) {
        has_traits_ = true;
        traits_ = traits;
    }
    if (traits_ != traits) {
        set_unlike();
    }
    return is_uniform_;
}

void ShareGroup::set_unlike() {
    if (is_uniform_.exchange(false)) {
        is_unsettled_ = true;
    }
}

std::vector<ShaderRef> ShareGroup::take_unsettled(const Key &traits) {
    const MutexLock lock(mutex_);
    std::vector<ShaderRef> shaders;
    if (has_traits_ && traits_ == traits && is_unsettled_) {
        for (const auto &item : objects_) {
            if (item.second.shader != nullptr && !has_gone(item)) {
                shaders.push_back(item.second.shader);
            }
        }
        is_unsettled_ = false;
    }
    return shaders;
}

std::shared_ptr<record::Objects> ShareGroup::recorded_objects() {
    const MutexLock lock(mutex_);
    if (recorded_objects_ == nullptr) recorded_objects_ = std::make_shared<record::Objects>();
    return recorded_objects_;
}

}  // namespace cairn::gl
