// SPDX-License-Identifier: MIT
// `cairn convert`, with the converters that the build has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conversions/testing/shaders.h"
#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;
namespace shaders = conversions::testing;

using testing::HasSubstr;
using testing::Not;

class ConvertTest : public testing::Test {
  protected:
    Finished convert(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "convert");
        return cairn(arguments, environment_);
    }
    Finished control(const std::string &action) const {
        return cairn({"control", "--kind", "conversions", action}, environment_);
    }
    void require(const char *converter) const {
        if (convert({"--list"}).standard_output.find(converter) == std::string::npos) {
            GTEST_SKIP() << "this build is without " << converter;
        }
    }

    Folder folder_;
    Environment environment_ = {{"CAIRN_DIR", folder_ / "root"}, {"CAIRN_DEVELOPER_MODE", "1"}};
    std::string source_ = folder_.write("a.vert", shaders::kVertexShader);
    std::string output_ = folder_ / "a.spv";
};

TEST_F(ConvertTest, ExplainsItselfWithExamplesAndExitCodes) {
    const Finished finished = convert({"--help"});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.standard_output, HasSubstr("Usage: cairn convert"));
    EXPECT_THAT(finished.standard_output, HasSubstr("Example"));
    EXPECT_THAT(finished.standard_output, HasSubstr("Exit codes:"));
    EXPECT_THAT(cairn({"--help"}).standard_output, HasSubstr("convert"));
    EXPECT_EQ(cairn({"help", "convert"}).standard_output, finished.standard_output);
    EXPECT_THAT(convert({"--lst"}).standard_error, HasSubstr("did you mean `--list`"));
}

TEST_F(ConvertTest, ASecondConversionComesFromTheCache) {
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    const Finished cold = convert({"-v", source_, output_});
    EXPECT_EQ(cold.exit_code, 0) << cold.standard_error;
    EXPECT_THAT(cold.standard_error, HasSubstr("converted, and kept by glslang"));
    const std::string made = read_file(output_);
    EXPECT_EQ(made.substr(0, 4), std::string("\x03\x02\x23\x07", 4));
    const Finished warm = convert({"-v", source_, folder_ / "b.spv"});
    EXPECT_THAT(warm.standard_error, HasSubstr("from the cache"));
    EXPECT_EQ(read_file(folder_ / "b.spv"), made);
    EXPECT_EQ(convert({source_, "-"}).standard_output, made);
    EXPECT_THAT(cairn({"ls"}, environment_).standard_output,
                testing::ContainsRegex("conversions +- +1 "));
    EXPECT_THAT(cairn({"clear", "conversions"}, environment_).standard_output,
                HasSubstr("removed 1 entry"));
    EXPECT_THAT(convert({"-v", source_, output_}).standard_error, HasSubstr("converted, and kept"));
}

TEST_F(ConvertTest, TheKindConversionsIsObeyed) {
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    EXPECT_EQ(convert({source_, output_}).exit_code, 0);
    ASSERT_EQ(control("--disable").exit_code, 0);
    const Finished off = convert({"-v", source_, output_});
    EXPECT_EQ(off.exit_code, 0);
    EXPECT_THAT(off.standard_error, HasSubstr("not cached: conversions are switched off"));
    EXPECT_THAT(off.standard_error, HasSubstr("converted, and not kept"));
    ASSERT_EQ(control("--enable").exit_code, 0);
    EXPECT_THAT(convert({"-v", source_, output_}).standard_error, HasSubstr("from the cache"));
    ASSERT_EQ(control("--clear").exit_code, 0);
    EXPECT_THAT(convert({"-v", source_, output_}).standard_error, HasSubstr("converted, and kept"));
}

