// SPDX-License-Identifier: MIT
// The player behind `cairn warm` on Mesa's software driver, without a front end: what it is given by hand
// it makes and draws, and what is hostile ends it without a signal.
#include "player.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gl_test {
namespace {

constexpr std::uint32_t kVertex = 0x8B31, kFragment = 0x8B30, kCompute = 0x91B9;
constexpr std::uint32_t kTriangles = 4, kTexture2d = 0x0DE1, kSampler2d = 0x8B5E, kRgba8 = 0x8058;
constexpr std::uint32_t kFloat = 0x1406, kUnsignedShort = 0x1403, kColor0 = 0x8CE0;

struct Kind {
    const char *name;
    recipe::ContextKind context;
    const char *vertex, *fragment;
};

const char *const kOldVertex = "attribute vec4 p; void main() { gl_Position = p; }";
const char *const kOldFragment =
    "precision mediump float; uniform sampler2D t;"
    "void main() { gl_FragColor = texture2D(t, vec2(0.5)); }";
const char *const kOldDesktopFragment =
    "uniform sampler2D t; void main() { gl_FragColor = texture2D(t, vec2(0.5)); }";

const Kind kKinds[] = {
    {"ES2", {1, 2, 0, 0, 0, ""}, kOldVertex, kOldFragment},
    {"ES32",
     {1, 3, 2, 0, 0, ""},
     "#version 320 es\nin vec4 p; void main() { gl_Position = p; }",
     "#version 320 es\nprecision mediump float; uniform sampler2D t; out vec4 c;"
     "void main() { c = texture(t, vec2(0.5)); }"},
    {"Core45",
     {0, 4, 5, 1, 0, ""},
     "#version 450 core\nlayout(location = 0) in vec4 p; void main() { gl_Position = p; }",
     "#version 450 core\nuniform sampler2D t; out vec4 c;"
     "void main() { c = texture(t, vec2(0.5)); }"},
    {"Compatibility21", {0, 2, 1, 2, 0, ""}, kOldVertex, kOldDesktopFragment},
};

recipe::Work work_of(const Kind &kind) {
    recipe::Work work;
    work.program.context = kind.context;
    work.program.stages = {{kVertex, {}}, {kFragment, {}}};
    work.sources = {{kind.vertex}, {kind.fragment}};
    return work;
}

recipe::DrawState state_of_window() {
    recipe::DrawState state;
    state.mode = kTriangles;
    state.framebuffer.is_window = 1;
    state.framebuffer.surface = {8, 8, 8, 8, 24, 8, 0};
    state.framebuffer.draw_buffers = {0x0405};  // GL_BACK
    state.color_buffers.emplace_back();
    state.bindings = {{"t", kSampler2d, {0}}};
    recipe::Texture texture;
    texture.target = kTexture2d;
    texture.format = kRgba8;
    texture.width = texture.height = 4;
    state.units = {{0, texture}};
    recipe::Attribute attribute;
    attribute.source = 1;
    attribute.type = kFloat;
    attribute.stride = 16;
    state.attributes = {attribute};
    return state;
}

std::vector<recipe::DrawState> states_of(const Kind &kind) {
    std::vector<recipe::DrawState> states = {state_of_window()};
    recipe::DrawState indexed = state_of_window();
    indexed.index_type = kUnsignedShort;
    states.push_back(indexed);
    recipe::DrawState blended = state_of_window();
    blended.color_buffers[0] = {1, 0x0302, 0x0303, 1, 0, 0x8006, 0x8006, 7};
    states.push_back(blended);
    if (kind.context.is_es != 0) {
        recipe::DrawState memory = state_of_window();
        memory.attributes[0].source = 2;
        states.push_back(memory);
    }
    if (kind.context.major < 3) return states;
    recipe::DrawState instanced = state_of_window();
    instanced.is_instanced = 1;
    instanced.attributes[0].divisor = 1;
    states.push_back(instanced);
    for (const std::uint32_t samples : {0u, 4u}) {
        recipe::DrawState offscreen = state_of_window();
        recipe::Framebuffer &framebuffer = offscreen.framebuffer;
        framebuffer = {};
        framebuffer.draw_buffers = {kColor0};
        recipe::Attachment color, depth;
        color.format = samples == 0 ? 0x881A : kRgba8;  // GL_RGBA16F
        color.target = depth.target = samples == 0 ? kTexture2d : 0x8D41;
        color.samples = depth.samples = samples;
        depth.format = 0x88F0;  // GL_DEPTH24_STENCIL8
        framebuffer.colors = {color};
        framebuffer.depth = framebuffer.stencil = depth;
        states.push_back(offscreen);
    }
    return states;
}

class PlayerTest : public testing::Test {
  protected:
    PlayerTest() { signal(SIGPIPE, SIG_IGN); }
};

TEST_F(PlayerTest, ClosedAtOnceItEndsWell) {
    Player player;
    player.close_input();
    EXPECT_EQ(player.wait(), 0);
}

TEST_F(PlayerTest, ProgramsAreDrawnInEveryState) {
    for (const Kind &kind : kKinds) {
        SCOPED_TRACE(kind.name);
        Player player;
        const auto ready = player.open_context(kind.context);
        ASSERT_TRUE(ready);
        ASSERT_EQ(ready->is_ready, 1u) << ready->problem;
        const std::vector<recipe::DrawState> states = states_of(kind);
        for (std::size_t i = 0; i < states.size(); ++i) {
            recipe::Work work = work_of(kind);
            work.states = {states[i]};
            const auto done = player.work(work);
            ASSERT_TRUE(done) << i;
            EXPECT_NE(done->outcome, static_cast<std::uint32_t>(recipe::Outcome::refused));
            EXPECT_EQ(done->drawn, 1u) << "state " << i << ": " << done->problem;
        }
        player.close_input();
        EXPECT_EQ(player.wait(), 0);
    }
}

TEST_F(PlayerTest, ComputeIsDispatched) {
    recipe::Work work;
    work.program.context = kKinds[2].context;
    work.program.stages = {{kCompute, {}}};
    work.sources = {{"#version 450 core\nlayout(local_size_x = 1) in; void main() {}"}};
    recipe::DrawState state;
    state.mode = recipe::DrawState::kDispatch;
    work.states = {state};
    Player player;
    ASSERT_TRUE(player.open_context(work.program.context));
    const auto done = player.work(work);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->drawn, 1u) << done->problem;
}

