// SPDX-License-Identifier: MIT
#include "suggestion.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

const std::vector<std::string> kWords = {"run",    "rm",       "ls",         "stats",
                                         "clear",  "compress", "control",    "convert",
                                         "export", "import",   "--full-keys"};

TEST(Suggestion, OneSlipIsUnderstood) {
    EXPECT_EQ(nearest("stat", kWords), "stats");
    EXPECT_EQ(nearest("sttas", kWords), "stats");
    EXPECT_EQ(nearest("claer", kWords), "clear");
    EXPECT_EQ(nearest("rn", kWords), "run");
    EXPECT_EQ(nearest("expotr", kWords), "export");
    EXPECT_EQ(nearest("comp", kWords), "compress");
    EXPECT_EQ(nearest("--fullkeys", kWords), "--full-keys");
}

TEST(Suggestion, WhatIsFarFromAllIsNot) {
    for (const char *word : {"", "x", "banana", "--other", "list-everything"}) {
        EXPECT_EQ(nearest(word, kWords), "") << word;
        EXPECT_EQ(did_you_mean(word, kWords), "");
    }
    EXPECT_EQ(nearest(std::string(100'000, 's'), kWords), "");
    EXPECT_EQ(did_you_mean("exprot", kWords), " (did you mean `export`?)");
}

}  // namespace
}  // namespace cairn::cli
