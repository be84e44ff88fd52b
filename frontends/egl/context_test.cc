// SPDX-License-Identifier: MIT
#include "context.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/front_end.h"

namespace cairn::egl {
namespace {

class ContextTest : public ::testing::Test {
  protected:
    ContextTest() { testing::start_front_end(); }
    void create() {
        context_created(vendor_, nullptr, kHandle, EGL_NO_CONTEXT, EGL_OPENGL_ES_API, nullptr,
                        nullptr);
    }
    bool is_known() {
        context_made_current(vendor_, nullptr, kHandle);
        return current_vendor() == &vendor_;
    }
    void destroy() { context_left(nullptr, kHandle, hold_context(nullptr, kHandle), true); }

    int object_ = 0;
    const EGLContext kHandle = &object_;
    Vendor vendor_;
};

TEST_F(ContextTest, IsKnownUntilEglHasDestroyedIt) {
    EXPECT_FALSE(is_known());
    create();
    EXPECT_TRUE(is_known());
    context_left(nullptr, kHandle, hold_context(nullptr, kHandle), false);
    EXPECT_TRUE(is_known());
    destroy();
    EXPECT_FALSE(is_known());
    destroy();
}

TEST_F(ContextTest, ANewContextOfTheSameHandleStays) {
    create();
    Context *older = hold_context(nullptr, kHandle);
    create();
    context_left(nullptr, kHandle, older, true);
    EXPECT_TRUE(is_known());
    destroy();
    EXPECT_FALSE(is_known());
}

thread_local std::vector<GLenum> t_asked;

// To ask it for the language is an error.
TEST_F(ContextTest, AContextOfOpenGlEs1IsAskedForItsVersionAlone) {
    vendor_.gl.GetString = [](GLenum name) {
        t_asked.push_back(name);
        return reinterpret_cast<const GLubyte *>("OpenGL ES-CM 1.1 fake");
    };
    create();
    ASSERT_TRUE(is_known());
    EXPECT_FALSE(current_context()->has_cache);
    EXPECT_EQ(t_asked, std::vector<GLenum>{GL_VERSION});
    destroy();
}

}  // namespace
}  // namespace cairn::egl
