// SPDX-License-Identifier: MIT
// The calls by which an engine makes, asks about, uses and deletes one program after the other, and
// the time that the calling thread spends in each kind of them.
// Thread safety: belongs to the thread whose context is current.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/link/answers.h"
#include "bench/link/family.h"
#include "bench/link/gl.h"

namespace bench {

enum class Phase {
    source,
    compile,
    shader_status,
    attach,
    link,
    link_status,
    reflection,
    draw,   // in the first round only
    binary  // glGetProgramBinary, with the questions before it: in the first round only
};
inline constexpr std::size_t kPhases = 9;
inline constexpr std::array<const char *, kPhases> kPhaseNames = {
    "source", "compile", "status", "attach", "link", "link status", "reflection", "draw", "binary"};
// The phases before the program can be used: what is compared with the driver's own load.
inline constexpr std::size_t kBuildPhases = 6;

struct Spent {
    std::array<std::int64_t, kPhases> cpu_ns = {};  // of the calling thread
    std::array<std::int64_t, kPhases> wall_ns = {};
};

// A program's binary as the driver gave it. A separable pair has two.
struct Binary {
    GLenum format;
    std::string bytes;
};

struct Played {
    Spent spent;
    bool linked = false;
    // What GL said up to the linked program, about it, and when it was drawn with.
    Answers built, reflected, drawn;
    std::vector<Binary> binaries;  // where they were asked for
};

struct Extras {
    bool draw = false;
    bool ask_binaries = false;  // after all else that is timed
};

class Player {
  public:
    // Makes the small picture that all programs draw into.
    Player(Way way, const Extras &extras);

    // From its sources.
    Played play(const Program &program);
    // With the driver's binaries in place of the sources.
    Played load(const std::vector<Binary> &binaries);

  private:
    class Clock;
    struct Made;

    Made make_linked(const Program &program, Clock &clock, Answers &answers);
    Made make_separable(const Program &program, Clock &clock, Answers &answers);
    void finish(const Made &made, Clock &clock, Played &played);
    void reflect(GLuint program, Answers &answers);
    void reflect_interface(GLuint program, GLenum interface, Answers &answers);
    void set_uniforms(GLuint program);
    void draw(const Made &made, Answers &answers);

    const Way way_;
    const Extras extras_;
};

}  // namespace bench
