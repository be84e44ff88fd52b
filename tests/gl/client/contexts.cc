// SPDX-License-Identifier: MIT
// Several contexts and several threads.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scenarios.h"
#include "scene.h"
#include "sources.h"
#include "transcript.h"

namespace client {
namespace {

constexpr int kThreads = 2;
constexpr int kPrograms = 24;

constexpr const char *kOldVertex = R"(#version 140
varying vec4 shade;
void main() { gl_Position = ftransform(); shade = gl_Color; }
)";
constexpr const char *kOldFragment = R"(#version 140
varying vec4 shade;
void main() { gl_FragColor = shade; }
)";

std::string numbered_fragment(int number) {
    return "#version 300 es\nprecision highp float;\nin vec2 place;\nout vec4 color;\n"
           "void main() { color = vec4(place, float(" +
           std::to_string(number) + ") / 64.0, 1.0); }\n";
}

struct Outcome {
    GLint linked = 0;
    GLenum error = GL_NO_ERROR;
    std::array<unsigned char, 4> pixel = {};
};

Outcome try_program(GLuint vertex, int number) {
    const std::string source = numbered_fragment(number);
    const GLuint program = make_program({vertex, make_shader(GL_FRAGMENT_SHADER, source.c_str())});
    Outcome outcome;
    gl.GetProgramiv(program, GL_LINK_STATUS, &outcome.linked);
    gl.UseProgram(program);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.ReadPixels(kPictureSize / 2, kPictureSize / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                  outcome.pixel.data());
    outcome.error = gl.GetError();
    return outcome;
}

using Outcomes = std::vector<Outcome>;

void note_outcomes(const std::array<Outcomes, kThreads> &all) {
    for (const Outcomes &outcomes : all) {
        for (const Outcome &one : outcomes) {
            note("linked %d error %#x pixel %d %d %d %d", one.linked, one.error, one.pixel[0],
                 one.pixel[1], one.pixel[2], one.pixel[3]);
        }
    }
}

// Every thread makes the same programs, at the same time.
void run_threads(const NativeContext *share, GLuint shared_vertex) {
    std::array<Outcomes, kThreads> all;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (Outcomes &outcomes : all) {
        threads.emplace_back([&outcomes, share, shared_vertex] {
            {
                const Context context(Api::es3, share);
                for (int number = 0; number < kPrograms; ++number) {
                    const GLuint vertex =
                        shared_vertex != 0 ? shared_vertex : make_shader(GL_VERTEX_SHADER, kVertex);
                    outcomes.push_back(try_program(vertex, number));
                }
            }
            release_thread();
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    note_outcomes(all);
}

}  // namespace

void two_contexts() {
    const Context first(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const Context second(Api::es3, first.native());
    // Compiled in one, linked in the other, drawn in the first.
    const GLuint program = make_program({vertex, fragment});
    note_program("linked in the second", program);
    draw("second", program);
    first.make_current();
    draw("first", program);
    // A third, which shares nothing: the names are not there.
    const Context third(Api::es3);
    note("strange names: %d %d", gl.IsShader(vertex), gl.IsProgram(program));
    gl.CompileShader(vertex);
    gl.LinkProgram(program);
    note_errors("strange names");
    draw("third", make_program(kVertex, kOtherFragment));
}

void context_goes() {
    auto first = std::make_unique<Context>(Api::es3);
    const Context second(Api::es3, first->native());
    first->make_current();
    const GLuint program = make_program(kVertex, kFragment);
    const GLuint unlinked = make_unlinked(
        {make_shader(GL_VERTEX_SHADER, kVertex), make_shader(GL_FRAGMENT_SHADER, kOtherFragment)});
    // The objects live on with the other context.
    second.make_current();
    first.reset();
    draw("linked before", program);
    gl.LinkProgram(unlinked);
    draw("linked after", unlinked);
    make_current(nullptr);
    // Not current any more and made current again.
    second.make_current();
    draw("again", program);
}

// OpenGL ES 2 and 3 may share.
void older_context() {
    const Context third(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const Context second(Api::es2, third.native());
    const GLuint program = make_program({vertex, fragment});
    note_program("compiled elsewhere", program);
    draw("elsewhere", program);
    third.make_current();
    draw("here", make_program(kVertex, kOtherFragment));
}

// These need not compile alike.
void unlike_contexts() {
    const Context third(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kFragment);
    const Context second(Api::es3_debug, third.native());
    const GLuint program = make_program({vertex, fragment});
    note_program("compiled elsewhere", program);
    draw("elsewhere", program);
    third.make_current();
    draw("here", make_program(kVertex, kOtherFragment));
}

// The older profile compiles a shader that only it can, although the newer one links it.
void unlike_profiles() {
    const Context old(Api::compatibility);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldFragment);
    const Context core(Api::core, old.native());
    note_program("compiled in the older profile", make_program({vertex, fragment}));
}

// The same when nothing is current as the newer one is made.
void unlike_later() {
    const Context old(Api::compatibility);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldFragment);
    make_current(nullptr);
    const Context core(Api::core, old.native());
    old.make_current();
    const GLuint program = make_unlinked({vertex, fragment});
    core.make_current();
    gl.LinkProgram(program);
    note_program("compiled in the older profile", program);
}

// As programs ask for them that know nothing of versions and profiles.
void plain_contexts() {
    const Context first(Api::plain);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kOldestVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kOldestFragment);
    const Context second(Api::plain, first.native());
    const GLuint program = make_program({vertex, fragment});
    note_program("linked in the second", program);
    first.make_current();
    draw("first", program);
    draw("linked again", make_program({vertex, fragment}));
}

// Made by one thread, used by another one, and by the first one again.
void context_moves() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    make_current(nullptr);
    std::thread([&context, vertex] {
        context.make_current();
        draw("elsewhere", make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kFragment)}));
        make_current(nullptr);
        release_thread();
    }).join();
    context.make_current();
    draw("here", make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kOtherFragment)}));
}

