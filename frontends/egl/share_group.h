// The shader and program objects that a group of contexts shares.
// SPDX-License-Identifier: MIT
//
// Objects are entered when they are created and leave when the driver no longer knows their name.
// Deleting only flags what is still attached or in use, so a flagged object is looked up with a
// question to the driver whether it still lives.
//
// Thread safety: internally synchronised. Ownership: shared by its contexts. Failure: an object
// that is not found is the driver's alone; calls for it are passed through.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "program.h"
#include "shader.h"

namespace cairn::egl {

class ShareGroup {
  public:
    // New names, as the driver gave them. An older object of that name is forgotten.
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

    // Set when transform feedback was begun in some context: from then on, some calls fail for
    // reasons that are not tracked.
    std::atomic<bool> has_transform_feedback = false;

    // Set before the first string is named that sources can include
    // (GL_ARB_shading_language_include has nothing else to include): until then no source that
    // compiles includes anything.
    std::atomic<bool> has_named_strings = false;

    // False from the moment on that two contexts of the group would compile the same source
    // differently: then nothing is cached. `traits` are those of a context that begins to use the
    // group.
    bool accept(const Key &traits);
    // The same for a context that is only known to differ.
    void set_unlike();
    bool is_uniform() const { return is_uniform_; }

    // Whether there may be deferred shaders although the group is not uniform any more. They all
    // were deferred under the traits that were accepted first.
    bool is_unsettled() const { return is_unsettled_; }
    // Once, and for these traits: the shaders of which some may be deferred.
    std::vector<ShaderRef> take_unsettled(const GlFunctions &gl, const Key &traits);

  private:
    void sweep(const GlFunctions &gl);

    Mutex mutex_;
    // Guarded by mutex_.
    std::unordered_map<GLuint, ShaderRef> shaders_;
    std::unordered_map<GLuint, ProgramRef> programs_;
    size_t deleted_ = 0;         // objects flagged since the last sweep
    size_t deleted_limit_ = 64;  // sweep when so many are
    bool has_traits_ = false;
    Key traits_ = {};  // the first that were accepted

    std::atomic<bool> is_uniform_ = true;
    std::atomic<bool> is_unsettled_ = false;
};

}  // namespace cairn::egl
