// Shared by the scenarios: contexts, programs from sources, and a picture to draw.
// SPDX-License-Identifier: MIT
//
// Thread safety: a Context is used by one thread at a time. Failure: aborts where a scenario could
// not go on.
#pragma once

#include <initializer_list>

#include "gl.h"
#include "window_system.h"

namespace client {

inline constexpr int kPictureSize = 64;

// A context with a framebuffer of kPictureSize squared, made current.
class Context {
  public:
    explicit Context(Api api, const NativeContext *share = nullptr);
    // Takes it over.
    explicit Context(NativeContext *native);
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    void make_current() const;
    const NativeContext *native() const { return native_; }

  private:
    NativeContext *native_;
};

// Gives the context that is current a framebuffer of kPictureSize squared and a triangle.
void prepare_current();
bool is_desktop();
bool has_extension(const char *name);

GLuint make_shader(GLenum type, const char *source);
// Compiles, attaches and links; the shaders are left attached and are not deleted.
GLuint make_program(const char *vertex, const char *fragment);
GLuint make_program(std::initializer_list<GLuint> shaders);
// Without the link.
GLuint make_unlinked(std::initializer_list<GLuint> shaders);

// Clears and draws one triangle that covers the middle, with attribute 0 as the position, and notes
// the picture.
void draw(const char *title, GLuint program);
// The same with what is in use.
void draw_current(const char *title);

}  // namespace client
