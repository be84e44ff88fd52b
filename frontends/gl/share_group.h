// The shader and program objects that a group of contexts shares.
// SPDX-License-Identifier: MIT
//
// The group has an object from its creation until the driver no longer knows its name. GL only
// flags a deleted object that is still attached or in use, so a look-up of a deleted object asks
// the driver whether it still lives.
//
// Thread safety: internally synchronised. Ownership: shared by its contexts. Failure: calls about
// an object that is not found go to the driver.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "program.h"
#include "shader.h"

namespace cairn::gl {

namespace record {
class Objects;
}

class ShareGroup {
  public:
    // By the functions of the vendor that made its contexts, which outlive the group.
    explicit ShareGroup(const GlFunctions &gl) : gl_(gl) {}

    // The driver has given this name to a new object, which replaces an older one of that name.
    void add_shader(GLuint name, GLenum type);
    ProgramRef add_program(GLuint name);
    // A name that the driver gave to something that is not tracked.
    void forget(GLuint name);

    // The object, or null when it is not tracked or no longer lives.
    ShaderRef shader(GLuint name) { return find(name).shader; }
    ProgramRef program(GLuint name) { return find(name).program; }

    // The driver has been told to delete the object.
    void deleted(GLuint name);

    // Set when a context begins transform feedback: from then on, some calls fail for reasons that
    // we do not track.
    std::atomic<bool> has_transform_feedback = false;

    // Set before the application names the first string that sources can include
    // (GL_ARB_shading_language_include): until then no source that compiles includes anything.
    std::atomic<bool> has_named_strings = false;

    // What is recorded of its objects; made by the first call.
    std::shared_ptr<record::Objects> recorded_objects();

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
    std::vector<ShaderRef> take_unsettled(const Key &traits);

  private:
    // A shader or a program.
    struct Object {
        ShaderRef shader = {};
        ProgramRef program = {};
        bool is_deleted = false;  // by the application; lives on while it is attached or in use
    };
    using Objects = std::unordered_map<GLuint, Object>;

    bool has_gone(const Objects::value_type &item) const;
    void add(GLuint name, Object object);
    Object find(GLuint name);

    const GlFunctions &gl_;

    Mutex mutex_;
    std::shared_ptr<record::Objects> recorded_objects_;  // guarded by mutex_
    // Guarded by mutex_.
    Objects objects_;            // shaders and programs have different names
    size_t deleted_ = 0;         // objects deleted since the last sweep, that lived on
    size_t deleted_limit_ = 64;  // sweep when so many are
    bool has_traits_ = false;
    Key traits_ = {};  // the first that were accepted

    std::atomic<bool> is_uniform_ = true;
    std::atomic<bool> is_unsettled_ = false;
};

}  // namespace cairn::gl
