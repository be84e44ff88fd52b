// SPDX-License-Identifier: MIT
#include "share_group.h"

#include <algorithm>

namespace cairn::egl {

void ShareGroup::add_shader(const GlFunctions &gl, GLuint name, GLenum type) {
    const MutexLock lock(mutex_);
    if (deleted_ >= deleted_limit_) {
        sweep(gl);
    }
    programs_.erase(name);
    shaders_[name] = std::make_shared<Shader>(name, type);
}

void ShareGroup::add_program(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    if (deleted_ >= deleted_limit_) {
        sweep(gl);
    }
    shaders_.erase(name);
    programs_[name] = std::make_shared<Program>(name);
}

void ShareGroup::forget(GLuint name) {
    const MutexLock lock(mutex_);
    shaders_.erase(name);
    programs_.erase(name);
}

ShaderRef ShareGroup::shader(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    const auto found = shaders_.find(name);
    if (found == shaders_.end()) {
        return nullptr;
    }
    if (found->second->is_deleted && gl.IsShader(name) == GL_FALSE) {
        shaders_.erase(found);
        return nullptr;
    }
    return found->second;
}

ProgramRef ShareGroup::program(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    const auto found = programs_.find(name);
    if (found == programs_.end()) {
        return nullptr;
    }
    if (found->second->is_deleted && gl.IsProgram(name) == GL_FALSE) {
        programs_.erase(found);
        return nullptr;
    }
    return found->second;
}

void ShareGroup::shader_deleted(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    const auto found = shaders_.find(name);
    if (found == shaders_.end()) {
        return;
    }
    if (gl.IsShader(name) == GL_FALSE) {
        shaders_.erase(found);
    } else if (!found->second->is_deleted) {
        found->second->is_deleted = true;
        ++deleted_;
    }
}

void ShareGroup::program_deleted(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    const auto found = programs_.find(name);
    if (found == programs_.end()) {
        return;
    }
    if (gl.IsProgram(name) == GL_FALSE) {
        programs_.erase(found);
    } else if (!found->second->is_deleted) {
        found->second->is_deleted = true;
        ++deleted_;
    }
}

// Objects that were flagged and have gone since, when their program was deleted, leave nothing else
// to notice them by.
void ShareGroup::sweep(const GlFunctions &gl) {
    size_t alive = 0;
    std::erase_if(shaders_, [&](const auto &item) {
        const bool lives = !item.second->is_deleted || gl.IsShader(item.first) != GL_FALSE;
        alive += lives && item.second->is_deleted ? 1u : 0u;
        return !lives;
    });
    std::erase_if(programs_, [&](const auto &item) {
        const bool lives = !item.second->is_deleted || gl.IsProgram(item.first) != GL_FALSE;
        alive += lives && item.second->is_deleted ? 1u : 0u;
        return !lives;
    });
    deleted_ = alive;
    deleted_limit_ = std::max<size_t>(64, 2 * alive);
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

std::vector<ShaderRef> ShareGroup::take_unsettled(const GlFunctions &gl, const Key &traits) {
    const MutexLock lock(mutex_);
    std::vector<ShaderRef> shaders;
    if (!has_traits_ || traits_ != traits || !is_unsettled_.exchange(false)) {
        return shaders;
    }
    for (const auto &[name, shader] : shaders_) {
        if (!shader->is_deleted || gl.IsShader(name) != GL_FALSE) {
            shaders.push_back(shader);
        }
    }
    return shaders;
}

}  // namespace cairn::egl
