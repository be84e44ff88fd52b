// SPDX-License-Identifier: MIT
#include "share_group.h"

#include <algorithm>

namespace cairn::egl {

void ShareGroup::add_shader(const GlFunctions &gl, GLuint name, GLenum type) {
    const MutexLock lock(mutex_);
    sweep_if_many(gl);
    programs_.forget(name);
    shaders_.add(name, type);
}

void ShareGroup::add_program(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    sweep_if_many(gl);
    shaders_.forget(name);
    programs_.add(name);
}

void ShareGroup::forget(GLuint name) {
    const MutexLock lock(mutex_);
    shaders_.forget(name);
    programs_.forget(name);
}

ShaderRef ShareGroup::shader(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    return shaders_.find(name, gl.IsShader);
}

ProgramRef ShareGroup::program(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    return programs_.find(name, gl.IsProgram);
}

void ShareGroup::shader_deleted(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    deleted_ += shaders_.flag(name, gl.IsShader) ? 1u : 0u;
}

void ShareGroup::program_deleted(const GlFunctions &gl, GLuint name) {
    const MutexLock lock(mutex_);
    deleted_ += programs_.flag(name, gl.IsProgram) ? 1u : 0u;
}

// Removes flagged objects that have gone since, when their program was deleted: no call tells of
// that.
void ShareGroup::sweep_if_many(const GlFunctions &gl) {
    if (deleted_ >= deleted_limit_) {
        deleted_ = shaders_.sweep(gl.IsShader) + programs_.sweep(gl.IsProgram);
        deleted_limit_ = std::max<size_t>(64, 2 * deleted_);
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

std::vector<ShaderRef> ShareGroup::take_unsettled(const GlFunctions &gl, const Key &traits) {
    const MutexLock lock(mutex_);
    std::vector<ShaderRef> shaders;
    if (has_traits_ && traits_ == traits && is_unsettled_) {
        shaders = shaders_.all(gl.IsShader);
        is_unsettled_ = false;
    }
    return shaders;
}

}  // namespace cairn::egl
