// Conversions through the C interface.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_control.h>
#include <cairn/cairn_convert.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

#include "conversions/testing/shaders.h"
#include "support/cache.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

namespace fs = std::filesystem;
using Options = std::map<std::string, std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Conversion {
    int result;
    std::uint32_t source;
    std::string output, messages;
};

class Converter {
  public:
    explicit Converter(const cairn_converter_options &options) {
        result_ = cairn_converter_open(&options, &handle_);
    }
    ~Converter() { cairn_converter_close(handle_); }
    Converter(const Converter &) = delete;
    Converter &operator=(const Converter &) = delete;

    int result() const { return result_; }
    cairn_converter *handle() const { return handle_; }
    Conversion convert(const std::string &input = "shader", const Options &options = {},
                       const char *converter = "echo") const {
        std::vector<cairn_conversion_option> given;
        for (const auto &[name, value] : options) given.push_back({name.c_str(), value.c_str()});
        cairn_conversion conversion = {};
        conversion.size = sizeof conversion;
        conversion.converter = converter;
        conversion.options = given.data();
        conversion.option_count = given.size();
        conversion.input = input.data();
        conversion.input_size = input.size();
        cairn_blob *output = nullptr;
        cairn_blob *messages = nullptr;
        const int result = cairn_convert(handle_, &conversion, &output, &messages);
        EXPECT_EQ(result == CAIRN_OK, output != nullptr);
        const Blob made(output), said(messages);
        return {result, conversion.source, as_string(made.bytes()), as_string(said.bytes())};
    }

  private:
    cairn_converter *handle_ = nullptr;
    int result_;
};

class ConvertTest : public testing::Test {
  protected:
    void SetUp() override {
        ::setenv("CAIRN_DEVELOPER_MODE", "1", 1);
        fs::create_directory(directory_ / "bin");
        fs::copy_file(CONVERT_WORKER, program_);
    }
    void TearDown() override { ::unsetenv("CAIRN_DEVELOPER_MODE"); }

    cairn_converter_options options() {
        cairn_converter_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.program = program_.c_str();
        options.log = LogLines::receive;
        options.log_user = &log_;
        return options;
    }
    // By a handle of its own, as another process has it.
    Conversion convert(const std::string &input = "shader", const Options &given = {},
                       const char *converter = "echo") {
        return Converter(options()).convert(input, given, converter);
    }
    std::vector<std::string> starts() const {
        std::ifstream file(directory_ / "bin/starts");
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }
    void forget_starts() const { fs::remove(directory_ / "bin/starts"); }
    void apply(std::uint32_t flags) const {
        cairn_control_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        cairn_control *control = nullptr;
        ASSERT_EQ(cairn_control_open(&options, &control), CAIRN_OK);
        EXPECT_EQ(cairn_control_apply(control, CAIRN_KIND_CONVERSIONS, flags, nullptr), CAIRN_OK);
        cairn_control_close(control);
    }
    // In place of the program.
    void write_program(const std::string &script) {
        fs::remove(program_);
        std::ofstream(program_) << "#!/bin/sh\n" << script << "\n";
        ::chmod(program_.c_str(), 0700);
    }

    TempDirectory directory_;
    std::string root_ = directory_ / "root";
    std::string program_ = directory_ / "bin/cairn-convert";
    LogLines log_;
};

TEST_F(ConvertTest, WhatWasConvertedOnceStartsNoProcessAgain) {
    const Conversion made = convert();
    ASSERT_EQ(made.result, CAIRN_OK);
    EXPECT_EQ(made.source, std::uint32_t{CAIRN_CONVERSION_KEPT});
    EXPECT_THAT(made.output, StartsWith("colour=red|name=main|shader|"));
    EXPECT_EQ(made.messages, "a warning\n");
    EXPECT_THAT(starts(), ElementsAre("--describe", "--convert"));
    forget_starts();
    const Conversion found = convert();
    EXPECT_EQ(found.result, CAIRN_OK);
    EXPECT_EQ(found.source, std::uint32_t{CAIRN_CONVERSION_CACHED});
    EXPECT_EQ(found.output, made.output);
    EXPECT_EQ(found.messages, made.messages);
    EXPECT_TRUE(starts().empty());
}

