// Notices when the state of a context may have changed, by the calls that change it.
// SPDX-License-Identifier: MIT
//
// A context has a hash of what was set in it and of the objects that are bound. A texture counts by
// its format and parameters, not by its name, so that an application which draws with ever new
// textures of one kind has the same hash again and again.
//
// Thread safety: a Tracker belongs to the thread on which its context is current; Objects are shared,
// and lock themselves. Ownership: Objects are the share group's, and are never freed before it.
// Failure: throws without memory; then the hash is older than the state.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "gl/functions.h"
#include "gl/mutex.h"
#include "recipe/recipe.h"
#include "record/slots.h"

namespace cairn::gl::record {

// Uniforms of a linked program that name units.
struct UnitUniform {
    std::string name;
    GLenum type = 0;
    GLint size = 1;  // elements
    std::vector<GLint> locations;
};

// What a driver lists of a linked program.
struct ProgramInterface {
    std::vector<UnitUniform> uniforms;
    std::vector<GLuint> attributes;  // locations, sorted
};

// A program that was linked; what is known of it.
struct LinkedProgram {
    bool has_recipe = false;
    recipe::Key key = {};
    unsigned states = 0;                                // that were stored in this process
    std::shared_ptr<const ProgramInterface> interface;  // null: not asked yet
};

// What has a program's name: one after the other, if it is linked anew, or deleted.
struct ProgramObject {
    LinkedProgram linked;
    Slots units;                      // that its uniforms name
    std::atomic<uint64_t> links = 0;  // how many there were
};

enum class ObjectKind { texture, sampler, renderbuffer };

// A texture, sampler or renderbuffer.
struct Object {
    Slots slots;
    // Of a texture, how it was made.
    std::atomic<GLenum> target = 0;  // that it was first bound to; 0: not known
    recipe::Upload upload;
};

// How a texture was made.
struct HowMade {
    GLenum target = 0;
    recipe::Upload upload;
};

// A framebuffer: what was set in it, and what is attached, which may still change.
struct Framebuffer {
    Slots slots;
    std::vector<std::pair<GLenum, const Slots *>> attached;  // by their points

    uint64_t hash() const {
        uint64_t hash = slots.hash();
        for (const auto &[point, object] : attached) hash += mixed(point, object->hash());
        return hash;
    }
};

// The objects of a share group.
class Objects {
  public:
    Mutex &mutex() { return mutex_; }
    // The following need the mutex. References stay valid.
    Object &object(ObjectKind kind, GLuint name) {
        return objects_[static_cast<size_t>(kind)][name];
    }
    ProgramObject &program(GLuint name) { return programs_[name]; }

    // The following do not.
    HowMade how_made(GLuint texture) {
        const MutexLock lock(mutex_);
        const Object &object = objects_[static_cast<size_t>(ObjectKind::texture)][texture];
        return {object.target.load(std::memory_order_relaxed), object.upload};
    }

  private:
    Mutex mutex_;
    // Guarded by mutex_.
    std::array<ByName<Object>, 3> objects_;
    ByName<ProgramObject> programs_;
};

// How many places a context has.
struct Limits {
    GLuint units = 0;
    GLuint draw_buffers = 0;
    GLuint vertex_buffers = 0;
    GLuint images = 0;
};

class Tracker {
  public:
    Tracker(std::shared_ptr<Objects> objects, const Limits &limits)
        : objects_(std::move(objects)), limits_(limits) {}

    Objects &objects() { return *objects_; }
    const Limits &limits() const { return limits_; }
    // How many there are from this one on.
    size_t units_from(GLuint first) const { return limits_.units - std::min(first, limits_.units); }
    size_t vertex_buffers_from(GLuint first) const {
        return limits_.vertex_buffers - std::min(first, limits_.vertex_buffers);
    }
    size_t images_from(GLuint first) const {
        return limits_.images - std::min(first, limits_.images);
    }

