// SPDX-License-Identifier: MIT
// Families of programs: what one application compiles, in the order in which it does.
// Thread safety: concurrent. Failure: a package that is not installed has no programs.
#pragma once

#include <string>
#include <vector>

namespace bench {

enum class Api { es, core, compatibility };

// How the application makes its programs.
enum class Way {
    linked,     // glCompileShader, glLinkProgram
    separable,  // glCreateShaderProgramv, and a pipeline
    arb         // glCompileShaderARB, glLinkProgramARB
};

struct Program {
    std::string name;
    std::string vertex;
    std::string fragment;
};

enum class Use {
    measured,  // every program links
    if_valid,  // measured as far as they link without Cairn
    compared   // programs with mistakes: only their answers count
};

struct Family {
    std::string name;
    Api api;
    Way way;
    Use use;
    std::vector<Program> programs;
};

// In the order of the report.
std::vector<std::string> family_names();

// The same programs in every process. Throws std::invalid_argument for an unknown name.
Family make_family(const std::string &name);

// The second half of make_family: GLSL that Debian's packages carry.
std::vector<std::string> package_names();
Family make_package_family(const std::string &name);

}  // namespace bench
