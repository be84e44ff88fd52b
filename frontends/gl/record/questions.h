// Asks a driver for all of a context's state that it compiles for: a recipe::DrawState.
// SPDX-License-Identifier: MIT
//
// The questions change nothing that the application can see, but for errors, which the caller takes
// back (recorder.h), and GL_ACTIVE_TEXTURE and bindings, which are put back.
//
// Thread safety: the thread on which the context is current. Failure: what a driver does not answer
// has its initial value; throws without memory.
#pragma once

#include <memory>
#include <vector>

#include "gl/functions.h"
#include "record/functions.h"
#include "record/tracker.h"

namespace cairn::gl::record {

// A draw, as its call says.
struct Draw {
    GLenum mode = 0;        // recipe::DrawState::kDispatch: no draw
    GLenum index_type = 0;  // 0: no indices
    bool is_instanced = false;
};

// Where an attribute's first vertex is.
struct AttributePlace {
    GLint buffer = 0;
    uint64_t offset = 0;
};

constexpr uint32_t number(GLint value) {
    return static_cast<uint32_t>(value);
}

class Questions {
  public:
    static constexpr GLint kUnitsMax = 256;

    // The version of the context is 100 * major + minor.
    Questions(const GlFunctions &gl, const Functions &more, bool is_es, int version)
        : gl_(gl), more_(more), is_es_(is_es), version_(version) {}

    // REQUIRES: the program was linked.
    std::shared_ptr<const ProgramInterface> list(GLuint name) const;
    // The state for a draw with this program.
    recipe::DrawState ask(const Draw &draw, GLuint name, const ProgramInterface &program,
                          Objects &objects);

  private:
    // From OpenGL or OpenGL ES of these versions on; 0: not there.
    bool has(int gl, int es) const {
        const int since = is_es_ ? es : gl;
        return since != 0 && version_ >= since;
    }
    std::vector<GLuint> free_uniforms(GLuint name) const;
    GLint integer(GLenum name) const;
    GLint integer_of(GLenum name, GLuint index) const;
    void ask_values(recipe::Values &values);
    recipe::Framebuffer ask_framebuffer(Objects &objects) const;
    recipe::Surface ask_surface() const;
    recipe::Attachment ask_attachment(GLenum point, Objects &objects) const;
    GLenum format_of_renderbuffer(GLuint name) const;
    GLenum target_of_texture(GLuint name) const;
    GLenum format_of_texture(GLenum target, GLuint name, GLint level, GLint face) const;
    std::vector<recipe::ColorBuffer> ask_color_buffers(size_t count) const;
    void ask_units(GLuint name, const ProgramInterface &program, Objects &objects,
                   recipe::DrawState &state) const;
    void ask_image(const recipe::Binding &image, recipe::DrawState &state) const;
    recipe::Texture ask_texture(GLenum target, GLuint sampler, Objects &objects) const;
    recipe::Texture ask_bound_texture(GLenum target) const;
    void ask_parameters(GLenum target, GLuint sampler, recipe::Values &values) const;
    recipe::Attribute ask_attribute(GLuint location, AttributePlace &place) const;
    std::vector<recipe::Attribute> ask_attributes(const ProgramInterface &program) const;

    const GlFunctions &gl_;
    const Functions &more_;
    const bool is_es_;
    const int version_;
    // The parameters that the driver knows; found out at the first state.
    bool has_found_known_ = false;
    std::vector<size_t> known_;
};

}  // namespace cairn::gl::record