TEST_F(ConvertTest, AnyDifferenceIsAnotherConversion) {
    std::vector<std::string> outputs;
    const auto expect_new = [&](const std::string &input, const Options &given) {
        const Conversion made = convert(input, given);
        EXPECT_EQ(made.source, std::uint32_t{CAIRN_CONVERSION_KEPT});
        EXPECT_EQ(std::count(outputs.begin(), outputs.end(), made.output), 0);
        outputs.push_back(made.output);
    };
    expect_new("a", {});
    expect_new("b", {});
    expect_new("", {});
    expect_new("a", {{"colour", "blue"}});
    expect_new("a", {{"name", "a"}});
    expect_new("a", {{"name", "a"}, {"colour", "blue"}});
    EXPECT_EQ(convert("a").source, std::uint32_t{CAIRN_CONVERSION_CACHED});
}

TEST_F(ConvertTest, AnotherProgramIsAskedAnew) {
    EXPECT_EQ(convert().source, std::uint32_t{CAIRN_CONVERSION_KEPT});
    const fs::path newer = directory_ / "bin/newer";
    fs::copy_file(program_, newer);
    fs::rename(newer, program_);
    forget_starts();
    EXPECT_EQ(convert().source, std::uint32_t{CAIRN_CONVERSION_CACHED}) << "of the same version";
    EXPECT_THAT(starts(), ElementsAre("--describe"));
}

TEST_F(ConvertTest, ADamagedDescriptionIsMadeAnew) {
    for (const char *damage : {"", "converter\techo\t9\t\n", "file\t/nonexistent\t1\t1\t1\t1\n"}) {
        EXPECT_EQ(convert().result, CAIRN_OK);
        std::ofstream(root_ + "/conversions/converters") << damage;
        forget_starts();
        EXPECT_EQ(convert().source, std::uint32_t{CAIRN_CONVERSION_CACHED});
        EXPECT_THAT(starts(), ElementsAre("--describe"));
    }
}

TEST_F(ConvertTest, NothingAConverterDoesHarmsTheCaller) {
    cairn_converter_options few = options();
    few.process_bytes = 512u << 20;
    const Converter converter(few);
    std::map<std::string, const char *> said = {{"crash", "signal 6"},
                                                {"exit", "without an answer"},
                                                {"flood", "larger than"},
                                                {"memory", "gave up"},
                                                {"anything", "refused"}};
#if defined(__SANITIZE_ADDRESS__)
    said.erase("memory");  // has no bound there, as the sanitizer's own would not fit
#endif
    for (const auto &[input, words] : said) {
        for (int round = 0; round < 2; ++round) {
            const Conversion refused = converter.convert(input, {}, "misbehaving");
            EXPECT_EQ(refused.result, CAIRN_NOT_CONVERTED) << input;
            EXPECT_THAT(refused.messages, HasSubstr(words));
        }
    }
    EXPECT_EQ(starts().size(), 1 + 2 * said.size()) << "failures are not kept";
    EXPECT_EQ(converter.convert().result, CAIRN_OK);
}

TEST_F(ConvertTest, NobodyIsWaitedForForEver) {
    cairn_converter_options hasty = options();
    hasty.timeout_ms = 200;
    EXPECT_EQ(Converter(hasty).convert("hang", {}, "misbehaving").result, CAIRN_LATE);
    write_program("exec sleep 1000");
    EXPECT_EQ(Converter(hasty).convert("other").result, CAIRN_LATE);
}

TEST_F(ConvertTest, AProgramThatSaysSomethingElseIsAnError) {
    for (const char *script : {"exit 3", "cat", "echo CNA1", "head -c 100000 /dev/zero"}) {
        write_program(script);
        EXPECT_EQ(convert("other").result, CAIRN_ERROR_IO) << script;
    }
}

TEST_F(ConvertTest, WithoutTheProgramNothingIsConverted) {
    EXPECT_EQ(convert().result, CAIRN_OK);
    fs::remove(program_);
    EXPECT_EQ(convert("other").result, CAIRN_ERROR_UNSUPPORTED);
    EXPECT_THAT(log_.complaints(), testing::Contains(HasSubstr("is not installed")));
    std::ofstream(program_) << "no program";
    EXPECT_EQ(convert("other").result, CAIRN_ERROR_UNSUPPORTED) << "nor is it executable";
}

TEST_F(ConvertTest, TheProgramIsThatOfTheEnvironment) {
    cairn_converter_options unnamed = options();
    unnamed.program = nullptr;
    ::setenv(CAIRN_CONVERT_ENV, program_.c_str(), 1);
    EXPECT_EQ(Converter(unnamed).convert().result, CAIRN_OK);
    ::setenv(CAIRN_CONVERT_ENV, "relative", 1);
    EXPECT_EQ(Converter(unnamed).result(), CAIRN_ERROR_INVALID_ARGUMENT);
    ::unsetenv(CAIRN_CONVERT_ENV);
    EXPECT_EQ(Converter(unnamed).result(), CAIRN_OK);
}

