// SPDX-License-Identifier: MIT
// Hooks in front of functions that the drivers of the tests in tests/egl do not have.
#include "program_hooks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gl_hooks.h"
#include "key.h"
#include "testing/front_end.h"

namespace cairn::egl {
namespace {

constexpr GLuint kShader = 3;
constexpr GLuint kProgram = 4;

// What the driver was asked to do, in order.
std::string *g_calls = nullptr;

uintptr_t nothing() {
    return 0;
}

void answer_program(GLuint, GLenum name, GLint *value) {
    *value = name == GL_ATTACHED_SHADERS ? 1 : GL_TRUE;
}

void get_attached_shaders(GLuint, GLsizei, GLsizei *count, GLuint *shaders) {
    *count = 1;
    *shaders = kShader;
}

// A driver with one shader, which is attached to one program.
void fill(GlFunctions &gl) {
    auto *const does_nothing = reinterpret_cast<void *>(&nothing);
#define X(name, type) gl.name = reinterpret_cast<type>(does_nothing);
    GL_FUNCTIONS(X)
#undef X
    gl.GetProgramiv = answer_program;
    gl.GetAttachedShaders = get_attached_shaders;
    gl.GetShaderiv = [](GLuint, GLenum, GLint *value) { *value = GL_TRUE; };
    gl.IsProgram = [](GLuint name) -> GLboolean { return name == kProgram ? GL_TRUE : GL_FALSE; };
    gl.IsShader = [](GLuint name) -> GLboolean { return name == kShader ? GL_TRUE : GL_FALSE; };
    gl.CompileShader = [](GLuint) { *g_calls += "compile "; };
    gl.LinkProgram = [](GLuint) { *g_calls += "link "; };
    gl.CreateShaderProgramEXT = [](GLenum, const GLchar *) { return kProgram; };
}

class ProgramHooksTest : public ::testing::Test {
  protected:
    ProgramHooksTest() {
        testing::start_front_end();
        g_calls = &calls_;
        fill(vendor_.gl);
        context_created(vendor_, nullptr, handle_, EGL_NO_CONTEXT, EGL_OPENGL_API, nullptr,
                        nullptr);
        context_made_current(vendor_, nullptr, handle_);
    }
    ~ProgramHooksTest() override {
        LeavingContext(nullptr, handle_).destroyed();
        context_made_current(vendor_, nullptr, handle_);  // unknown by now: nothing is current
    }

    void add_deferred_shader() {
        ShareGroup &group = *current_context()->group;
        group.add_shader(vendor_.gl, kShader, GL_VERTEX_SHADER);
        group.shader(vendor_.gl, kShader)->state = Shader::State::deferred;
    }
    ProgramRef program() { return find_program(current_context(), kProgram); }

    // The key of a program for which these calls were made, in this order.
    using BoundNames = std::vector<std::pair<GLuint, const char *>>;
    ProgramKey key_after(const BoundNames &attributes) {
        ShareGroup &group = *current_context()->group;
        group.forget(kProgram);
        group.add_program(vendor_.gl, kProgram);
        for (const auto &[index, name] : attributes) {
            bind_attrib_location<&GlFunctions::BindAttribLocation>(kProgram, index, name);
        }
        return program_key({}, {}, program()->settings);
    }

    std::string calls_;
    int object_ = 0;
    const EGLContext handle_ = &object_;
    Vendor vendor_;
};

TEST_F(ProgramHooksTest, AProgramThatIsNotTrackedIsLinkedWithCompiledShaders) {
    add_deferred_shader();
    link_program_hook<&GlFunctions::LinkProgram>(kProgram + 1);
    EXPECT_EQ(calls_, "link ");
    link_program_hook<&GlFunctions::LinkProgram>(kProgram);
    EXPECT_EQ(calls_, "link compile link ");
}

TEST_F(ProgramHooksTest, AProgramOfOneShaderIsTrackedAndNotCached) {
    create_shader_program_of_one<&GlFunctions::CreateShaderProgramEXT>(GL_VERTEX_SHADER, "");
    ASSERT_NE(program(), nullptr);
    EXPECT_FALSE(program()->is_understood);
    EXPECT_TRUE(program()->was_linked);
}

TEST_F(ProgramHooksTest, AVaryingThatIsKeptEndsCaching) {
    ASSERT_NE(gl_hook("glActiveVaryingNV"), nullptr);
    current_context()->group->add_program(vendor_.gl, kProgram);
    active_varying<&GlFunctions::ActiveVaryingNV>(kProgram, "color");
    EXPECT_FALSE(program()->is_understood);
}

TEST_F(ProgramHooksTest, TheOrderInWhichNamesGetLocationsIsNotInTheKey) {
    const ProgramKey key = key_after({{0, "position"}, {1, "color"}, {2, "edge"}});
    EXPECT_EQ(key_after({{2, "edge"}, {0, "position"}, {1, "color"}}), key);
    EXPECT_EQ(key_after({{1, "color"}, {2, "edge"}, {0, "position"}, {1, "color"}}), key);
    EXPECT_NE(key_after({{0, "color"}, {1, "position"}, {2, "edge"}}), key);
    EXPECT_NE(key_after({{0, "position"}, {1, "color"}}), key);
}

TEST_F(ProgramHooksTest, TheOrderInWhichOneNameGetsLocationsIsInTheKey) {
    EXPECT_NE(key_after({{0, "a"}, {1, "a"}}), key_after({{1, "a"}, {0, "a"}}));
    // A driver may take these for one name.
    EXPECT_NE(key_after({{0, "a"}, {1, "a[0]"}}), key_after({{1, "a[0]"}, {0, "a"}}));
    EXPECT_EQ(key_after({{0, "a"}, {1, "a"}, {2, "b"}}), key_after({{0, "a"}, {2, "b"}, {1, "a"}}));
}

TEST_F(ProgramHooksTest, OnlyQuestionsThatMayWaitForALinkTakeItsTime) {
    GLint value = 0;
    const uint64_t before = testing::read_report().link_ns;
    for (const int name : {GL_ACTIVE_UNIFORMS, GL_ACTIVE_ATTRIBUTES, GL_DELETE_STATUS}) {
        get_program_iv<&GlFunctions::GetProgramiv>(kProgram, static_cast<GLenum>(name), &value);
    }
    EXPECT_EQ(testing::read_report().link_ns, before);
    for (const int name : {GL_LINK_STATUS, GL_INFO_LOG_LENGTH, GL_COMPLETION_STATUS_KHR}) {
        get_program_iv<&GlFunctions::GetProgramiv>(kProgram, static_cast<GLenum>(name), &value);
    }
    EXPECT_GT(testing::read_report().link_ns, before);
}

}  // namespace
}  // namespace cairn::egl
