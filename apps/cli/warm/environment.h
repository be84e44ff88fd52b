// What a player (warm/player.h) has to know of the application for which it works.
// SPDX-License-Identifier: MIT
//
// Thread safety: used by main only; they read the environment.
// Failure: a Failure that says what is not installed.
#pragma once

#include <string>

#include "recipe/recipe.h"
#include "text.h"

namespace cairn::cli {

// Whether it is a file that the system can execute, and no script.
bool is_program(const std::string &path);

// What is known of an application's executable, and for the rest what is found: its file beside a pack that it
// ships, or where a shell finds it. `application` is without "gl-".
recipe::Application complete_application(recipe::Application known, const std::string &application,
                                         const Words &packs);

// The player's environment: the front ends in front of the driver, for this application. With a `root` that is not
// empty its caches are there.
Words player_environment(const std::string &application, const recipe::Application &executable,
                         const std::string &root);

}  // namespace cairn::cli