TEST_F(ConvertTest, WhatTheConverterSaysReachesTheUserAndNothingIsWritten) {
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    const std::string wrong =
        folder_.write("wrong.frag", "#version 450\nvoid main() {\n  \x1b[31mnonsense;\n}\n");
    for (int round = 0; round < 2; ++round) {
        const Finished refused = convert({"-v", wrong, output_});
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_THAT(refused.standard_error, HasSubstr("0:3:"));
        EXPECT_THAT(refused.standard_error, HasSubstr("glslang does not convert " + wrong));
        EXPECT_THAT(refused.standard_error, Not(HasSubstr("\x1b")));
    }
    EXPECT_FALSE(fs::exists(output_));
    EXPECT_THAT(cairn({"ls"}, environment_).standard_output,
                testing::ContainsRegex("conversions +- +0 "));
}

TEST_F(ConvertTest, AFailureLeavesAnOlderOutputAsItIs) {
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    folder_.write("a.spv", "older");
    EXPECT_EQ(convert({folder_.write("no.frag", "no"), output_}).exit_code, 1);
    EXPECT_EQ(read_file(output_), "older");
    EXPECT_EQ(convert({source_, folder_ / "none/a.spv"}).exit_code, 1);
    size_t files = 0;
    for ([[maybe_unused]] const auto &entry : fs::directory_iterator(folder_.path())) {
        ++files;
    }
    EXPECT_EQ(files, 4u) << "a.vert, a.spv, no.frag and the root";
}

TEST_F(ConvertTest, DxbcAndSpirvAreKnownByTheirBytes) {
    ASSERT_NO_FATAL_FAILURE(require("vkd3d-shader"));
    ASSERT_NO_FATAL_FAILURE(require("spirv-cross"));
    if (IsSkipped()) return;
    const std::string dxbc = folder_.write("shader", shaders::dxbc_shader());
    EXPECT_THAT(convert({"-v", dxbc, output_}).standard_error, HasSubstr("by vkd3d-shader"));
    const Finished glsl = convert({"-v", "-O", "version=430", output_, "-"});
    EXPECT_THAT(glsl.standard_error, HasSubstr("by spirv-cross"));
    EXPECT_THAT(glsl.standard_output, HasSubstr("#version 430"));
}

TEST_F(ConvertTest, NamesGiveStageAndLanguage) {
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    const std::string hlsl =
        folder_.write("b.frag.hlsl", "float4 main() : SV_Target { return 1; }\n");
    EXPECT_EQ(convert({hlsl, output_}).exit_code, 0);
    EXPECT_EQ(convert({"-O", "language=glsl", hlsl, output_}).exit_code, 1);
}

TEST_F(ConvertTest, WrongUsageIsTwo) {
    const std::vector<std::vector<std::string>> wrong = {{},
                                                         {source_},
                                                         {"--bogus"},
                                                         {"--describe"},
                                                         {source_, output_, "more"},
                                                         {"--converter", "none", source_, output_}};
    for (const auto &arguments : wrong) {
        const Finished finished = convert(arguments);
        EXPECT_EQ(finished.exit_code, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(finished.standard_error, testing::StartsWith("cairn: "));
    }
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    for (const char *option : {"stage", "=x", "stage=none", "colour=blue"}) {
        EXPECT_EQ(convert({"-O", option, source_, output_}).exit_code, 2) << option;
    }
}

TEST_F(ConvertTest, FilesThatCannotBeUsedAreFailures) {
    EXPECT_EQ(convert({folder_ / "none", output_}).exit_code, 1);
    EXPECT_EQ(convert({folder_.path().string(), output_}).exit_code, 1);
    EXPECT_THAT(convert({"/dev/zero", output_}).standard_error, HasSubstr("larger than a shader"));
}

TEST_F(ConvertTest, WithoutAUsableRootItIsConvertedAllTheSame) {
    ASSERT_NO_FATAL_FAILURE(require("glslang"));
    if (IsSkipped()) return;
    const Finished finished = convert({"--dir", folder_.write("file", "text"), source_, output_});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.standard_error, HasSubstr("not cached: "));
    EXPECT_TRUE(fs::exists(output_));
}

}  // namespace
}  // namespace cairn::cli_test
