// SPDX-License-Identifier: MIT
// Draws that the player behind `cairn warm` is given, and what is expected of each: it is drawn, without a
// call that Mesa's software driver complains of, and leaves nothing behind for the one that comes after it.
#pragma once

#include <GL/gl.h>
// After gl.h, which it completes.
#include <GL/glext.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "player.h"

namespace gl_test {

inline constexpr unsigned kEs2 = 1, kEs32 = 2, kCore = 4, kNew = kEs32 | kCore, kAll = 7;

using Enums = std::initializer_list<GLenum>;

struct Kind {
    const char *name;
    unsigned bit;
    recipe::ContextKind context;
    const char *head, *vertex, *fragment;
};
inline const char *const kVertex =
    "layout(location = 0) in vec4 p; void main() { gl_Position = p; }";
inline const char *const kFragment =
    "layout(location = 0) out vec4 c; void main() { c = vec4(1.0); }";
inline const Kind kKinds[] = {
    {"ES2",
     kEs2,
     {1, 2, 0, 0, 0, ""},
     "#version 100\nprecision highp float;\n",
     "attribute vec4 p; void main() { gl_Position = p; }",
     "void main() { gl_FragColor = vec4(1.0); }"},
    {"ES32",
     kEs32,
     {1, 3, 2, 0, 0, ""},
     "#version 320 es\nprecision highp float; precision highp int;\n",
     kVertex,
     kFragment},
    {"Core45", kCore, {0, 4, 5, 1, 0, ""}, "#version 450 core\n", kVertex, kFragment},
};

// A vertex shader and a fragment shader that draw with one attribute into a window, before a case
// changes them.
struct Draw {
    std::vector<std::pair<GLenum, std::string>> stages;
    std::vector<recipe::Setting> settings;
    recipe::DrawState state;

    std::string &vertex() { return stages[0].second; }
    std::string &fragment() { return stages[1].second; }
};

inline Draw usual(const Kind &kind) {
    Draw draw;
    draw.stages = {{GL_VERTEX_SHADER, kind.vertex}, {GL_FRAGMENT_SHADER, kind.fragment}};
    draw.state.mode = GL_TRIANGLES;
    draw.state.framebuffer.is_window = 1;
    draw.state.framebuffer.surface = {8, 8, 8, 8, 24, 8, 0};
    draw.state.framebuffer.draw_buffers = {GL_BACK};
    draw.state.color_buffers.emplace_back();
    recipe::Attribute attribute;
    attribute.source = 1;
    attribute.type = GL_FLOAT;
    attribute.stride = 16;
    draw.state.attributes = {attribute};
    return draw;
}

inline recipe::Work work_of(const Kind &kind, const Draw &draw) {
    recipe::Work work;
    work.program.context = kind.context;
    for (const auto &[type, source] : draw.stages) {
        work.program.stages.push_back({type, {}});
        work.sources.push_back({kind.head + source});
    }
    work.program.settings = draw.settings;
    work.states = {draw.state};
    return work;
}

struct Case {
    std::string name;
    unsigned kinds;
    std::function<void(Draw &)> change;
};

class PlayerStatesTest : public testing::Test {
  protected:
    PlayerStatesTest() { signal(SIGPIPE, SIG_IGN); }

    static void start(Player &player, const Kind &kind) {
        const auto ready = player.open_context(kind.context);
        ASSERT_TRUE(ready);
        ASSERT_EQ(ready->is_ready, 1u) << ready->problem;
        recipe::Work nothing = work_of(kind, usual(kind));
        nothing.states.clear();
        ASSERT_TRUE(player.work(nothing));
        (void)player.complaints();  // of what the player tries at its start
    }
    static void expect_drawn(Player &player, const recipe::Work &work) {
        const auto done = player.work(work);
        ASSERT_TRUE(done);
        EXPECT_EQ(done->outcome, static_cast<std::uint32_t>(recipe::Outcome::made));
        EXPECT_EQ(done->drawn, 1u) << done->problem;
        EXPECT_EQ(player.complaints(), "");
    }
    static void expect_all_drawn(const std::vector<Case> &cases) {
        for (const Kind &kind : kKinds) {
            SCOPED_TRACE(kind.name);
            Player player;
            start(player, kind);
            for (const Case &each : cases) {
                if ((each.kinds & kind.bit) == 0) continue;
                SCOPED_TRACE(each.name);
                Draw draw = usual(kind);
                each.change(draw);
                expect_drawn(player, work_of(kind, draw));
                SCOPED_TRACE("then the usual state");
                expect_drawn(player, work_of(kind, usual(kind)));
                if (HasFatalFailure()) return;
            }
            player.close_input();
            EXPECT_EQ(player.wait(), 0);
        }
    }
};

inline recipe::Texture texture_of(GLenum target, GLenum format, recipe::Upload upload = {}) {
    recipe::Texture texture;
    texture.target = target;
    texture.format = format;
    texture.upload = upload;
    texture.width = 4;
    texture.height = target == GL_TEXTURE_1D ? 1 : 4;
    texture.depth = target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY ||
                            target == GL_TEXTURE_CUBE_MAP_ARRAY ||
                            target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY
                        ? 4
                        : 1;
    return texture;
}

}  // namespace gl_test
