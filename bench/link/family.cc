// SPDX-License-Identifier: MIT
// Generated families. An engine's programs are variants of one another: a list of #defines, a
// library of functions that is always the same and of which each program uses a part, and a body.
#include "bench/link/family.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

using Random = std::mt19937_64;

constexpr unsigned kFeatures = 12;
constexpr const char *kFeatureNames[kFeatures] = {"SHADOWS",  "FOG",   "SKINNING", "MORPHING",
                                                  "NORMALS",  "CLEAR", "SHEEN",    "TRANSMISSION",
                                                  "INSTANCE", "TONE",  "DITHER",   "CLIPPING"};

[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...) {
    std::array<char, 512> buffer = {};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
    va_end(arguments);
    return buffer.data();
}

unsigned below(Random &random, unsigned bound) {
    return static_cast<unsigned>(random() % bound);
}

double constant(Random &random) {
    return 0.1 + below(random, 190) / 100.0;
}

// What a family is made of.
struct Plan {
    const char *name;
    Api api;
    Way way;
    const char *version;
    unsigned programs;
    unsigned vertex_bytes, fragment_bytes;  // of the library in each source
    unsigned vertex_calls, fragment_calls;  // functions of the library that a body calls
};

constexpr Plan kPlans[] = {
    {"es-small", Api::es, Way::linked, "300 es", 48, 500, 1500, 1, 3},
    {"es-engine", Api::es, Way::linked, "300 es", 24, 24'000, 44'000, 4, 8},
    {"gl-engine", Api::core, Way::linked, "330 core", 24, 8000, 22'000, 3, 6},
    {"gl-large", Api::core, Way::linked, "430 core", 8, 100'000, 100'000, 4, 12},
    {"separable", Api::es, Way::separable, "310 es", 16, 4000, 8000, 2, 6},
    {"arb", Api::compatibility, Way::arb, "120", 24, 4000, 12'000, 2, 8},
};

bool is_old(const Plan &plan) {
    return plan.way == Way::arb;
}

// One function of the library, in the part of the feature: those of feature 0 are always there.
std::string library_function(unsigned number, Random &random) {
    const unsigned feature = number % kFeatures;
    std::string code = text("// %s: part %u of the surface's model, as measured; see the notes\n",
                            kFeatureNames[feature], number);
    if (feature != 0) code += text("#ifdef USE_%s\n", kFeatureNames[feature]);
    code +=
        text("vec3 part_%u( const in vec3 a, const in vec3 b, const in float scale ) {\n", number);
    code += text("\tvec3 sum = a * %.2f + b.yzx * %.2f;\n", constant(random), constant(random));
    code += "\tfloat facing = max( dot( a, b ), 0.015 );\n";
    code += text(
        "\tif ( facing > %.2f ) {\n\t\tsum += pow( facing, %.2f ) * vec3( %.2f, %.2f, %.2f "
        ");\n\t}\n",
        constant(random), constant(random), constant(random), constant(random), constant(random));
    if (below(random, 2) == 0) {
        code += text(
            "\tfor ( int i = 0; i < %u; i ++ ) {\n"
            "\t\tsum = mix( sum, sin( sum.zxy * %.2f + scale ), %.2f );\n\t}\n",
            2 + below(random, 4), constant(random), constant(random) / 4);
    }
    if (below(random, 3) == 0) {
        code += text("\t#ifdef USE_%s\n\t\tsum += normalize( a + %.2f ) * DETAIL;\n\t#endif\n",
                     kFeatureNames[1 + below(random, kFeatures - 1)], constant(random));
    }
    if (number >= kFeatures && below(random, 3) == 0) {
        code += text("\tsum += part_%u( b, a, facing ) * %.2f;\n", number - kFeatures,
                     constant(random) / 4);
    }
    code += text("\treturn clamp( sum, - %.2f, %.2f );\n}\n", 1 + constant(random),
                 1 + constant(random));
    return code + (feature != 0 ? "#endif\n\n" : "\n");
}

struct Library {
    std::string code;
    unsigned functions = 0;
};

Library make_library(unsigned bytes, std::uint64_t seed) {
    Random random(seed);
    Library library;
    while (library.code.size() < bytes) {
        library.code += library_function(library.functions++, random);
    }
    return library;
}

// What a variant switches on: bit n stands for feature n.
std::string defines(const Plan &plan, unsigned features, unsigned number) {
    std::string code = text("#version %s\n", plan.version);
    if (plan.api == Api::es) code += "precision highp float;\nprecision highp int;\n";
    code += text("#define SHADER_NAME Variant%u\n#define DETAIL %.2f\n#define LIGHTS %u\n", number,
                 0.1 + number / 100.0, 1 + number % 4);
    for (unsigned feature = 1; feature < kFeatures; ++feature) {
        if ((features >> feature & 1) != 0) {
            code += text("#define USE_%s\n", kFeatureNames[feature]);
        }
    }
    return code;
}

std::string calls(const Library &library, unsigned count, unsigned features, Random &random) {
    std::string code;
    while (count > 0) {
        const unsigned function = below(random, library.functions);
        const unsigned feature = function % kFeatures;
        if (feature != 0 && (features >> feature & 1) == 0) continue;
        code += text("\tsum += part_%u( normal_in, sum.zxy, %.2f ) * shade.%c;\n", function,
                     constant(random), "xyzw"[below(random, 4)]);
        --count;
    }
    return code;
}

std::string uniforms(const Plan &plan) {
    return is_old(plan) ? "uniform vec4 material_shade;\n#define shade material_shade\n"
                        : "layout( std140 ) uniform Material { vec4 shade; vec4 lights[ 4 ]; };\n";
}

std::string vertex_source(const Plan &plan, const Library &library, unsigned features,
                          unsigned number, Random &random) {
    const bool placed = plan.way == Way::separable;
    std::string code = defines(plan, features, number);
    const char *in = is_old(plan) ? "attribute" : "in";
    const char *out = is_old(plan) ? "varying" : "out";
    code += text("%s%s vec3 position;\n", placed ? "layout( location = 0 ) " : "", in);
    code += text("%s%s vec3 normal;\n", placed ? "layout( location = 1 ) " : "", in);
    code += text("%s%s vec3 v_normal;\n", placed ? "layout( location = 0 ) " : "", out);
    code += "uniform mat4 model_view;\nuniform mat4 projection;\n" + uniforms(plan) + library.code;
    code += "void main() {\n\tvec3 normal_in = normal;\n\tvec3 sum = normal;\n";
    code += calls(library, plan.vertex_calls, features, random);
    return code +
           "\tv_normal = sum;\n"
           "\tgl_Position = projection * model_view * vec4( position.xy, 0.0, 1.0 );\n}\n";
}

std::string fragment_source(const Plan &plan, const Library &library, unsigned features,
                            unsigned number, Random &random) {
    const bool placed = plan.way == Way::separable;
    std::string code = defines(plan, features, number);
    code += text("%s%s vec3 v_normal;\n", placed ? "layout( location = 0 ) " : "",
                 is_old(plan) ? "varying" : "in");
    if (!is_old(plan)) code += "out vec4 color;\n";
    code += "uniform vec4 tint;\nuniform float opacity;\n" + uniforms(plan) + library.code;
    code +=
        "void main() {\n\tvec3 normal_in = normalize( v_normal + 0.01 );\n\tvec3 sum = tint.xyz;\n";
    code += calls(library, plan.fragment_calls, features, random);
    return code + text("\t%s = vec4( fract( sum ), opacity );\n}\n",
                       is_old(plan) ? "gl_FragColor" : "color");
}

Family generate(const Plan &plan) {
    Family family = {plan.name, plan.api, plan.way, Use::measured, {}};
    const Library vertex = make_library(plan.vertex_bytes, 1);
    const Library fragment = make_library(plan.fragment_bytes, 2);
    for (unsigned number = 0; number < plan.programs; ++number) {
        Random random(1000 + number);
        const auto features = static_cast<unsigned>(random());
        family.programs.push_back({text("%u", number),
                                   vertex_source(plan, vertex, features, number, random),
                                   fragment_source(plan, fragment, features, number, random)});
    }
    return family;
}

// Programs that do not compile, do not link, or do so with a warning.
Family make_mistakes() {
    const std::string head = "#version 300 es\nprecision highp float;\n";
    const std::string vertex = head +
                               "in vec3 position;\nout vec3 v;\n"
                               "void main() { v = position; gl_Position = vec4(v, 1.0); }\n";
    const std::string in_out = "in vec3 v;\nout vec4 color;\n";
    const std::string fragment = head + in_out + "void main() { color = vec4(v, 1.0); }\n";
    return {
        "mistakes",
        Api::es,
        Way::linked,
        Use::compared,
        {{"none", vertex, fragment},
         {"unknown-name", vertex, head + in_out + "void main() { color = missing; }\n"},
         {"syntax", head + "void main() { gl_Position = }\n", fragment},
         {"version", "#version 999\nvoid main() {}\n", fragment},
         {"no-main", vertex, head + in_out + "void other() { color = vec4(1.0); }\n"},
         {"types", vertex, head + "in vec2 v;\nout vec4 color;\nvoid main() { color = v.xyxy; }\n"},
         {"unknown-extension", vertex,
          "#version 300 es\n#extension GL_NO_such : warn\n" + fragment.substr(16)},
         {"empty", "", fragment},
         {"none-again", vertex, fragment}}};
}

}  // namespace

std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (const Plan &plan : kPlans) names.emplace_back(plan.name);
    names.emplace_back("mistakes");
    for (std::string &name : package_names()) names.push_back(std::move(name));
    return names;
}

Family make_family(const std::string &name) {
    for (const Plan &plan : kPlans) {
        if (name == plan.name) return generate(plan);
    }
    return name == "mistakes" ? make_mistakes() : make_package_family(name);
}

}  // namespace bench
