// SPDX-License-Identifier: MIT
// The converters that this build has, on good and on hostile input.
#include "conversions/converter.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "conversions/sandbox.h"
#include "conversions/testing/shaders.h"

namespace cairn::conversions {
namespace {

using namespace testing;  // shaders

constexpr const char *kIds[] = {"glslang", "spirv-cross", "vkd3d-shader"};

bool is_spirv(const std::string &bytes) {
    std::uint32_t word = 0;
    if (bytes.size() < 20 || bytes.size() % 4 != 0) return false;
    std::memcpy(&word, bytes.data(), 4);
    return word == 0x07230203;
}

Converted run(const ShaderConverter &converter, Options options, std::string_view input) {
    std::string problem;
    EXPECT_TRUE(complete_options(converter, options, problem)) << problem;
    Limits limits;
    limits.seconds = 20;
    return convert_in_child(converter, options, input, limits);
}

class ConverterTest : public ::testing::TestWithParam<const char *> {
  protected:
    void SetUp() override {
        converter_ = find_converter(GetParam());
        if (converter_ == nullptr) GTEST_SKIP() << "this build is without it";
    }
    // Something that it converts.
    std::string input() const {
        const std::string_view id = GetParam();
        if (id == "glslang") return kVertexShader;
        if (id == "vkd3d-shader") return dxbc_shader();
        return spirv_shader();
    }

