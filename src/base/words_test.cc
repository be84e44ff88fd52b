// SPDX-License-Identifier: MIT
#include "base/words.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(WordsTest, AWordIsNotAPartOfAnother) {
    EXPECT_TRUE(has_word("EGL_a EGL_b", "EGL_a"));
    EXPECT_TRUE(has_word("EGL_a EGL_b ", "EGL_b"));
    EXPECT_TRUE(has_word(" EGL_a  EGL_b", "EGL_b"));
    EXPECT_FALSE(has_word("EGL_ab XEGL_a", "EGL_a"));
    EXPECT_FALSE(has_word("", "EGL_a"));
    EXPECT_TRUE(has_word("EGL_aa EGL_a", "EGL_a"));
}

}  // namespace
}  // namespace cairn
