// SPDX-License-Identifier: MIT
#include "common/words.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(WordsTest, AWordIsAddedOnce) {
    EXPECT_EQ(with_word("a b", "c"), "a b c");
    EXPECT_EQ(with_word("a b ", "c"), "a b c");
    EXPECT_EQ(with_word("", "c"), "c");
    EXPECT_EQ(with_word("c d", "c"), "c d");
    EXPECT_EQ(with_words("a b", "b  c "), "a b c");
    EXPECT_EQ(with_words("", ""), "");
}

TEST(WordsTest, ATextIsKeptOnce) {
    EXPECT_EQ(kept("x y"), kept(std::string("x ") + "y"));
    EXPECT_STREQ(kept("x y"), "x y");
}

}  // namespace
}  // namespace cairn
