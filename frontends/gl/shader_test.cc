// SPDX-License-Identifier: MIT
#include "shader.h"

#include <gtest/gtest.h>

namespace cairn::gl {
namespace {

TEST(ShaderTest, AnIncludeIsFoundHoweverItIsWritten) {
    EXPECT_TRUE(may_include_others("#include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("void main() {}\n # \t include </x>\n"));
    EXPECT_TRUE(may_include_others("void main() {}\r#include </x>"));
    EXPECT_TRUE(may_include_others("#/* why */include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#/* why\n */ /**/ \t include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("/* first */ #include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("int a; // a remark\n#include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("/* // */ #include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("// /*\n#include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("/*/ still */ #include \"/x\"\n"));
}

TEST(ShaderTest, AnIncludeIsFoundOverSeveralLines) {
    EXPECT_TRUE(may_include_others("#inc\\\nlude \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#inc\\\r\nlude \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#inc\\\rlu\\\n\\\nde \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#\\\ninclude \"/x\"\n"));
    EXPECT_TRUE(may_include_others("/\\\n* */ #include \"/x\"\n"));
}

// Drivers and versions of the language would take these differently.
TEST(ShaderTest, WhatMayBeAnIncludeCounts) {
    EXPECT_TRUE(may_include_others("// a remark that goes on \\\n#include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("int a; /* several\nlines */ #include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#error \"/*\"\n#include \"/x\"\n//*/\n"));
}

TEST(ShaderTest, OnlyADirectiveIncludes) {
    EXPECT_FALSE(may_include_others(""));
    EXPECT_FALSE(may_include_others("int included = 1;\n#define A \\\n 1\n"));
    EXPECT_FALSE(may_include_others("// what this includes\n"));
    EXPECT_FALSE(may_include_others("//includes\n//#include \"/x\"\n"));
    EXPECT_FALSE(may_include_others("/* what was\n#include \"/x\"\nhere */\nvoid main() {}\n"));
    EXPECT_FALSE(may_include_others("/* for ever\n#include \"/x\"\n"));
    EXPECT_FALSE(may_include_others("int a = 1 / include;\n"));
    EXPECT_FALSE(may_include_others("int a; #include \"/x\"\n"));
    EXPECT_FALSE(may_include_others("#define A #include\n"));
    EXPECT_FALSE(may_include_others("#\ninclude\n"));
    EXPECT_FALSE(may_include_others("#extension GL_ARB_shading_language_include : require\n"));
    EXPECT_FALSE(may_include_others("#extension GL_GOOGLE_include_directive : enable\n"));
    EXPECT_FALSE(may_include_others("\\"));
    EXPECT_FALSE(may_include_others("\\\n"));
    EXPECT_FALSE(may_include_others("/"));
    EXPECT_FALSE(may_include_others("/*"));
    EXPECT_FALSE(may_include_others("#"));
    EXPECT_FALSE(may_include_others("\""));
}

}  // namespace
}  // namespace cairn::gl