    const ShaderConverter *converter_ = nullptr;
};

TEST_P(ConverterTest, SaysWhatItIs) {
    EXPECT_EQ(converter_->id, GetParam());
    EXPECT_FALSE(converter_->about.empty());
    EXPECT_GE(converter_->version().size(), 40u)
        << "a version and a build-id: " << converter_->version();
    EXPECT_EQ(converter_->version(), converter_->version());
}

TEST_P(ConverterTest, ConvertsAndAlwaysTheSame) {
    const Converted one = run(*converter_, {}, input());
    EXPECT_TRUE(one.ok) << one.messages;
    EXPECT_FALSE(one.output.empty());
    EXPECT_EQ(run(*converter_, {}, input()).output, one.output);
}

TEST_P(ConverterTest, EveryValueOfEveryOptionIsAccepted) {
    for (const OptionRule &rule : converter_->rules) {
        for (const std::string &value : rule.values) {
            const Converted result = run(*converter_, {{rule.name, value}}, input());
            EXPECT_TRUE(result.ok || !result.messages.empty()) << rule.name << " " << value;
            EXPECT_EQ(result.messages.find("crashed"), std::string::npos)
                << rule.name << " " << value;
        }
    }
}

TEST_P(ConverterTest, OtherOptionsAndValuesAreRefusedWithAReason) {
    std::string problem;
    Options options = {{"colour", "blue"}};
    EXPECT_FALSE(complete_options(*converter_, options, problem));
    EXPECT_NE(problem.find("no such option; it has "), std::string::npos);
    options = {{converter_->rules.back().name, "blue"}};
    EXPECT_FALSE(complete_options(*converter_, options, problem));
    EXPECT_NE(problem.find("is one of "), std::string::npos);
}

// Cut, changed and random: an outcome each time, and this process goes on.
TEST_P(ConverterTest, HostileInputIsAnOutcome) {
    const std::string good = input();
    std::mt19937 random(7);
    const auto below = [&](std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
    };
    for (int i = 0; i < 60; ++i) {
        std::string bad = good;
        if (i % 3 == 0) bad.resize(below(bad.size()));
        for (std::size_t n = below(6); n-- > 0 && !bad.empty();) {
            bad[below(bad.size())] = static_cast<char>(below(256));
        }
        if (i % 10 == 0) {
            bad.resize(below(300));
            for (char &c : bad) c = static_cast<char>(below(256));
        }
        const Converted result = run(*converter_, {}, bad);
        EXPECT_TRUE(result.ok || !result.messages.empty());
        EXPECT_TRUE(result.ok || result.output.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(All, ConverterTest, ::testing::ValuesIn(kIds), [](const auto &id) {
    std::string name = id.param;
    std::erase(name, '-');
    return name;
});

TEST(Converters, AreInOrderAndFoundByTheirIds) {
    std::string last;
    for (const ShaderConverter *converter : converters()) {
        EXPECT_LT(last, converter->id);
        last = converter->id;
        EXPECT_EQ(find_converter(last), converter);
    }
    EXPECT_EQ(find_converter("none"), nullptr);
}

const ShaderConverter *glslang_or_skip() {
    return find_converter("glslang");
}

TEST(Glslang, MakesSpirvOfGlslAndHlsl) {
    const ShaderConverter *glslang = glslang_or_skip();
    if (glslang == nullptr) GTEST_SKIP();
    EXPECT_TRUE(is_spirv(run(*glslang, {}, kVertexShader).output));
    const Converted hlsl =
        run(*glslang, {{"language", "hlsl"}, {"stage", "fragment"}, {"entry", "shade"}},
            "float4 shade() : SV_Target { return float4(1, 2, 3, 4); }\n");
    EXPECT_TRUE(is_spirv(hlsl.output)) << hlsl.messages;
}

TEST(Glslang, SaysWhatIsWrongAndWhere) {
    const ShaderConverter *glslang = glslang_or_skip();
    if (glslang == nullptr) GTEST_SKIP();
    const Converted wrong = run(*glslang, {}, "#version 450\nvoid main() {\n  nonsense = 1;\n}\n");
    EXPECT_FALSE(wrong.ok);
    EXPECT_NE(wrong.messages.find("0:3:"), std::string::npos) << wrong.messages;
    EXPECT_NE(wrong.messages.find("nonsense"), std::string::npos);
}

TEST(Glslang, IncludesNothing) {
    const ShaderConverter *glslang = glslang_or_skip();
    if (glslang == nullptr) GTEST_SKIP();
    const Converted refused = run(*glslang, {},
                                  "#version 450\n#extension GL_GOOGLE_include_directive : enable\n"
                                  "#include \"/etc/passwd\"\nvoid main() {}\n");
    EXPECT_FALSE(refused.ok);
    EXPECT_EQ(refused.messages.find("root:"), std::string::npos);
}

TEST(Glslang, DeepAndEndlessSourcesEnd) {
    const ShaderConverter *glslang = glslang_or_skip();
    if (glslang == nullptr) GTEST_SKIP();
    const std::string deep = "#version 450\nvoid main() { float x = " + std::string(200'000, '(') +
                             "1.0" + std::string(200'000, ')') + "; }\n";
    EXPECT_FALSE(run(*glslang, {}, deep).messages.empty());
    std::string bomb = "#version 450\n#define A0 1+1\n";
    for (int i = 1; i < 40; ++i) {
        const std::string before = "A" + std::to_string(i - 1);
        bomb += "#define A" + std::to_string(i) + " " + before + "+" + before + "\n";
    }
    bomb += "void main() { int x = A39; }\n";
    std::string problem;
    Options options;
    ASSERT_TRUE(complete_options(*glslang, options, problem));
    Limits limits;
    limits.seconds = 2;
    EXPECT_FALSE(convert_in_child(*glslang, options, bomb, limits).ok);
}

TEST(SpirvCross, BringsGlslBack) {
    const ShaderConverter *cross = find_converter("spirv-cross");
    if (cross == nullptr) GTEST_SKIP();
    const Converted glsl = run(*cross, {{"version", "430"}}, spirv_shader());
    EXPECT_TRUE(glsl.ok) << glsl.messages;
    EXPECT_NE(glsl.output.find("#version 430"), std::string::npos);
    EXPECT_NE(glsl.output.find("void main()"), std::string::npos);
    const Converted es = run(*cross, {{"version", "310"}, {"es", "yes"}}, spirv_shader());
    EXPECT_NE(es.output.find("#version 310 es"), std::string::npos);
}

TEST(Vkd3dShader, MakesSpirvOfDxbc) {
    const ShaderConverter *vkd3d = find_converter("vkd3d-shader");
    if (vkd3d == nullptr) GTEST_SKIP();
    const Converted spirv = run(*vkd3d, {}, dxbc_shader());
    EXPECT_TRUE(is_spirv(spirv.output)) << spirv.messages;
    const Converted wrong = run(*vkd3d, {}, "DXBC and nothing else");
    EXPECT_FALSE(wrong.ok);
    EXPECT_FALSE(wrong.messages.empty());
}

TEST(Conversions, GoAllTheWayFromDxbcToGlsl) {
    const ShaderConverter *vkd3d = find_converter("vkd3d-shader");
    const ShaderConverter *cross = find_converter("spirv-cross");
    if (vkd3d == nullptr || cross == nullptr) GTEST_SKIP();
    const Converted glsl = run(*cross, {}, run(*vkd3d, {}, dxbc_shader()).output);
    EXPECT_TRUE(glsl.ok) << glsl.messages;
    EXPECT_NE(glsl.output.find("local_size_x = 1"), std::string::npos);
}

TEST(BuildId, IsThatOfTheObjectAtAnAddress) {
    const std::string own = build_id_at(reinterpret_cast<const void *>(&build_id_at));
    // No sanitizer has a function of its own in place of this one.
    const std::string libc = build_id_at(reinterpret_cast<const void *>(&::gnu_get_libc_version));
    EXPECT_FALSE(own.empty());
    EXPECT_NE(own, libc);
    EXPECT_EQ(build_id_at(nullptr), "");
}

}  // namespace
}  // namespace cairn::conversions
