// SPDX-License-Identifier: MIT
// Which application a program cache is of, by the name that people know.
// Thread safety: pure functions, and the file system.
// Failure: a cache that does not say so is of no application.
#pragma once

#include <map>
#include <string>

namespace cairn::cli {

// As people know it: the EGL front end puts "egl-" in front of a program's name.
std::string application_name(const std::string &application);

// Of the caches below a root that are of an application, by identifier: its name as the cache says
// it.
std::map<std::string, std::string> list_applications(const std::string &root);

}  // namespace cairn::cli
