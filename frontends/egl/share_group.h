// The shader and program objects that a group of contexts shares.
// SPDX-License-Identifier: MIT
//
// The group has an object from its creation until the driver no longer knows its name. GL only
// flags a deleted object that is still attached or in use, so a look-up of a flagged object asks
// the driver whether it still lives.
//
// Thread safety: internally synchronised. Ownership: shared by its contexts. Failure: calls about
// an object that is not found go to the driver.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program.h"
#include "shader.h"

namespace cairn::egl {

// The objects of one kind by name. Externally synchronised.
template <typename Object>
class ObjectTable {
  public:
    using Ref = std::shared_ptr<Object>;
    using IsObject = GLboolean (*)(GLuint name);  // the driver's glIsShader, glIsProgram

    // Replaces an older object of that name. That one goes also where there is no memory for the
    // new.
    template <typename... Arguments>
    void add(GLuint name, Arguments... arguments) {
        objects_.erase(name);
        objects_.emplace(name, std::make_shared<Object>(name, arguments...));
    }
    void forget(GLuint name) { objects_.erase(name); }
    // Null when it is not tracked or no longer lives.
    Ref find(GLuint name, IsObject is_object) {
        const auto found = objects_.find(name);
        if (found == objects_.end()) {
            return nullptr;
        }
        if (has_gone(*found, is_object)) {
            objects_.erase(found);
            return nullptr;
        }
        return found->second;
    }
    // The driver has been told to delete it. Whether it lives on, flagged from now on.
    bool flag(GLuint name, IsObject is_object) {
        const auto found = objects_.find(name);
        if (found == objects_.end() || found->second->is_deleted) {
            return false;
        }
        found->second->is_deleted = true;
        return find(name, is_object) != nullptr;
    }
    // Returns how many are flagged and live on.
    size_t sweep(IsObject is_object) {
        size_t alive = 0;
        std::erase_if(objects_, [&](const auto &item) {
            const bool is_gone = has_gone(item, is_object);
            alive += !is_gone && item.second->is_deleted ? 1u : 0u;
            return is_gone;
        });
        return alive;
    }
    // Those that live.
    std::vector<Ref> all(IsObject is_object) const {
        std::vector<Ref> refs;
        for (const auto &item : objects_) {
            if (!has_gone(item, is_object)) {
                refs.push_back(item.second);
            }
        }
        return refs;
    }

  private:
    static bool has_gone(const std::pair<const GLuint, Ref> &item, IsObject is_object) {
        return item.second->is_deleted && is_object(item.first) == GL_FALSE;
    }

    std::unordered_map<GLuint, Ref> objects_;
};

class ShareGroup {
  public:
    // The driver has given this name to a new object, which replaces an older one of that name.
    void add_shader(const GlFunctions &gl, GLuint name, GLenum type);
    void add_program(const GlFunctions &gl, GLuint name);
    // A name that the driver gave to something that is not tracked.
    void forget(GLuint name);

    // The object, or null when it is not tracked or no longer lives.
    ShaderRef shader(const GlFunctions &gl, GLuint name);
    ProgramRef program(const GlFunctions &gl, GLuint name);

    // The driver has been told to delete these.
    void shader_deleted(const GlFunctions &gl, GLuint name);
    void program_deleted(const GlFunctions &gl, GLuint name);

    // Set when a context begins transform feedback: from then on, some calls fail for reasons that
    // we do not track.
    std::atomic<bool> has_transform_feedback = false;

    // Set before the application names the first string that sources can include
    // (GL_ARB_shading_language_include): until then no source that compiles includes anything.
    std::atomic<bool> has_named_strings = false;

    // A context with these traits begins to use the group. False once two contexts of the group
    // would compile the same source differently: then nothing is cached.
    bool accept(const Key &traits);
    // The same for a context that is only known to differ.
    void set_unlike();
    bool is_uniform() const { return is_uniform_; }

    // Whether there may be deferred shaders although the group is not uniform any more. They all
    // were deferred under the traits that were accepted first.
    bool is_unsettled() const { return is_unsettled_; }
    // All shaders, of which some may be deferred, if they were deferred under these traits; once.
    std::vector<ShaderRef> take_unsettled(const GlFunctions &gl, const Key &traits);

  private:
    void sweep_if_many(const GlFunctions &gl);

    Mutex mutex_;
    // Guarded by mutex_.
    ObjectTable<Shader> shaders_;
    ObjectTable<Program> programs_;
    size_t deleted_ = 0;         // objects flagged since the last sweep
    size_t deleted_limit_ = 64;  // sweep when so many are
    bool has_traits_ = false;
    Key traits_ = {};  // the first that were accepted

    std::atomic<bool> is_uniform_ = true;
    std::atomic<bool> is_unsettled_ = false;
};

}  // namespace cairn::egl
