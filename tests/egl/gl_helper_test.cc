// The calls of cairn_gl.h on Mesa's llvmpipe, without a window system and without `cairn run`.
// src/capi/gl_test.cc has every case, on a driver that is made up.
// SPDX-License-Identifier: MIT
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <cairn/cairn_gl.h>
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "support/process.h"
#include "support/temp_directory.h"

namespace {

constexpr unsigned kSecondsMax = 100;
constexpr int kPrograms = 6;
constexpr const char *kVertex =
    "#version 300 es\n"
    "in vec2 corner;\n"
    "out vec2 place;\n"
    "void main() { place = corner; gl_Position = vec4(corner, 0.0, 1.0); }\n";

std::string fragment(int number) {
    return "#version 300 es\nprecision highp float;\nuniform float scale;\nin vec2 place;\n"
           "out vec4 color;\nvoid main() { color = vec4(place * scale, float(" +
           std::to_string(number) + ") / 16.0, 1.0); }\n";
}

// A context of GL ES 3.0; for one process, which ends with it.
bool make_context() {
    const auto get_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
        eglGetProcAddress("eglGetPlatformDisplayEXT"));
    const EGLDisplay display =
        get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (eglInitialize(display, nullptr, nullptr) == EGL_FALSE) return false;
    constexpr EGLint kAttributes[] = {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE};
    eglBindAPI(EGL_OPENGL_ES_API);
    const EGLContext context =
        eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, kAttributes);
    return eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE;
}

void attach(GLuint program, GLenum stage, const char *source) {
    const GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

// A linked program, loaded or made.
GLuint make_program(cairn_gl *gl, int number) {
    const std::string source = fragment(number);
    const std::array<cairn_gl_input, 2> inputs = {
        {{kVertex, std::strlen(kVertex)}, {source.data(), source.size()}}};
    cairn_gl_link link;
    const GLuint program = glCreateProgram();
    if (cairn_gl_program_load(gl, program, inputs.data(), inputs.size(), &link) != CAIRN_OK) {
        attach(program, GL_VERTEX_SHADER, kVertex);
        attach(program, GL_FRAGMENT_SHADER, source.c_str());
        glLinkProgram(program);
        cairn_gl_program_store(gl, program, &link);
    }
    return program;
}

bool is_usable(GLuint program) {
    GLint linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    glUseProgram(program);
    return linked == GL_TRUE && glGetUniformLocation(program, "scale") >= 0 &&
           glGetAttribLocation(program, "corner") >= 0 && glGetError() == GL_NO_ERROR;
}

// Replaces every binary by other bytes of a format that the driver names.
void spoil_all(cairn_cache *cache) {
    cairn_flush(cache, 10'000);
    std::array<std::string, kPrograms> keys;
    auto next = keys.begin();
    cairn_enumerate(
        cache,
        [](void *user, const cairn_entry *entry) {
            auto **at = static_cast<std::string **>(user);
            (*at)++->assign(static_cast<const char *>(entry->key), entry->key_size);
            return 0;
        },
        &next);
    for (const std::string &key : keys) {
        cairn_blob *blob = nullptr;
        if (cairn_get(cache, key.data(), key.size(), &blob) != CAIRN_OK) continue;
        std::string entry(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
        cairn_blob_free(blob);
        std::fill(entry.begin() + 4, entry.end(), '\x5a');
        cairn_put(cache, key.data(), key.size(), entry.data(), entry.size(), nullptr);
    }
}

struct Expected {
    std::uint64_t loaded, missed, refused, stored;
};

class GlHelper : public testing::Test {
  protected:
    // One start of an engine; with `spoils`, it finds what the driver refuses.
    std::string start(const Expected &expected, bool spoils = false) const {
        return cairn_test::run_in_child(kSecondsMax, [&] {
            if (!make_context()) return 2;
            cairn_gl_options options = {};
            options.size = sizeof options;
            options.application = "engine";
            options.get_proc_address = eglGetProcAddress;
            options.root = directory_.path().c_str();
            cairn_gl *gl = nullptr;
            if (cairn_gl_open(&options, &gl) != CAIRN_OK) return 3;
            if (spoils) spoil_all(cairn_gl_cache(gl));
            for (int number = 0; number < kPrograms; ++number) {
                if (!is_usable(make_program(gl, number))) return 4;
            }
            cairn_gl_stats stats = {};
            stats.size = sizeof stats;
            cairn_gl_stats_get(gl, &stats);
            cairn_gl_close(gl);
            const bool good = stats.loaded == expected.loaded && stats.missed == expected.missed &&
                              stats.refused == expected.refused && stats.stored == expected.stored;
            return good ? 0 : 5;
        });
    }

    cairn_test::TempDirectory directory_;
};

TEST_F(GlHelper, TheSecondStartLoadsEveryProgram) {
    EXPECT_EQ(start({.loaded = 0, .missed = kPrograms, .refused = 0, .stored = kPrograms}), "");
    EXPECT_EQ(start({.loaded = kPrograms, .missed = 0, .refused = 0, .stored = 0}), "");
}

TEST_F(GlHelper, WhatTheDriverRefusesIsLinkedAndStoredAnew) {
    EXPECT_EQ(start({.loaded = 0, .missed = kPrograms, .refused = 0, .stored = kPrograms}), "");
    EXPECT_EQ(start({.loaded = 0, .missed = 0, .refused = kPrograms, .stored = kPrograms}, true),
              "");
    EXPECT_EQ(start({.loaded = kPrograms, .missed = 0, .refused = 0, .stored = 0}), "");
}

}  // namespace