TEST_F(ConvertTest, SwitchedOffEachConversionIsMadeAnew) {
    const Conversion made = convert();
    apply(CAIRN_CONTROL_DISABLE);
    const Converter converter(options());
    EXPECT_THAT(log_.complaints(), testing::Contains(HasSubstr("cairn control")));
    for (const char *input : {"shader", "other"}) {
        const Conversion anew = converter.convert(input);
        EXPECT_EQ(anew.result, CAIRN_OK);
        EXPECT_EQ(anew.source, std::uint32_t{CAIRN_CONVERSION_MADE});
        EXPECT_NE(anew.output, made.output);
    }
    apply(CAIRN_CONTROL_ENABLE);
    EXPECT_EQ(converter.convert("other").source, std::uint32_t{CAIRN_CONVERSION_KEPT})
        << "none was stored";
    EXPECT_EQ(converter.convert().source, std::uint32_t{CAIRN_CONVERSION_CACHED});
    apply(CAIRN_CONTROL_CLEAR);
    EXPECT_EQ(converter.convert().source, std::uint32_t{CAIRN_CONVERSION_KEPT});
}

TEST_F(ConvertTest, WithoutAUsableRootConversionsAreMadeAnew) {
    std::ofstream(root_) << "a file";
    const Conversion made = convert();
    EXPECT_EQ(made.result, CAIRN_OK);
    EXPECT_EQ(made.source, std::uint32_t{CAIRN_CONVERSION_MADE});
    EXPECT_FALSE(log_.complaints().empty());
}

TEST_F(ConvertTest, EntriesThatAreNotOursAreReplaced) {
    EXPECT_EQ(convert().result, CAIRN_OK);
    for (const std::string &entry : {std::string(), std::string("CNV1"), std::string(8, '\xFF'),
                                     std::string("CNV1\xFF\0\0\0x", 9)}) {
        Cache cache({.root = root_, .identifier = "conversions"});
        std::string key;
        const auto note = [](void *user, const cairn_entry *found) {
            static_cast<std::string *>(user)->assign(static_cast<const char *>(found->key),
                                                     found->key_size);
            return 1;
        };
        cairn_enumerate(cache.handle(), note, &key);
        ASSERT_EQ(cache.put(as_bytes(key), as_bytes(entry)), CAIRN_OK);
        EXPECT_EQ(convert().source, std::uint32_t{CAIRN_CONVERSION_KEPT});
        EXPECT_EQ(convert().source, std::uint32_t{CAIRN_CONVERSION_CACHED});
    }
}

TEST_F(ConvertTest, TheCallersChildrenAndSignalsAreItsOwn) {
    for (const auto handler : {SIG_DFL, SIG_IGN}) {
        const auto before = ::signal(SIGCHLD, handler);
        const Conversion made = convert(handler == SIG_IGN ? "ignored" : "default");
        EXPECT_EQ(made.result, CAIRN_OK);
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
        EXPECT_EQ(errno, ECHILD) << "no child, dead or alive, is left";
        ::signal(SIGCHLD, before);
    }
}

TEST_F(ConvertTest, WhoEndsInTheMiddleLeavesNoProcess) {
    Child child([&] { return convert("hang", {}, "misbehaving").result; });
    const auto others = [&] {
        unsigned count = 0;
        for (const auto &entry : fs::directory_iterator("/proc")) {
            std::error_code error;
            const fs::path link = fs::read_symlink(entry.path() / "exe", error);
            if (!error && link == program_) ++count;
        }
        return count;
    };
    ASSERT_TRUE(eventually([&] { return others() == 2; })) << "the program, and its converter";
    child.kill();
    EXPECT_TRUE(eventually([&] { return others() == 0; }));
}

