// SPDX-License-Identifier: MIT
// An engine's frames, for bench/record_bench: each line of the input is a number of frames to draw,
// and is answered by the nanoseconds of processor time that one of them took.
//
// A frame is 512 objects in the order of an engine that sorts them: by program, then by texture. All
// are so small that hardly any pixel is drawn.
#include <GLES3/gl32.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include "bench/surfaceless.h"

namespace {

constexpr const char *kName = "record_frames";

constexpr unsigned kObjects = 512, kPrograms = 8, kTextures = 32, kArrays = 64;

GLuint make_shader(GLenum type, const std::string &text) {
    const GLuint shader = glCreateShader(type);
    const char *string = text.c_str();
    glShaderSource(shader, 1, &string, nullptr);
    glCompileShader(shader);
    return shader;
}

class Scene {
  public:
    Scene() {
        for (unsigned i = 0; i < kPrograms; ++i) make_program(i);
        glGenTextures(kTextures, textures_.data());
        for (unsigned i = 0; i < kTextures; ++i) {
            glBindTexture(GL_TEXTURE_2D, textures_[i]);
            glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        }
        const std::array<float, 64> vertices = {};
        const std::array<uint16_t, 3> indices = {0, 1, 2};
        std::array<GLuint, 2> buffers = {};
        glGenBuffers(2, buffers.data());
        glGenVertexArrays(kArrays, arrays_.data());
        for (const GLuint array : arrays_) {
            glBindVertexArray(array);
            glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
            glBufferData(GL_ARRAY_BUFFER, sizeof(vertices), vertices.data(), GL_STATIC_DRAW);
            glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
            glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices.data(), GL_STATIC_DRAW);
            for (GLuint i = 0; i < 3; ++i) {
                glEnableVertexAttribArray(i);
                glVertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, 32,
                                      reinterpret_cast<const void *>(uintptr_t{i} * 8));
            }
        }
        GLuint target = 0;
        glGenRenderbuffers(1, &target);
        glBindRenderbuffer(GL_RENDERBUFFER, target);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
        glGenFramebuffers(1, &framebuffer_);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target);
        glViewport(0, 0, 16, 16);
    }

    void draw() {
        std::array<float, 16> matrix = {};
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
        glClear(GL_COLOR_BUFFER_BIT);
        glEnable(GL_DEPTH_TEST);
        for (unsigned i = 0; i < kObjects; ++i) {
            const unsigned program = i / (kObjects / kPrograms);
            if (i % (kObjects / kPrograms) == 0) {
                glUseProgram(programs_[program]);
                if (program % 2 == 0) {
                    glDisable(GL_BLEND);
                } else {
                    glEnable(GL_BLEND);
                    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
                }
            }
            if (i % 4 == 0) {
                for (unsigned unit = 0; unit < 2; ++unit) {
                    glActiveTexture(GL_TEXTURE0 + unit);
                    glBindTexture(GL_TEXTURE_2D, textures_[(i / 4 + unit) % kTextures]);
                }
            }
            glBindVertexArray(arrays_[i % kArrays]);
            matrix[0] = static_cast<float>(i);
            glUniformMatrix4fv(matrices_[program], 1, GL_FALSE, matrix.data());
            glUniform4f(colors_[program], 1, 0, 0, matrix[0]);
            glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, nullptr);
        }
        glFlush();
    }

  private:
    void make_program(unsigned number) {
        const std::string version = "#version 300 es\nprecision highp float;\n";
        const GLuint program = glCreateProgram();
        glAttachShader(program, make_shader(GL_VERTEX_SHADER,
                                            version + "layout(location = 0) in vec3 p;\n"
                                                      "layout(location = 1) in vec3 n;\n"
                                                      "layout(location = 2) in vec3 t;\n"
                                                      "uniform mat4 m; out vec3 v;\n"
                                                      "void main() { gl_Position = m * vec4(p, 1);"
                                                      " v = n + t; }"));
        glAttachShader(program,
                       make_shader(GL_FRAGMENT_SHADER,
                                   version +
                                       "uniform sampler2D a, b; uniform vec4 c; in vec3 v;\n"
                                       "out vec4 o; void main() { o = c * float(" +
                                       std::to_string(number + 1) +
                                       ") + texture(a, v.xy) * texture(b, v.yz); }"));
        glLinkProgram(program);
        glUseProgram(program);
        glUniform1i(glGetUniformLocation(program, "a"), 0);
        glUniform1i(glGetUniformLocation(program, "b"), 1);
        programs_[number] = program;
        matrices_[number] = glGetUniformLocation(program, "m");
        colors_[number] = glGetUniformLocation(program, "c");
        if (matrices_[number] < 0 || colors_[number] < 0)
            bench::fail(kName, "a program does not link");
    }

    std::array<GLuint, kPrograms> programs_ = {};
    std::array<GLint, kPrograms> matrices_ = {}, colors_ = {};
    std::array<GLuint, kTextures> textures_ = {};
    std::array<GLuint, kArrays> arrays_ = {};
    GLuint framebuffer_ = 0;
};

// On one processor, of which two runs in turn find the same.
void stay_here() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        bench::fail(kName, "cannot stay on a processor");
}

// Of this thread: the driver's own draw the pixels.
double processor_ns() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

int main() {
    bench::make_surfaceless_context(kName);
    Scene scene;
    stay_here();
    for (unsigned frames = 0; std::cin >> frames && frames > 0;) {
        const double start = processor_ns();
        for (unsigned i = 0; i < frames; ++i) scene.draw();
        glFinish();
        printf("%.0f\n", (processor_ns() - start) / frames);
        fflush(stdout);
        if (glGetError() != GL_NO_ERROR) bench::fail(kName, "a GL error");
    }
    return 0;
}
