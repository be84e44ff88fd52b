// SPDX-License-Identifier: MIT
#include "record/questions.h"

#include <gtest/gtest.h>

#include <memory>

namespace cairn::gl::record {
namespace {

uintptr_t nothing() {
    return 0;
}

// A driver that answers each question by as many numbers as any has.
void answer(GLenum name, GLint *value) {
    const int count = name == GL_POLYGON_MODE ? 2 : 1;
    for (int i = 0; i < count; ++i) value[i] = 1;
}

TEST(QuestionsTest, AnswersOfTwoNumbersHaveRoom) {
    GlFunctions gl = {};
    auto *const does_nothing = reinterpret_cast<void *>(&nothing);
#define X(name, type, ...) gl.name = reinterpret_cast<type>(does_nothing);
    GL_FUNCTIONS(X, X)
#undef X
    gl.GetIntegerv = answer;
    const std::unique_ptr<const Functions> more(
        functions_of([](const char *) -> void * { return nullptr; }));
    Questions questions(gl, *more, false, 205);
    Objects objects;
    // AddressSanitizer sees what is written behind an answer.
    const recipe::DrawState state =
        questions.ask({.mode = GL_TRIANGLES}, 1, ProgramInterface(), objects);
    EXPECT_FALSE(state.values.empty());
}

}  // namespace
}  // namespace cairn::gl::record
