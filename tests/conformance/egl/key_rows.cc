// SPDX-License-Identifier: MIT
// What makes a program another one for the cache, and what does not.
#include <string>
#include <utility>
#include <vector>

#include "row.h"

namespace conformance {
namespace {

constexpr EGLint kLarge = 1 << 24;

void keys(Verdict &verdict) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    const std::vector<std::pair<const char *, Source>> kinds = {
        {"a program", {}},
        {"another source", {.variant = 9}},
        {"a comment", {.comment = "x"}},
        {"an attribute binding", {.bound = "corner"}},
        {"another attribute's binding", {.bound = "other"}},
        {"an output location", {.output = 1}},
        {"a varying for transform feedback", {.has_varying = true}},
    };
    size_t entries = 0;
    for (const auto &[what, source] : kinds) {
        verdict.expect(link_once(source), std::string(what) + " does not link");
        verdict.expect(programs(display).size() == ++entries,
                       std::string(what) + " gives no new key");
    }
    for (const auto &[what, source] : kinds) {
        link_once(source);
        verdict.expect(programs(display).size() == entries,
                       std::string(what) + ", again, gives a new key");
    }
}

struct Described {
    const char *what;
    Source source;
};

// These are one program: linking them one after the other makes one entry, and each is right.
void expect_one_program(Verdict &verdict, const std::vector<Described> &all) {
    const EGLDisplay display = fresh_display(kLarge);
    const Context context(display);
    for (const auto &[what, source] : all) {
        const GLuint program = link(source);
        verdict.expect(drawn_by(program) == source.variant, std::string(what) + ": other picture");
        gl.DeleteProgram(program);
        verdict.expect(programs(display).size() == 1, std::string(what) + ": not one entry");
    }
    verdict.expect(gl.GetError() == GL_NO_ERROR, "a GL error");
}

// In OpenGL ES nothing can be included, whatever a source says.
void include_in_comment(Verdict &verdict) {
    for (const char *comment :
         {"includes", "#include <x>", "#extension GL_ARB_shading_language_include"}) {
        expect_one_program(verdict,
                           {{comment, {.comment = comment}}, {"again", {.comment = comment}}});
    }
}

constexpr Row kRows[] = {
    {"link.keys", Reference::same, keys},
    {"link.include-in-comment", Reference::same, include_in_comment},
};

}  // namespace

std::span<const Row> key_rows() {
    return kRows;
}

}  // namespace conformance
