// SPDX-License-Identifier: MIT
#include "shader.h"

#include <gtest/gtest.h>

namespace cairn::egl {
namespace {

TEST(ShaderTest, AnIncludeIsFoundHoweverItIsWritten) {
    EXPECT_TRUE(may_include_others("#include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("void main() {}\n # \t include </x>\n"));
    EXPECT_TRUE(may_include_others("#/* why */include \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#inc\\\nlude \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#inc\\\r\nlude \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#inc\\\rlu\\\n\\\nde \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#\\\ninclude \"/x\"\n"));
    EXPECT_TRUE(may_include_others("#extension GL_ARB_shading_language_include : require\n"));
}

TEST(ShaderTest, TheWordAloneIsNoInclude) {
    EXPECT_FALSE(may_include_others(""));
    EXPECT_FALSE(may_include_others("int included = 1;\n#define A \\\n 1\n"));
    EXPECT_FALSE(may_include_others("// what this includes\n"));
    EXPECT_FALSE(may_include_others("\\"));
    EXPECT_FALSE(may_include_others("\\\n"));
}

}  // namespace
}  // namespace cairn::egl
