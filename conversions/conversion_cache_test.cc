// SPDX-License-Identifier: MIT
#include "conversions/conversion_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "conversions/testing/shaders.h"
#include "support/temp_directory.h"

namespace cairn::conversions {
namespace {

namespace fs = std::filesystem;

// A converter that is told what to say, and leaves word of each call.
class Echo : public Converter {
  public:
    explicit Echo(std::string folder) : folder_(std::move(folder)) {}

    std::string_view id() const override { return id_; }
    std::string version() const override { return version_; }
    std::string_view about() const override { return "for tests"; }
    std::vector<OptionRule> rules() const override { return {}; }
    Converted convert(const Options &options, std::string_view input) const override {
        if (fails_) return {false, "", "refused\n"};
        std::string output = std::string(id_) + version_;
        for (const auto &[name, value] : options) output += "|" + name + "=" + value;
        // Another one at each call, so that a hit can be told.
        return {true, output + "|" + std::string(input) + "|" + std::to_string(::getpid()),
                "a warning\n"};
    }

    std::string id_ = "echo";
    std::string version_ = "1";
    bool fails_ = false;

  private:
    std::string folder_;
};

class ConversionCacheTest : public ::testing::Test {
  protected:
    void SetUp() override { ::setenv("CAIRN_DEVELOPER_MODE", "1", 1); }
    void TearDown() override { ::unsetenv("CAIRN_DEVELOPER_MODE"); }

    void apply(uint32_t flags) const {
        cairn_control_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        cairn_control *control = nullptr;
        ASSERT_EQ(cairn_control_open(&options, &control), CAIRN_OK);
        EXPECT_EQ(cairn_control_apply(control, CAIRN_KIND_CONVERSIONS, flags, nullptr), CAIRN_OK);
        cairn_control_close(control);
    }
    Result convert(std::string_view input = "shader", const Options &options = {}) const {
        return ConversionCache(root_).convert(echo_, options, input);
    }

