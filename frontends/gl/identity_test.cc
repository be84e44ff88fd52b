// SPDX-License-Identifier: MIT
#include "identity.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "settings.h"
#include "testing/front_end.h"

namespace cairn::gl {
namespace {

constexpr const char *kText = R"(<driconf>
    <device>
        <application name="One" executable="one"><option name="glsl_zero_init" value="true" /></application>
        <application name="Two" executable_regexp="two[0-9]+"/>
        <application name="Broken" executable_regexp="three[("/>
    </device>
</driconf>)";

bool mentions_executable(const std::string &text, const std::string &name) {
    return mentioned_executable(text, std::span(&name, 1)) != nullptr;
}

// Caches on disk are found by these bytes.
TEST(IdentityTest, TheTextStaysAsItIs) {
    testing::start_front_end();
    const void *code = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    const DriverNames names = {"Maker", "Card", "4.6 Driver 1", "4.60"};
    const std::string text = driver_identity(code, names, Processor::unimportant);
    EXPECT_THAT(text, ::testing::StartsWith("Programs of Card, 4.6 Driver 1\n"
                                            "Kept by Cairn's front ends for GL.\n"
                                            "GL_VENDOR: Maker\n"
                                            "GL_RENDERER: Card\n"
                                            "GL_VERSION: 4.6 Driver 1\n"
                                            "GL_SHADING_LANGUAGE_VERSION: 4.60\n"
                                            "library: libc.so.6 "));
    EXPECT_THAT(text, ::testing::EndsWith("\n" + settings().driver_options));
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("\nprocessor")));
}

TEST(IdentityTest, ADriverThatCompilesForTheProcessorHasItInItsIdentity) {
    testing::start_front_end();
    const void *code = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    const DriverNames names = {"Mesa", "llvmpipe (LLVM 15.0.6, 256 bits)", "4.5", "4.50"};
    const std::string type = processor_lines(Processor::type);
    const std::string both = processor_lines(Processor::type_and_number);
    EXPECT_THAT(type, ::testing::MatchesRegex("processor: [^\n]+, features [^\n]+\n"));
    EXPECT_THAT(both, ::testing::StartsWith(type + "processors: "));
    EXPECT_THAT(both, ::testing::MatchesRegex("processor:.*\nprocessors: [0-9]+ of [0-9]+\n"));
    EXPECT_EQ(processor_lines(Processor::unimportant), "");
    EXPECT_THAT(driver_identity(code, names, Processor::type_and_number),
                ::testing::HasSubstr("\n" + both));
    EXPECT_THAT(driver_identity(code, names, Processor::type), ::testing::HasSubstr("\n" + type));
}

TEST(IdentityTest, DriversThatDrawWithTheProcessorAreKnownByName) {
    for (const char *renderer :
         {"llvmpipe (LLVM 15.0.6, 256 bits)", "softpipe", "zink Vulkan 1.3(llvmpipe (LLVM 15.0.6))",
          "virgl (llvmpipe (LLVM 15.0.6))", "Software Rasterizer",
          "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device))"}) {
        EXPECT_TRUE(draws_with_processor(renderer)) << renderer;
    }
    for (const char *driver : {"swrast", "kms_swrast", "zink"}) {
        EXPECT_TRUE(draws_with_processor(driver)) << driver;
    }
    for (const char *name :
         {"AMD Radeon RX 6800 (radeonsi, navi21, LLVM 15.0.6)", "Mesa Intel(R) UHD Graphics 620",
          "NVIDIA GeForce RTX 3060/PCIe/SSE2", "zink Vulkan 1.3(AMD Radeon RX 6800 (RADV))", "iris",
          "radeonsi", ""}) {
        EXPECT_FALSE(draws_with_processor(name)) << name;
    }
}

TEST(IdentityTest, AnExecutableIsMentionedByNameOrExpression) {
    EXPECT_TRUE(mentions_executable(kText, "one"));
    EXPECT_TRUE(mentions_executable(kText, "two17"));
    EXPECT_FALSE(mentions_executable(kText, "on"));
    EXPECT_FALSE(mentions_executable(kText, "ones"));
    EXPECT_FALSE(mentions_executable(kText, "tw"));
    EXPECT_FALSE(mentions_executable(kText, "four"));
    EXPECT_FALSE(mentions_executable("<!-- one -->", "one"));
    EXPECT_FALSE(mentions_executable("", "one"));
}

