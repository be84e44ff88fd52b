// Draws with a program in a recorded state.
// SPDX-License-Identifier: MIT
//
// Thread safety: the thread on which the context is current. Failure: a state that the context does
// not know, or in which it cannot draw, is skipped.
#pragma once

#include <map>
#include <vector>

#include "display.h"
#include "gl.h"
#include "recipe/recipe.h"

namespace cairn::warm {

// In which an application draws in this state, as drivers see it. Mesa takes attributes that lie in one
// buffer together, until the application has changed the vertex array often; then it takes each by
// itself, and compiles for that.
std::vector<recipe::DrawState> ways_to_draw(const recipe::DrawState &state);

class Painter {
  public:
    // REQUIRES: the display's context is current, and stays so.
    explicit Painter(Display &display);

    // Draws three vertices, or more where the primitive needs them. True: without an error.
    bool draw(GLuint program, const recipe::DrawState &state);

  private:
    bool set_framebuffer(const recipe::Framebuffer &framebuffer, class Scratch &scratch);
    void set_values(const recipe::Values &values);
    void set_value(GLenum name, GLint value, bool is_switch);
    void set_stencil();
    void set_color_buffers(const std::vector<recipe::ColorBuffer> &buffers);
    void set_units(GLuint program, const recipe::DrawState &state, class Scratch &scratch);
    void set_attributes(const std::vector<recipe::Attribute> &attributes);
    bool draw_vertices(const recipe::DrawState &state) const;
    void make_array();
    GLuint vertex_buffer(size_t group);
    GLint value_of(GLenum name) const;

    Display &display_;
    std::map<GLenum, GLint> values_;  // that are not what GL begins with
    GLuint array_ = 0;                // 0: there is none
    GLuint indices_ = 0;
    std::vector<GLuint> attributes_;  // arrays that are on
    std::vector<GLuint> vertex_buffers_;
};

}  // namespace cairn::warm