void two_threads() {
    open_display();
    run_threads(nullptr, 0);
}

void threads_share_shader() {
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    gl.Finish();
    run_threads(context.native(), vertex);
    draw("after the threads", make_program({vertex, make_shader(GL_FRAGMENT_SHADER, kFragment)}));
}

// A driver that frees a context on one thread gives its handle to the next one that is made on
// another thread.
void contexts_come_and_go() {
    constexpr int kRounds = 100;
    const Context context(Api::es3);
    const GLuint vertex = make_shader(GL_VERTEX_SHADER, kVertex);
    const GLuint fragment = make_shader(GL_FRAGMENT_SHADER, kPlainFragment);
    gl.Finish();
    std::array<int, kThreads> linked = {};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int &number : linked) {
        threads.emplace_back([&number, share = context.native(), vertex, fragment] {
            for (int round = 0; round < kRounds; ++round) {
                const Context mine(Api::es3, share);
                const GLuint program = make_program({vertex, fragment});
                GLint status = GL_FALSE;
                gl.GetProgramiv(program, GL_LINK_STATUS, &status);
                number += status;
                gl.DeleteProgram(program);
            }
            release_thread();
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    note("linked: %d %d", linked[0], linked[1]);
}

void identified() {
    const Context context(Api::es3);
    make_program(kVertex, kFragment);
    using Identifier = GLsizei (*)(GLsizei capacity, GLchar * identifier);
    const auto identifier =
        reinterpret_cast<Identifier>(proc_address("glGetProgramCacheIdentifierCAIRN"));
    std::array<char, 256> name = {};
    if (identifier != nullptr) identifier(name.size(), name.data());
    note("%s", name.data());
}

void switched() {
    const Context context(Api::es3);
    for (int round = 0; round < 4; ++round) {
        draw("round", make_program(kVertex, kFragment));
        if (std::getenv("CLIENT_SHOW_HELD") != nullptr) {
            constexpr GLenum kEnabled = 0x93AC;
            GLint enabled = -1;
            gl.GetIntegerv(kEnabled, &enabled);
            note("held %d, enabled %d", held_programs(), enabled);
        }
        const std::string variable = "CLIENT_AFTER_" + std::to_string(round);
        const char *command = std::getenv(variable.c_str());
        if (command != nullptr && std::system(command) != 0) {
            note("%s failed", variable.c_str());
        }
    }
}

void varied() {
    const auto text_of = [](const char *variable, const char *otherwise) {
        const char *text = std::getenv(variable);
        return std::string(text == nullptr ? otherwise : text);
    };
    const std::string api = text_of("CLIENT_API", "es3");
    const Context context(api == "core"            ? Api::core
                          : api == "compatibility" ? Api::compatibility
                          : api == "es3_debug"     ? Api::es3_debug
                                                   : Api::es3);
    const std::string head = is_desktop() ? "#version 330\n" : "#version 300 es\n";
    const std::string vertex = head +
                               "in vec4 corner;\n"
                               "void main() { gl_Position = corner; }\n";
    const std::string location = text_of("CLIENT_LOCATION", "");
    const int programs = std::stoi(text_of("CLIENT_PROGRAMS", "1"));
    for (int i = 0; i < programs; ++i) {
        const std::string fragment = head +
                                     "precision highp float;\nout vec4 color;\n"
                                     "void main() { color = vec4(1.0, " +
                                     std::to_string(i) + ".0, 0.5, 1.0); }\n// " +
                                     text_of("CLIENT_SOURCE", "") + "\n";
        const GLuint program = make_unlinked({make_shader(GL_VERTEX_SHADER, vertex.c_str()),
                                              make_shader(GL_FRAGMENT_SHADER, fragment.c_str())});
        if (!location.empty()) {
            gl.BindAttribLocation(program, static_cast<GLuint>(std::stoi(location)), "corner");
        }
        gl.LinkProgram(program);
        if (i == 0) note_program("linked", program);
    }
}

}  // namespace client
