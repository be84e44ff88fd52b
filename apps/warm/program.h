// Makes a recorded program, as the application makes it.
// SPDX-License-Identifier: MIT
//
// Thread safety: the thread on which the context is current. Failure: a program that does not compile
// or link has a problem, the beginning of what the driver says of it.
#pragma once

#include <string>
#include <vector>

#include "gl.h"
#include "recipe/recipe.h"

namespace cairn::warm {

struct Made {
    GLuint program = 0;  // 0: it could not be made
    std::string problem;
};
// `sources` are those of the recipe's stages.
Made make_program(const recipe::Program &recipe, const std::vector<recipe::Source> &sources);

}  // namespace cairn::warm
