// SPDX-License-Identifier: MIT
// Hooks in front of functions that the drivers of the tests in tests/gl do not have.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "testing/driver.h"
#include "testing/front_end.h"

namespace cairn::gl {
namespace {

using testing::hook;

constexpr GLuint kShader = 3;
constexpr GLuint kProgram = 4;

// The calls that the driver got, in order.
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
#define X(name, type, ...) gl.name = reinterpret_cast<type>(does_nothing);
    GL_FUNCTIONS(X, X)
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

class GlHooksTest : public ::testing::Test {
  protected:
    GlHooksTest() {
        testing::start_front_end();
        g_calls = &calls_;
        fill(driver_.gl);
        testing::make_context(driver_, handle_, nullptr);
    }
    ~GlHooksTest() override { testing::end_context(driver_, handle_); }

    void add_deferred_shader() {
        ShareGroup &group = *current_context()->group;
        group.add_shader(kShader, GL_VERTEX_SHADER);
        group.shader(kShader)->state = Shader::State::deferred;
    }
    ProgramRef program() { return find_program(current_context(), kProgram); }

    // The key of a program for which these calls were made, in this order.
    using BoundNames = std::vector<std::pair<GLuint, const char *>>;
    ProgramKey key_after(const BoundNames &attributes) {
        make_program();
        for (const auto &[index, name] : attributes) {
            hook<PFNGLBINDATTRIBLOCATIONPROC>("glBindAttribLocation")(kProgram, index, name);
        }
        return key();
    }
    void make_program() {
        ShareGroup &group = *current_context()->group;
        group.forget(kProgram);
        group.add_program(kProgram);
    }
    ProgramKey key() {
        return program_key_of(LinkRequest{.traits = Key(),
                                          .shaders = std::vector<Key>(),
                                          .settings = std::span<const Call>(program()->settings),
                                          .program = kProgram,
                                          .gl = nullptr,
                                          .link = nullptr,
                                          .get_binary = nullptr});
    }

