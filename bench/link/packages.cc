// SPDX-License-Identifier: MIT
// GLSL that Debian's packages carry, completed as their programs complete it. All is for desktop
// OpenGL, in a compatibility profile.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "bench/link/family.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr const char *kGlmark2 = "/usr/share/glmark2/shaders";
constexpr const char *kMgba = "/usr/share/mgba/shaders";
constexpr const char *kShadertoy =
    "/usr/share/kodi/addons/visualization.shadertoy/resources/shaders";
constexpr std::size_t kPiglitPrograms = 96;

constexpr const char *kPlaceVertex = R"(attribute vec4 position;
varying vec2 texCoord;
void main() {
    gl_Position = position;
    texCoord = (position.st + vec2(1.0, 1.0)) * vec2(0.5, 0.5);
}
)";
constexpr const char *kShadertoyHead = R"(#version 130
uniform vec3 iResolution;
uniform float iTime;
uniform float iGlobalTime;
uniform float iTimeDelta;
uniform int iFrame;
uniform float iChannelTime[4];
uniform vec3 iChannelResolution[4];
uniform vec4 iMouse;
uniform vec4 iDate;
uniform float iSampleRate;
uniform sampler2D iChannel0;
uniform sampler2D iChannel1;
uniform sampler2D iChannel2;
uniform sampler2D iChannel3;
#define FRAG_COLOR gl_FragColor
)";
constexpr const char *kShadertoyTail = R"(
void main() { mainImage(gl_FragColor, gl_FragCoord.xy); }
)";

std::string read(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Sorted, so that every process has them in the same order.
std::vector<fs::path> files_below(const fs::path &folder, const std::string &ending) {
    std::vector<fs::path> files;
    std::error_code error;
    for (auto it = fs::recursive_directory_iterator(folder, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (it->path().string().ends_with(ending)) files.push_back(it->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Program> glmark2_programs() {
    std::vector<Program> programs;
    for (const fs::path &fragment : files_below(kGlmark2, ".frag")) {
        const fs::path vertex = fs::path(fragment).replace_extension(".vert");
        if (fs::exists(vertex)) {
            programs.push_back({fragment.stem(), read(vertex), read(fragment)});
        }
    }
    return programs;
}

std::vector<Program> mgba_programs() {
    std::vector<Program> programs;
    for (const fs::path &fragment : files_below(kMgba, ".fs")) {
        const fs::path vertex = fs::path(fragment).replace_extension(".vs");
        programs.push_back(
            {fragment.stem(), fs::exists(vertex) ? read(vertex) : kPlaceVertex, read(fragment)});
    }
    return programs;
}

std::vector<Program> shadertoy_programs() {
    std::vector<Program> programs;
    for (const fs::path &fragment : files_below(kShadertoy, ".glsl")) {
        std::string code = kShadertoyHead + read(fragment);
        if (code.find("mainImage") != std::string::npos) code += kShadertoyTail;
        programs.push_back({fragment.stem(), kPlaceVertex, code});
    }
    return programs;
}

// The part of a test between `[title]` and the next title.
std::optional<std::string> section(const std::string &test, const std::string &title) {
    const std::size_t begin = test.find("[" + title + "]\n");
    if (begin == std::string::npos) return std::nullopt;
    const std::size_t code = begin + title.size() + 3;
    return test.substr(code, test.find("\n[", code) + 1 - code);
}

// A few of its tests, evenly over all those with a vertex and a fragment shader and nothing else.
std::vector<Program> piglit_programs() {
    std::vector<Program> all;
    for (const char *folder :
         {"/usr/lib/x86_64-linux-gnu/piglit/tests/spec", "/usr/lib/piglit/tests/spec"}) {
        for (const fs::path &path : files_below(folder, ".shader_test")) {
            const std::string test = read(path);
            const auto vertex = section(test, "vertex shader");
            const auto fragment = section(test, "fragment shader");
            if (!vertex || !fragment || test.find("[geometry shader") != std::string::npos ||
                test.find("[tessellation") != std::string::npos) {
                continue;
            }
            all.push_back({path.stem(), *vertex, *fragment});
        }
    }
    std::vector<Program> programs;
    const std::size_t step = std::max<std::size_t>(all.size() / kPiglitPrograms, 1);
    for (std::size_t i = 0; i < all.size(); i += step) programs.push_back(std::move(all[i]));
    return programs;
}

struct Package {
    const char *name;
    std::vector<Program> (*programs)();
};
constexpr Package kPackages[] = {{"glmark2", glmark2_programs},
                                 {"mgba", mgba_programs},
                                 {"shadertoy", shadertoy_programs},
                                 {"piglit", piglit_programs}};

}  // namespace

std::vector<std::string> package_names() {
    std::vector<std::string> names;
    for (const Package &package : kPackages) names.emplace_back(package.name);
    return names;
}

Family make_package_family(const std::string &name) {
    for (const Package &package : kPackages) {
        if (name == package.name) {
            return {name, Api::compatibility, Way::linked, Use::if_valid, package.programs()};
        }
    }
    throw std::invalid_argument("no family of programs is called " + name);
}

}  // namespace bench
