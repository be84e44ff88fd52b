// A driver that is a few tables of each thread's own.
// SPDX-License-Identifier: MIT
//
// Thread safety: each thread has its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gl/hooks.h"

namespace cairn::gl::testing {

// A program is its shaders' sources, its binary "BIN:" and that.
struct FakeDriver {
    GLuint last_name = 0;
    std::map<GLuint, std::string> sources;
    std::map<GLuint, GLsizei> divided;  // into how many strings
    bool refuses_sources = false;       // as between glBegin and glEnd
    std::map<GLuint, bool> compiled;
    std::map<GLuint, std::vector<GLuint>> attached;
    std::map<GLuint, std::string> linked;
};
extern thread_local FakeDriver t_driver;

// Its functions.
void fill(GlFunctions &gl);

// The front end's function of this name, as the application has it.
template <typename Function>
Function hook(const char *name) {
    return reinterpret_cast<Function>(gl_hook(name));
}

// Makes a program of one shader by the front end's functions; what it is in the driver then.
std::string link_anew(const std::string &source);

}  // namespace cairn::gl::testing