    cairn_test::TempDirectory scratch_;
    std::string root_ = scratch_ / "root";
    Echo echo_{scratch_.path()};
};

TEST_F(ConversionCacheTest, WhatWasConvertedIsFoundByTheNextProcessByteForByte) {
    const Result made = convert();
    EXPECT_EQ(made.source, Source::converter);
    EXPECT_TRUE(made.converted.ok);
    const Result found = convert();
    EXPECT_EQ(found.source, Source::cache);
    EXPECT_TRUE(found.converted.ok);
    EXPECT_EQ(found.converted.output, made.converted.output);
    EXPECT_EQ(found.converted.messages, "a warning\n");
}

TEST_F(ConversionCacheTest, AnyDifferenceIsAnotherConversion) {
    std::set<std::string> outputs;
    const auto expect_new = [&](const Result &result) {
        EXPECT_EQ(result.source, Source::converter);
        EXPECT_TRUE(outputs.insert(result.converted.output).second);
    };
    expect_new(convert("a"));
    expect_new(convert("b"));
    expect_new(convert(""));
    expect_new(convert("a", {{"x", "1"}}));
    expect_new(convert("a", {{"x", "2"}}));
    expect_new(convert("a", {{"y", "1"}}));
    expect_new(convert("a", {{"x", "1"}, {"y", "1"}}));
    expect_new(convert("1a", {{"x", ""}}));
    echo_.version_ = "2";
    expect_new(convert("a"));
    echo_.version_ = "1";
    echo_.id_ = "echo2";
    expect_new(convert("a"));
    echo_.id_ = "echo";
    EXPECT_EQ(convert("a").source, Source::cache);
}

TEST_F(ConversionCacheTest, FailuresAreNotKept) {
    echo_.fails_ = true;
    for (int i = 0; i < 2; ++i) {
        const Result refused = convert();
        EXPECT_FALSE(refused.converted.ok);
        EXPECT_EQ(refused.converted.messages, "refused\n");
        EXPECT_EQ(refused.source, Source::converter_uncached);
    }
    echo_.fails_ = false;
    EXPECT_EQ(convert().source, Source::converter);
}

TEST_F(ConversionCacheTest, DisabledEachConversionIsMadeAnew) {
    const Result made = convert();
    apply(CAIRN_CONTROL_DISABLE);
    ConversionCache cache(root_);
    EXPECT_NE(cache.problem().find("cairn control"), std::string::npos);
    for (const char *input : {"shader", "other"}) {
        const Result anew = cache.convert(echo_, {}, input);
        EXPECT_TRUE(anew.converted.ok);
        EXPECT_EQ(anew.source, Source::converter_uncached);
        EXPECT_NE(anew.converted.output, made.converted.output);
    }
    apply(CAIRN_CONTROL_ENABLE);
    EXPECT_EQ(cache.convert(echo_, {}, "other").source, Source::converter) << "none was stored";
    EXPECT_EQ(cache.convert(echo_, {}, "shader").source, Source::cache);
}

TEST_F(ConversionCacheTest, ClearedItIsEmpty) {
    ConversionCache cache(root_);
    EXPECT_EQ(cache.convert(echo_, {}, "shader").source, Source::converter);
    EXPECT_EQ(cache.convert(echo_, {}, "shader").source, Source::cache);
    apply(CAIRN_CONTROL_CLEAR);
    EXPECT_EQ(cache.convert(echo_, {}, "shader").source, Source::converter);
}

TEST_F(ConversionCacheTest, WithoutAUsableRootConversionsAreMadeAnew) {
    std::ofstream(root_) << "a file";
    ConversionCache cache(root_);
    EXPECT_NE(cache.problem().find(root_), std::string::npos);
    const Result made = cache.convert(echo_, {}, "shader");
    EXPECT_TRUE(made.converted.ok);
    EXPECT_EQ(made.source, Source::converter_uncached);
}

TEST_F(ConversionCacheTest, EntriesThatAreNotOursAreReplaced) {
    const Result made = convert();
    for (const std::string &entry : {std::string(), std::string("CNV1"), std::string(8, '\xFF'),
                                     std::string("CNV1\xFF\0\0\0x", 9)}) {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = kIdentifier;
        options.flags = CAIRN_OPEN_ANY_VERSION | CAIRN_OPEN_EXISTING;
        cairn_cache *cache = nullptr;
        ASSERT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        std::string key;
        const auto note = [](void *user, const cairn_entry *found) {
            static_cast<std::string *>(user)->assign(static_cast<const char *>(found->key),
                                                     found->key_size);
            return 1;
        };
        cairn_enumerate(cache, note, &key);
        ASSERT_EQ(cairn_put(cache, key.data(), key.size(), entry.data(), entry.size(), nullptr),
                  CAIRN_OK);
        cairn_close(cache);
        EXPECT_EQ(convert().source, Source::converter);
        EXPECT_EQ(convert().source, Source::cache);
    }
}

// Processes that convert the same shaders at once agree on them afterwards; one of them is killed.
TEST_F(ConversionCacheTest, ManyProcessesShareIt) {
    constexpr int kProcesses = 4;
    constexpr int kShaders = 15;
    std::vector<pid_t> children;
    for (int number = 0; number < kProcesses; ++number) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ConversionCache cache(root_);
            for (int i = 0; i < kShaders; ++i) {
                const Result result = cache.convert(echo_, {}, std::to_string(i));
                if (!result.converted.ok) ::_exit(1);
                if (number == 0 && i == kShaders / 2) ::raise(SIGKILL);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (int number = 0; number < kProcesses; ++number) {
        int status = 0;
        ASSERT_EQ(::waitpid(children[static_cast<std::size_t>(number)], &status, 0),
                  children[static_cast<std::size_t>(number)]);
        EXPECT_EQ(number == 0 ? WIFSIGNALED(status) : status == 0, true);
    }
    for (int i = 0; i < kShaders; ++i) {
        const Result found = convert(std::to_string(i));
        EXPECT_EQ(found.source, Source::cache);
        EXPECT_EQ(found.converted.output.find("echo1|" + std::to_string(i) + "|"), 0u);
    }
}

TEST_F(ConversionCacheTest, HitsOfRealConvertersAreAsAFreshConversion) {
    const std::map<std::string, std::string> inputs = {{"glslang", testing::kVertexShader},
                                                       {"spirv-cross", testing::spirv_shader()},
                                                       {"vkd3d-shader", testing::dxbc_shader()}};
    for (const Converter *converter : converters()) {
        Options options;
        std::string problem;
        ASSERT_TRUE(complete_options(*converter, options, problem));
        const std::string &input = inputs.at(std::string(converter->id()));
        ConversionCache cache(root_);
        EXPECT_EQ(cache.convert(*converter, options, input).source, Source::converter);
        const Result hit = cache.convert(*converter, options, input);
        EXPECT_EQ(hit.source, Source::cache);
        const Converted fresh = convert_in_child(*converter, options, input);
        EXPECT_TRUE(fresh.ok);
        EXPECT_EQ(hit.converted.output, fresh.output) << converter->id();
        EXPECT_EQ(hit.converted.messages, fresh.messages);
    }
}

}  // namespace
}  // namespace cairn::conversions