TEST_F(PlayerTest, WhatDoesNotCompileIsRefusedWithTheDriversWords) {
    Player player;
    ASSERT_TRUE(player.open_context(kKinds[0].context));
    recipe::Work work = work_of(kKinds[0]);
    work.sources[1] = {"void main() { no_such_name(); }"};
    work.states = {state_of_window()};
    const auto done = player.work(work);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->outcome, static_cast<std::uint32_t>(recipe::Outcome::refused));
    EXPECT_EQ(done->skipped, 1u);
    EXPECT_NE(done->problem.find("no_such_name"), std::string::npos) << done->problem;
    EXPECT_EQ(player.work(work_of(kKinds[0]))->outcome,
              static_cast<std::uint32_t>(recipe::Outcome::made));
}

TEST_F(PlayerTest, HostileBytesEndItWithoutASignal) {
    std::mt19937 random(1);
    std::string noise(5000, '\0');
    for (char &byte : noise) byte = static_cast<char>(random());
    const std::string context = framed(recipe::encode(kKinds[0].context));
    recipe::Work work = work_of(kKinds[0]);
    work.states = {state_of_window()};
    const std::string good = framed(recipe::encode(work));
    for (const std::string &hostile :
         {noise, framed(noise), std::string("\xff\xff\xff\xff", 4), std::string("\0\0\0", 3),
          framed(""), context.substr(0, 9), context + noise, context + framed(noise),
          context + "\xff\xff\xff\x7f", context + good.substr(0, good.size() / 2)}) {
        Player player;
        player.write(hostile);
        player.close_input();
        EXPECT_EQ(player.wait(), 1);
    }
}

// CAIRN_TEST_MUTATIONS says how many.
TEST_F(PlayerTest, AWorkWithWrongBytesEndsItWithoutASignal) {
    const char *wanted = std::getenv("CAIRN_TEST_MUTATIONS");
    const int count = wanted == nullptr ? 200 : std::atoi(wanted);
    std::mt19937 random(1);
    const Kind &kind = kKinds[2];
    recipe::Work good = work_of(kind);
    good.states = states_of(kind);
    const std::string bytes = recipe::encode(good);
    const std::size_t states_begin = recipe::encode(work_of(kind)).size();
    std::optional<Player> player;
    int played = 0;
    for (int i = 0; i < count; ++i) {
        std::string wrong = bytes;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = states_begin + random() % (bytes.size() - states_begin);
            wrong[at] = static_cast<char>(
                random() % 2 == 0 ? random() % 256 : 1u ^ static_cast<unsigned char>(wrong[at]));
        }
        if (!player) {
            player.emplace();
            ASSERT_TRUE(player->open_context(kind.context));
        }
        player->write(framed(wrong));
        if (player->read()) {
            ++played;
            continue;
        }
        EXPECT_EQ(player->wait(), 1) << "mutation " << i;
        player.reset();
    }
    EXPECT_GT(played, count / 10);
}

}  // namespace
}  // namespace gl_test