    std::string calls_;
    int object_ = 0;
    const ContextHandle handle_ = {nullptr, &object_};
    Driver driver_;
};

TEST_F(GlHooksTest, AProgramThatIsNotTrackedIsLinkedWithCompiledShaders) {
    add_deferred_shader();
    hook<PFNGLLINKPROGRAMPROC>("glLinkProgram")(kProgram + 1);
    EXPECT_EQ(calls_, "link ");
    hook<PFNGLLINKPROGRAMPROC>("glLinkProgram")(kProgram);
    EXPECT_EQ(calls_, "link compile link ");
}

TEST_F(GlHooksTest, AProgramOfOneShaderIsTrackedAndNotCached) {
    hook<PFNGLCREATESHADERPROGRAMEXTPROC>("glCreateShaderProgramEXT")(GL_VERTEX_SHADER, "");
    ASSERT_NE(program(), nullptr);
    EXPECT_FALSE(program()->is_understood);
    EXPECT_TRUE(program()->was_linked);
}

TEST_F(GlHooksTest, AVaryingThatIsKeptEndsCaching) {
    ASSERT_NE(gl_hook("glActiveVaryingNV"), nullptr);
    current_context()->group->add_program(kProgram);
    hook<PFNGLACTIVEVARYINGNVPROC>("glActiveVaryingNV")(kProgram, "color");
    EXPECT_FALSE(program()->is_understood);
}

TEST_F(GlHooksTest, TheOrderInWhichNamesGetLocationsIsNotInTheKey) {
    const ProgramKey key = key_after({{0, "position"}, {1, "color"}, {2, "edge"}});
    EXPECT_EQ(key_after({{2, "edge"}, {0, "position"}, {1, "color"}}), key);
    EXPECT_EQ(key_after({{1, "color"}, {2, "edge"}, {0, "position"}, {1, "color"}}), key);
    EXPECT_NE(key_after({{0, "color"}, {1, "position"}, {2, "edge"}}), key);
    EXPECT_NE(key_after({{0, "position"}, {1, "color"}}), key);
}

TEST_F(GlHooksTest, TheOrderInWhichOneNameGetsLocationsIsInTheKey) {
    EXPECT_NE(key_after({{0, "a"}, {1, "a"}}), key_after({{1, "a"}, {0, "a"}}));
    // A driver may take these for one name.
    EXPECT_NE(key_after({{0, "a"}, {1, "a[0]"}}), key_after({{1, "a[0]"}, {0, "a"}}));
    EXPECT_EQ(key_after({{0, "a"}, {1, "a"}, {2, "b"}}), key_after({{0, "a"}, {2, "b"}, {1, "a"}}));
}

TEST_F(GlHooksTest, ALocationThatIsCertainReplacesThoseBefore) {
    current_context()->attributes_max = 8;
    const ProgramKey key = key_after({{1, "a"}, {2, "b"}});
    EXPECT_EQ(key_after({{3, "a"}, {1, "a"}, {2, "b"}}), key);
    EXPECT_EQ(key_after({{0, "b"}, {1, "a"}, {0, "a"}, {2, "b"}, {1, "a"}}), key);
    EXPECT_EQ(key_after({{8, "a"}, {1, "a"}, {2, "b"}}), key);
    EXPECT_NE(key_after({{1, "a"}, {2, "b"}, {3, "a"}}), key);
    EXPECT_NE(key_after({{3, "a[0]"}, {1, "a"}, {2, "b"}}), key);
}

TEST_F(GlHooksTest, ALocationThatMayBeRefusedReplacesNothing) {
    current_context()->attributes_max = 8;
    EXPECT_NE(key_after({{1, "a"}, {8, "a"}}), key_after({{8, "a"}}));
    for (const char *name : {"gl_a", "webgl_a", "_webgl_a", "a b", "a[0]", ""}) {
        EXPECT_NE(key_after({{1, name}, {2, name}}), key_after({{2, name}})) << name;
    }
    const std::string long_name(257, 'a');
    EXPECT_NE(key_after({{1, long_name.c_str()}, {2, long_name.c_str()}}),
              key_after({{2, long_name.c_str()}}));
}

TEST_F(GlHooksTest, VaryingsThatMayBeRefusedReplaceNothing) {
    current_context()->separate_varyings_max = 4;
    const auto key_with = [this](const std::vector<std::vector<const char *>> &calls) {
        make_program();
        for (const auto &names : calls) {
            hook<PFNGLTRANSFORMFEEDBACKVARYINGSPROC>("glTransformFeedbackVaryings")(
                kProgram, static_cast<GLsizei>(names.size()), names.data(), GL_INTERLEAVED_ATTRIBS);
        }
        return key();
    };
    EXPECT_EQ(key_with({{"a"}, {"b"}, {"a"}}), key_with({{"a"}}));
    EXPECT_EQ(key_with({{"a"}, {}}), key_with({}));
    EXPECT_EQ(key_with({{"gl_NextBuffer"}, {"a"}}), key_with({{"a"}}));
    for (const char *special : {"gl_NextBuffer", "gl_SkipComponents1"}) {
        EXPECT_NE(key_with({{"a"}, {special}}), key_with({{special}})) << special;
    }
}

TEST_F(GlHooksTest, AParameterIsAboutItselfAlone) {
    const auto key_with = [this](const std::vector<std::pair<GLenum, GLint>> &calls) {
        make_program();
        for (const auto &[name, value] : calls) {
            hook<PFNGLPROGRAMPARAMETERIPROC>("glProgramParameteri")(kProgram, name, value);
        }
        return key();
    };
    const ProgramKey none = key_with({});
    const GLenum other = 0x8DDA;  // GL_GEOMETRY_VERTICES_OUT_ARB
    EXPECT_EQ(key_with({{GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE}}), none);
    EXPECT_EQ(key_with({{GL_PROGRAM_SEPARABLE, GL_TRUE}, {GL_PROGRAM_SEPARABLE, GL_FALSE}}), none);
    EXPECT_NE(key_with({{GL_PROGRAM_SEPARABLE, GL_TRUE}}), none);
    EXPECT_NE(key_with({{GL_PROGRAM_SEPARABLE, GL_TRUE}, {GL_PROGRAM_SEPARABLE, 2}}),
              key_with({{GL_PROGRAM_SEPARABLE, 2}}));
    EXPECT_EQ(key_with({{GL_PROGRAM_SEPARABLE, GL_TRUE}, {other, 3}}),
              key_with({{other, 3}, {GL_PROGRAM_SEPARABLE, GL_TRUE}}));
    EXPECT_NE(key_with({{other, 3}, {other, 4}}), key_with({{other, 4}}));
}

TEST_F(GlHooksTest, OnlyQuestionsThatMayWaitForALinkTakeItsTime) {
    GLint value = 0;
    const uint64_t before = testing::read_report().link_ns;
    for (const int name : {GL_ACTIVE_UNIFORMS, GL_ACTIVE_ATTRIBUTES, GL_DELETE_STATUS}) {
        hook<PFNGLGETPROGRAMIVPROC>("glGetProgramiv")(kProgram, static_cast<GLenum>(name), &value);
    }
    EXPECT_EQ(testing::read_report().link_ns, before);
    for (const int name : {GL_LINK_STATUS, GL_INFO_LOG_LENGTH, GL_COMPLETION_STATUS_KHR}) {
        hook<PFNGLGETPROGRAMIVPROC>("glGetProgramiv")(kProgram, static_cast<GLenum>(name), &value);
    }
    EXPECT_GT(testing::read_report().link_ns, before);
}

}  // namespace
}  // namespace cairn::gl
