// SPDX-License-Identifier: MIT
#include "contexts.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/front_end.h"

namespace cairn::gl {
namespace {

class ContextTest : public ::testing::Test {
  protected:
    ContextTest() { testing::start_front_end(); }
    ~ContextTest() override { context_made_current(driver_, {}); }
    void create() { context_created(driver_, kHandle, {}, {.is_es = true}, nullptr); }
    bool is_known() {
        context_made_current(driver_, kHandle);
        return bound_context() != nullptr;
    }
    void destroy() { context_left(kHandle, hold_context(kHandle), true); }

    int object_ = 0;
    const ContextHandle kHandle = {nullptr, &object_};
    Driver driver_;
};

TEST_F(ContextTest, IsKnownUntilTheDriverHasDestroyedIt) {
    EXPECT_FALSE(is_known());
    create();
    EXPECT_TRUE(is_known());
    context_left(kHandle, hold_context(kHandle), false);
    EXPECT_TRUE(is_known());
    destroy();
    EXPECT_FALSE(is_known());
    destroy();
}

TEST_F(ContextTest, ANewContextOfTheSameHandleStays) {
    create();
    Context *older = hold_context(kHandle);
    create();
    context_left(kHandle, older, true);
    EXPECT_TRUE(is_known());
    destroy();
    EXPECT_FALSE(is_known());
}

// An indirect context of GLX, for example: its calls are that driver's all the same.
TEST_F(ContextTest, AContextThatNobodyToldOfIsItsDriversOwn) {
    EXPECT_FALSE(is_known());
    EXPECT_EQ(current_context(), nullptr);
    EXPECT_EQ(&current_driver(), &driver_);
    context_made_current(driver_, {});
    EXPECT_NE(&current_driver(), &driver_);
}

thread_local std::vector<GLenum> t_asked;

// To ask it for the language is an error.
TEST_F(ContextTest, AContextOfOpenGlEs1IsAskedForItsVersionAlone) {
    driver_.gl.GetString = [](GLenum name) {
        t_asked.push_back(name);
        return reinterpret_cast<const GLubyte *>("OpenGL ES-CM 1.1 fake");
    };
    create();
    ASSERT_TRUE(is_known());
    EXPECT_FALSE(current_context()->has_cache);
    EXPECT_EQ(t_asked, std::vector<GLenum>{GL_VERSION});
    destroy();
}

TEST(ContextOptionsTest, WhatMayChangeCompilingIsInTheirBytes) {
    const ContextOptions plain;
    EXPECT_EQ(plain.bytes(), (ContextOptions{.major = 4, .minor = 5}).bytes());
    EXPECT_NE(plain.bytes(), ContextOptions{.is_es = true}.bytes());
    EXPECT_NE(plain.bytes(),
              ContextOptions{.profile = GL_CONTEXT_COMPATIBILITY_PROFILE_BIT}.bytes());
    EXPECT_NE(plain.bytes(), ContextOptions{.flags = ContextOptions::kDebug}.bytes());
    EXPECT_NE(plain.bytes(), ContextOptions{.others = "more"}.bytes());
}

}  // namespace
}  // namespace cairn::gl
