// SPDX-License-Identifier: MIT
// A program that links, for bench/why_bench: each line of the input, `FIRST COUNT`, has it make so many programs, from one
// of that number on. The answer is a line: how many were hits, how many of these in memory, and for each program the
// nanoseconds of glLinkProgram, and of these what was Cairn's own time where the driver had to link. The first line, without
// being asked: the nanoseconds from eglInitialize to a context with a shader, and Cairn's own of opening the cache among them.
#include <GLES3/gl32.h>
#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "bench/harness/stats.h"
#include "bench/surfaceless.h"
#include "common/run_report.h"

namespace {

constexpr const char *kName = "why_links";

using cairn::Outcome;
using cairn::RunReport;

// On one processor, of which those that take turns find the same. The driver's threads have been made by then.
void stay_here() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        bench::fail(kName, "cannot stay on a processor");
}

void make_context() {
    bench::make_surfaceless_context(kName);
    glDeleteShader(glCreateShader(GL_VERTEX_SHADER));  // with the first call the cache is opened
}

void attach_shader(GLuint program, GLenum type, const std::string &text) {
    const GLuint shader = glCreateShader(type);
    const char *string = text.c_str();
    glShaderSource(shader, 1, &string, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

GLuint make_program(std::uint64_t number) {
    const std::string version = "#version 300 es\nprecision highp float;\n";
    const GLuint program = glCreateProgram();
    attach_shader(program, GL_VERTEX_SHADER,
                  version +
                      "in vec3 p; uniform mat4 m; out vec3 v;\n"
                      "void main() { gl_Position = m * vec4(p, 1); v = p; }");
    attach_shader(program, GL_FRAGMENT_SHADER,
                  version + "uniform vec4 c; in vec3 v; out vec4 o;\nvoid main() { o = c * float(" +
                      std::to_string(number) + ") + v.xyzz; }");
    return program;
}

// What the front end has counted of this process.
class Counted {
  public:
    explicit Counted(const RunReport &report) : report_(report) {}
    std::uint64_t own_ns() const { return __atomic_load_n(&report_.overhead_ns, __ATOMIC_RELAXED); }
    std::uint64_t hits() const { return __atomic_load_n(&report_.hits, __ATOMIC_RELAXED); }
    std::uint64_t hits_in_memory() const {
        return __atomic_load_n(&report_.outcomes[static_cast<unsigned>(Outcome::hit_memory)],
                               __ATOMIC_RELAXED);
    }

  private:
    const RunReport &report_;
};

void link_programs(const Counted &counted, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t hits = counted.hits(), in_memory = counted.hits_in_memory();
    std::string times;
    for (std::uint64_t i = 0; i < count; ++i) {
        const GLuint program = make_program(first + i);
        const std::uint64_t own_ns = counted.own_ns();
        const std::uint64_t start = bench::ticks();
        glLinkProgram(program);
        const auto took = static_cast<double>(bench::ticks() - start) * bench::ns_per_tick();
        times += " " + std::to_string(static_cast<std::uint64_t>(took)) + " " +
                 std::to_string(counted.own_ns() - own_ns);
        GLint status = GL_FALSE;
        glGetProgramiv(program, GL_LINK_STATUS, &status);
        if (status == GL_FALSE) bench::fail(kName, "a program does not link");
        glDeleteProgram(program);
    }
    std::printf("%llu %llu%s\n", static_cast<unsigned long long>(counted.hits() - hits),
                static_cast<unsigned long long>(counted.hits_in_memory() - in_memory),
                times.c_str());
    std::fflush(stdout);
}

}  // namespace

int main() {
    const char *const path = std::getenv(cairn::kRunReportVariable);
    const RunReport *const report = path == nullptr ? nullptr : cairn::attach_run_report(path);
    if (report == nullptr) bench::fail(kName, "it must be started by `cairn run`");
    const Counted counted(*report);
    const std::uint64_t start_ns = bench::now_ns();
    make_context();
    std::printf("%llu %llu\n", static_cast<unsigned long long>(bench::now_ns() - start_ns),
                static_cast<unsigned long long>(counted.own_ns()));
    std::fflush(stdout);
    stay_here();
    for (std::uint64_t first = 0, count = 0; std::cin >> first >> count;) {
        link_programs(counted, first, count);
    }
    return 0;
}