TEST(IdentityTest, OfTheNamesTheFirstThatIsMentionedCounts) {
    const auto first = [](const std::vector<std::string> &names) {
        const std::string *name = mentioned_executable(kText, names);
        return name == nullptr ? "(none)" : *name;
    };
    EXPECT_EQ(first({"four", "two17", "one"}), "two17");
    EXPECT_EQ(first({"four", "one", "two17"}), "one");
    EXPECT_EQ(first({"four", "five"}), "(none)");
    EXPECT_EQ(first({}), "(none)");
}

TEST(IdentityTest, MesaKnowsAnApplicationByWhatFollowsTheLastSeparator) {
    const std::string wine = "/usr/bin/wine64-preloader";
    EXPECT_THAT(names_for_mesa("Z:\\games\\game.exe", wine), ::testing::Contains("game.exe"));
    EXPECT_THAT(names_for_mesa("/bin/Z:\\game.exe", wine),
                ::testing::IsSupersetOf({"game.exe", "Z:\\game.exe", "wine64-preloader"}));
    EXPECT_THAT(names_for_mesa("/usr/bin/one", "/usr/bin/one"),
                ::testing::UnorderedElementsAre("one", "/usr/bin/one"));
    EXPECT_THAT(names_for_mesa("", ""), ::testing::IsEmpty());
}

// Or each start would have another name, and regular expressions would be asked about paths.
TEST(IdentityTest, ArgumentsBehindTheNameAreNoPartOfIt) {
    EXPECT_THAT(names_for_mesa("/usr/bin/one --type=gpu --x=/tmp/scoped_dir", "/usr/bin/one"),
                ::testing::UnorderedElementsAre("one", "/usr/bin/one"));
}

TEST(IdentityTest, WhatIsWrittenInAnotherWayMayMentionEveryExecutable) {
    EXPECT_TRUE(mentions_executable("<application executable='one'>", "one"));
    EXPECT_TRUE(mentions_executable("<application executable = \"one\">", "one"));
    EXPECT_TRUE(mentions_executable("<application executable_regexp='o.e'>", "one"));
    EXPECT_TRUE(mentions_executable("<application executable_regexp= \"o.e\">", "one"));
    EXPECT_TRUE(mentions_executable("<application executable=\"o&#110;e\">", "one"));
    EXPECT_TRUE(mentions_executable("<application executable=\"one", "one"));
    EXPECT_FALSE(mentions_executable("<application executable", "one"));
    EXPECT_FALSE(mentions_executable("<application executable=\"", "one"));
    // As in Mesa's own file.
    EXPECT_FALSE(
        mentions_executable("<!ATTLIST application executable CDATA #IMPLIED\n"
                            "executable_regexp CDATA #IMPLIED>\n"
                            "<!-- an executable name like Mari4.5v2 -->",
                            "one"));
}

TEST(IdentityTest, OnlyMentionedApplicationsHaveAnIdentityOfTheirOwn) {
    std::string folder = std::filesystem::temp_directory_path() / "cairn-drirc-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string file = folder + "/00-some.conf";
    std::ofstream(file) << kText;
    const std::vector<std::string> files = {folder + "/missing", file};
    const std::string of_one = configuration_lines(files, {"one"});
    const std::string of_four = configuration_lines(files, {"four"});
    EXPECT_THAT(of_one, ::testing::HasSubstr("application: one"));
    EXPECT_THAT(of_four, ::testing::Not(::testing::HasSubstr("application")));
    EXPECT_EQ(of_four, configuration_lines(files, {"five"}));
    std::ofstream(file, std::ios::app) << "<!-- changed -->";
    EXPECT_NE(of_four, configuration_lines(files, {"four"}));
    EXPECT_EQ(configuration_lines({folder + "/missing"}, {"one"}), "");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cairn::gl
