// A context of a recorded kind, by EGL, and what it draws into.
// SPDX-License-Identifier: MIT
//
// Thread safety: the main thread. Failure: open() says why there is no such context.
#pragma once

#include <EGL/egl.h>

#include <optional>
#include <string>
#include <vector>

#include "recipe/recipe.h"

namespace cairn::warm {

class Display {
  public:
    Display() = default;
    // Ends the context and its display; drivers write what they have compiled.
    ~Display();
    Display(const Display &) = delete;
    Display &operator=(const Display &) = delete;

    // Makes a context of this kind, current. Returns why it cannot be had; "": it is there.
    std::string open(const recipe::ContextKind &kind);
    // Draws into a surface with as many of these bits as there is, from now on. False: none can be
    // had.
    bool draw_into(const recipe::Surface &surface);

    bool is_es() const { return is_es_; }
    // The context's version, 100 * major + minor.
    int version() const { return version_; }
    // The cache that the front end keeps programs in; "": none.
    std::string cache() const;

  private:
    struct Drawable {
        recipe::Surface surface;
        EGLSurface handle;
    };
    std::string open_display(EGLDisplay display, const recipe::ContextKind &kind);
    EGLConfig best_config(const recipe::Surface &surface) const;

    EGLDisplay display_ = EGL_NO_DISPLAY;
    EGLContext context_ = EGL_NO_CONTEXT;
    EGLConfig config_ = nullptr;  // of the context; null: it has none
    bool is_es_ = false;
    std::vector<Drawable> drawables_;
    int version_ = 0;
};

}  // namespace cairn::warm