TEST_F(ConvertTest, ThreadsAndProcessesShareIt) {
    constexpr int kShaders = 6;
    const auto convert_all = [&] {
        const Converter converter(options());
        for (int i = 0; i < kShaders; ++i) {
            if (converter.convert(std::to_string(i)).result != CAIRN_OK) return 1;
        }
        return 0;
    };
    Child one(convert_all), other(convert_all);
    const Converter converter(options());
    std::vector<std::thread> threads;
    for (int i = 0; i < kShaders; ++i) {
        threads.emplace_back(
            [&, i] { EXPECT_EQ(converter.convert(std::to_string(i)).result, CAIRN_OK); });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(one.wait(), 0);
    EXPECT_EQ(other.wait(), 0);
    for (int i = 0; i < kShaders; ++i) {
        const Conversion found = convert(std::to_string(i));
        EXPECT_EQ(found.source, std::uint32_t{CAIRN_CONVERSION_CACHED});
        EXPECT_THAT(found.output, StartsWith("colour=red|name=main|" + std::to_string(i) + "|"));
    }
}

TEST_F(ConvertTest, WrongArgumentsAreSaidToBe) {
    const Converter converter(options());
    EXPECT_EQ(converter.convert("x", {}, "none").result, CAIRN_ERROR_UNSUPPORTED);
    EXPECT_EQ(converter.convert("x", {}, nullptr).result, CAIRN_ERROR_INVALID_ARGUMENT);
    const Conversion wrong = converter.convert("x", {{"colour", "green"}});
    EXPECT_EQ(wrong.result, CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(wrong.messages, HasSubstr("red, blue"));
    EXPECT_EQ(converter.convert("x", {{"size", "1"}}).result, CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(converter.convert("x", {{"", "1"}}).result, CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(converter.convert("x", {{"a=b", "1"}}).result, CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(converter.convert(std::string((16u << 20) + 1, 'x')).result, CAIRN_ERROR_TOO_LARGE);
    EXPECT_EQ(converter.convert(std::string(16u << 20, 'x')).result, CAIRN_OK);

    cairn_conversion conversion = {};
    cairn_blob *output = nullptr;
    EXPECT_EQ(cairn_convert(converter.handle(), &conversion, &output, nullptr),
              CAIRN_ERROR_INVALID_ARGUMENT);
    conversion.size = sizeof conversion;
    conversion.converter = "echo";
    EXPECT_EQ(cairn_convert(nullptr, &conversion, &output, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_convert(converter.handle(), nullptr, &output, nullptr),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_convert(converter.handle(), &conversion, nullptr, nullptr),
              CAIRN_ERROR_INVALID_ARGUMENT);
    const cairn_conversion_option twice[] = {{"name", "a"}, {"name", "b"}};
    conversion.options = twice;
    conversion.option_count = 2;
    EXPECT_EQ(cairn_convert(converter.handle(), &conversion, &output, nullptr),
              CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cairn_converter_open(nullptr, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(Converter(cairn_converter_options{}).result(), CAIRN_ERROR_INVALID_ARGUMENT);
    cairn_converter_close(nullptr);
}

TEST_F(ConvertTest, TellsWhichConvertersThereAre) {
    const Converter converter(options());
    cairn_blob *text = nullptr;
    ASSERT_EQ(cairn_converter_describe(converter.handle(), &text), CAIRN_OK);
    const std::string lines = as_string(Blob(text).bytes());
    EXPECT_THAT(lines, StartsWith("converter\techo\t1"));
    EXPECT_THAT(lines, HasSubstr("\noption\tcolour\tred|blue\tof nothing\n"));
    EXPECT_THAT(lines, HasSubstr("\noption\tname\tmain|*\tany\n"));
    EXPECT_EQ(cairn_converter_describe(nullptr, &text), CAIRN_ERROR_INVALID_ARGUMENT);
}

#ifdef CAIRN_CONVERT_PROGRAM
TEST_F(ConvertTest, HitsOfRealConvertersAreAsAFreshConversion) {
    namespace shaders = cairn::conversions::testing;
    const std::map<std::string, std::string> inputs = {{"glslang", shaders::kVertexShader},
                                                       {"spirv-cross", shaders::spirv_shader()},
                                                       {"vkd3d-shader", shaders::dxbc_shader()}};
    program_ = CAIRN_CONVERT_PROGRAM;
    const Converter converter(options());
    unsigned tried = 0;
    for (const auto &[id, input] : inputs) {
        const Conversion made = converter.convert(input, {}, id.c_str());
        if (made.result == CAIRN_ERROR_UNSUPPORTED) continue;
        ++tried;
        EXPECT_EQ(made.source, std::uint32_t{CAIRN_CONVERSION_KEPT}) << made.messages;
        const Conversion hit = converter.convert(input, {}, id.c_str());
        EXPECT_EQ(hit.source, std::uint32_t{CAIRN_CONVERSION_CACHED});
        EXPECT_EQ(hit.output, made.output);
        EXPECT_EQ(hit.messages, made.messages);
    }
    if (tried == 0) GTEST_SKIP() << "this build is without converters";
}
#endif

}  // namespace
}  // namespace cairn_test
