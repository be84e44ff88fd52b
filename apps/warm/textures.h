// Textures and attachments of recorded kinds.
// SPDX-License-Identifier: MIT
//
// Thread safety: the thread on which the context is current. Ownership: a Scratch deletes what it
// made. Failure: what a driver does not know is left as it is; errors are the driver's.
#pragma once

#include <vector>

#include "gl.h"
#include "recipe/recipe.h"

namespace cairn::warm {

// Objects for one draw.
class Scratch {
  public:
    Scratch() = default;
    ~Scratch();
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    // A texture, bound to the active unit.
    GLuint make_texture(const recipe::Texture &texture);
    // Attaches what is recorded to the framebuffer that is bound.
    void attach(GLenum point, const recipe::Attachment &attachment);
    GLuint make_framebuffer();

  private:
    std::vector<GLuint> textures_, renderbuffers_, framebuffers_, buffers_;
};

}  // namespace cairn::warm