    // States of the context: of all faces or buffers, or of one, which the next call for all changes.
    void set(uint64_t name, uint64_t value);
    void set_part(uint64_t name, uint64_t part, uint64_t value);
    // glPushAttrib, glPopAttrib.
    void push();
    void pop();
    // Of the object that is bound, or named.
    void set_of_texture(GLenum target, uint64_t name, uint64_t value);
    void set_upload(GLenum target, const recipe::Upload &upload);
    void set_of(ObjectKind kind, GLuint object, uint64_t name, uint64_t value);
    void set_of_renderbuffer(uint64_t name, uint64_t value) {
        set_of(ObjectKind::renderbuffer, renderbuffer_, name, value);
    }
    void set_of_vertex_array(GLuint array, uint64_t name, uint64_t value) {
        vertex_arrays_[array].set(name, value);
    }
    void set_of_bound_vertex_array(uint64_t name, uint64_t value) {
        vertex_array_->set(name, value);
    }
    void set_of_framebuffer(GLuint framebuffer, uint64_t name, uint64_t value) {
        framebuffers_[framebuffer].slots.set(name, value);
    }
    void attach(GLenum target, GLenum point, ObjectKind kind, GLuint object, uint64_t how) {
        attach(bound_framebuffer(target), point, kind, object, how);
    }
    void attach_to(GLuint framebuffer, GLenum point, ObjectKind kind, GLuint object, uint64_t how) {
        attach(framebuffers_[framebuffer], point, kind, object, how);
    }
    void set_of_bound_framebuffer(GLenum target, uint64_t name, uint64_t value);
    // An attribute's pointer, as far from the first one since the last draw: where all of them are
    // does not count.
    uint64_t step_to(const void *pointer);
    void end_steps() { first_pointer_ = 0; }
    void bind_array_buffer(bool is_there) { has_array_buffer_ = is_there; }
    bool has_array_buffer() const { return has_array_buffer_; }
    // Windows may have other formats, depths and samples.
    void draw_to_window(uint64_t window) { window_number_ = window; }

    // A unit that is not there is not activated.
    void activate(GLuint unit) {
        if (unit < limits_.units) unit_ = unit;
    }
    GLuint active_unit() const { return unit_; }
    // With the target 0, whatever the texture's is.
    void bind_texture(GLuint unit, GLenum target, GLuint texture);
    void bind_sampler(GLuint unit, GLuint sampler);
    void bind_vertex_array(GLuint array) {
        vertex_array_name_ = array;
        vertex_array_ = &vertex_arrays_[array];
    }
    GLuint vertex_array() const { return vertex_array_name_; }
    void bind_framebuffer(GLenum target, GLuint framebuffer);
    void bind_renderbuffer(GLuint renderbuffer) { renderbuffer_ = renderbuffer; }
    void use_program(GLuint program);
    GLuint program() const { return program_; }
    // Of what this name stands for at present.
    uint64_t hash_of_program() const {
        const uint64_t links = used_ == nullptr ? 0 : used_->links.load(std::memory_order_relaxed);
        const uint64_t units = used_ == nullptr ? 0 : used_->units.hash();
        return mixed(mixed(program_, links), units);
    }
    // What has this name from now on, is another object.
    void delete_object(ObjectKind kind, GLuint name);
    void delete_vertex_array(GLuint array);
    void delete_framebuffer(GLuint framebuffer);
    // Of what such an object is.
    uint64_t hash_of(ObjectKind kind, GLuint object);
    // Of the whole state but for the program.
    uint64_t hash() const;

  private:
    struct Bound {
        uint64_t place = 0;  // unit and target
        GLuint name = 0;
        const Slots *slots = nullptr;
    };
    Object &texture(GLuint name);
    std::vector<Bound>::iterator bound_at(uint64_t place);
    void bind(uint64_t place, GLuint name, const Slots &slots);
    void unbind(uint64_t place);
    GLuint bound_texture(GLenum target);
    Framebuffer &bound_framebuffer(GLenum target) {
        return target == GL_READ_FRAMEBUFFER ? *read_framebuffer_ : *draw_framebuffer_;
    }
    void attach(Framebuffer &framebuffer, GLenum point, ObjectKind kind, GLuint name, uint64_t how);

    const std::shared_ptr<Objects> objects_;
    const Limits limits_;
    Slots own_;
    std::vector<Bound> bound_;  // textures and samplers
    // Of objects_, that were found before: binding needs no lock.
    ByName<Object *> textures_;
    ByName<const ProgramObject *> programs_;
    ByName<Slots> vertex_arrays_;
    ByName<Framebuffer> framebuffers_;
    std::vector<std::pair<uint64_t, uint64_t>> parts_;  // the names of states, and those of parts
    std::vector<Slots> pushed_;
    uint64_t popped_ = 0;
    GLuint unit_ = 0;
    // What is bound.
    Slots *vertex_array_ = &vertex_arrays_[0];
    Framebuffer *const window_ = &framebuffers_[0];
    Framebuffer *draw_framebuffer_ = window_, *read_framebuffer_ = window_;
    uint64_t window_number_ = 0;
    GLuint renderbuffer_ = 0;
    GLuint vertex_array_name_ = 0;
    GLuint program_ = 0;
    const ProgramObject *used_ = nullptr;
    bool has_array_buffer_ = false;
    uint64_t first_pointer_ = 0;  // and 1; 0: none
};

}  // namespace cairn::gl::record
