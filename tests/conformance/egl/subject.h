// The EGL library that is judged, found at run time, with a display, contexts and programs.
// SPDX-License-Identifier: MIT
//
// The subject is either the system's libEGL with Cairn's front end behind it, or ANGLE's libEGL by
// itself, the reference. Both are driven through the same functions.
//
// Thread safety: externally synchronised, but for `egl` and `gl`, which are constant after load().
// Failure: ends the process with a message: without a display nothing can be judged.
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <cairn/eglext_cairn.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "functions.inc"

namespace conformance {

struct Egl {
#define X(name) decltype(&::egl##name) name = nullptr;
    CONFORMANCE_EGL(X)
#undef X
    PFNEGLPROGRAMCACHEGETATTRIBANGLEPROC GetAttrib = nullptr;
    PFNEGLPROGRAMCACHEQUERYANGLEPROC Query = nullptr;
    PFNEGLPROGRAMCACHEPOPULATEANGLEPROC Populate = nullptr;
    PFNEGLPROGRAMCACHERESIZEANGLEPROC Resize = nullptr;
    // Null in ANGLE.
    PFNEGLGETPROGRAMCACHEATTRIBANGLEPROC DraftGetAttrib = nullptr;
    PFNEGLQUERYPROGRAMCACHEANGLEPROC DraftQuery = nullptr;
    PFNEGLPOPULATEPROGRAMCACHEANGLEPROC DraftPopulate = nullptr;
    PFNEGLTRIMPROGRAMCACHEANGLEPROC DraftTrim = nullptr;
};
struct Gl {
#define X(name) decltype(&::gl##name) name = nullptr;
    CONFORMANCE_GL(X)
#undef X
};
extern Egl egl;
extern Gl gl;

enum class Subject { cairn, angle };
extern Subject subject;

// Loads `library` and finds the functions in it.
void load(Subject which, const char *library);
bool has_control();

// The display, not necessarily initialised; with attributes of one's own in front of those needed.
EGLDisplay get_display(const std::vector<EGLAttrib> &attributes = {});
// Initialised, with an empty cache of `limit` bytes.
EGLDisplay fresh_display(EGLint limit = 1 << 20);

using Key = std::array<uint8_t, 20>;
using Bytes = std::vector<uint8_t>;

// A key that is told by one number.
Key key_of(int number);
void populate(EGLDisplay display, int number, size_t size);

struct Entry {
    Key key = {};
    Bytes binary;
};
EGLint count(EGLDisplay display);
// All of the cache, in the order of its indices.
std::vector<Entry> contents(EGLDisplay display);
// Its linked programs alone: ANGLE keeps compiled shaders there, too.
std::vector<Entry> programs(EGLDisplay display);
// The first bytes of the keys: what key_of() was told.
std::vector<int> order(EGLDisplay display);

// A context of OpenGL ES 3 that is current, with a picture of one pixel.
class Context {
  public:
    explicit Context(EGLDisplay display, const std::vector<EGLint> &attributes = {});
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    void make_current() const;
    EGLContext handle() const { return handle_; }

  private:
    EGLDisplay display_;
    EGLContext handle_;
};
// GL_PROGRAM_CACHE_ENABLED_ANGLE of the current context. ANGLE does not take it in glIsEnabled.
bool is_enabled();
// Without making it current, and whether it succeeds.
EGLContext create_context(EGLDisplay display, const std::vector<EGLint> &attributes);
void release_current(EGLDisplay display);

// The description of a program; a different one makes a different program.
struct Source {
    int variant = 0;              // the colour it draws, in the red channel
    std::string comment{};        // in its vertex shader
    const char *bound = nullptr;  // the attribute at location 3
    bool has_varying = false;     // for transform feedback
    int output = 0;               // location of the fragment shader's output
    bool is_broken = false;       // refused by every linker
    int language = 300;
    bool fragment_first = false;                // its fragment shader is attached first
    void (*prepare)(GLuint program) = nullptr;  // does something more before the link
};
GLuint link(const Source &source);
// Links and deletes; whether it linked. Waits until the driver has finished with it.
bool link_once(const Source &source);
// The red part of the pixel that the program draws.
int drawn_by(GLuint program);

}  // namespace conformance
