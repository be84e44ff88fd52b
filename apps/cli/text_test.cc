// SPDX-License-Identifier: MIT
#include "text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

namespace cairn::cli {
namespace {

const std::vector<std::string> kWords = {"run",    "rm",       "ls",         "stats",
                                         "clear",  "compress", "control",    "convert",
                                         "export", "import",   "--full-keys"};

TEST(Text, BytesKeepOneDecimalAndNeverReadAs1024) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1024), "1.0 KiB");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
    EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1.0 MiB");
    EXPECT_EQ(format_bytes(1073741824), "1.0 GiB");
    EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(Text, DurationsChangeUnitsWhereTheyShould) {
    EXPECT_EQ(format_duration_ns(0), "0 ms");
    EXPECT_EQ(format_duration_ns(1), "1 us");
    EXPECT_EQ(format_cost_ns(0), "-");
    EXPECT_EQ(format_cost_ns(850'000), "850 us");
    EXPECT_EQ(format_duration_ns(850'000), "850 us");
    EXPECT_EQ(format_duration_ns(999'700), "1.0 ms");
    EXPECT_EQ(format_duration_ns(12'340'000), "12.3 ms");
    EXPECT_EQ(format_duration_ns(999'960'000), "1.00 s");
    EXPECT_EQ(format_duration_ns(1'250'000'000), "1.25 s");
    EXPECT_EQ(format_duration_ns(59'999'000'000), "1 min 0 s");
    EXPECT_EQ(format_duration_ns(200'000'000'000), "3 min 20 s");
}

TEST(Text, TimesAreLocal) {
    setenv("TZ", "UTC", 1);
    tzset();
    EXPECT_EQ(format_time(1'740'837'909'123), "2025-03-01 14:05:09");
}

TEST(Text, LongKeysSayThatTheyGoOn) {
    EXPECT_EQ(format_key("\x01\xab", 2, 8), "01ab");
    EXPECT_EQ(format_key("\x01\xab\xff", 3, 2), "01ab..");
}

TEST(Text, CountsAgreeWithTheirNouns) {
    EXPECT_EQ(format_count(0, "entry", "entries"), "0 entries");
    EXPECT_EQ(format_count(1, "entry", "entries"), "1 entry");
    EXPECT_EQ(format_count(2, "entry", "entries"), "2 entries");
}

TEST(Text, ForeignTextCannotSteerATerminal) {
    EXPECT_EQ(printable_line("a\x1b[31mred\rb\x7f\n\t"), "a?[31mred?b???");
    EXPECT_EQ(printable_line("\xc2\x9b"
                             "31m|\xc2\x80|\xc2\x9f|\xc2\xa0"),
              "?31m|?|?|\xc2\xa0")
        << "C1";
    EXPECT_EQ(printable_line("\x9b|\x80|\xff|\xc3|\xe2\x80|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80"),
              "?|?|?|?|??|??|???|????")
        << "no UTF-8";
    EXPECT_EQ(printable_line("\u202e|\u202a|\u2066|\u2069|\u200f|\u061c|\u2028|\U000e0041"),
              "?|?|?|?|?|?|?|?")
        << "directions, line ends, tags";
}

TEST(Text, LettersOfAllLanguagesStay) {
    const std::string letters = "gr\u00fc\u00df \u4e2d\u6587 \u0627\u0644 \u05d0 \U0001f600 \u20ac";
    EXPECT_EQ(printable_line(letters), letters);
    EXPECT_EQ(printable_text(letters + "\n\x1bsecond"), letters + "\n?second\n");
}

TEST(Text, JsonKeepsWhatItEscapes) {
    const nlohmann::ordered_json json = {{"about", "a\u009b\u202e\x7f\x1b\n\u00fc\U000e0041"}};
    const std::string text = printable_json(json);
    EXPECT_EQ(text, "{\n  \"about\": \"a\\u009b\\u202e\\u007f\\u001b\\n\u00fc\\udb40\\udc41\"\n}");
    EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
    EXPECT_EQ(printable_json("\xff"), "\"\ufffd\"");
}

TEST(Text, AWordIsOneWordForAShell) {
    for (const std::string word :
         {"", "plain", "two words", "a'; echo b; 'c", "$(d) `e` \\ \"f\"\n"}) {
        const std::string command = "printf %s " + shell_word(word);
        FILE *pipe = ::popen(command.c_str(), "r");
        ASSERT_NE(pipe, nullptr);
        std::string said(100, '\0');
        said.resize(fread(said.data(), 1, said.size(), pipe));
        ::pclose(pipe);
        EXPECT_EQ(said, word);
    }
}

TEST(Suggestion, OneSlipIsUnderstood) {
    const std::vector<std::pair<const char *, std::string>> slips = {
        {"stat", "stats"},    {"sttas", "stats"},           {"claer", "clear"},
        {"rn", "run"},        {"expotr", "export"},         {"exprot", "export"},
        {"comp", "compress"}, {"--fullkeys", "--full-keys"}};
    for (const auto &[word, meant] : slips) {
        EXPECT_EQ(did_you_mean(word, kWords), " (did you mean `" + meant + "`?)");
    }
}

TEST(Suggestion, WhatIsFarFromAllIsNot) {
    for (const char *word : {"", "x", "banana", "--other", "list-everything"}) {
        EXPECT_EQ(did_you_mean(word, kWords), "") << word;
    }
    EXPECT_EQ(did_you_mean(std::string(100'000, 's'), kWords), "");
    EXPECT_EQ(did_you_mean("stats", {"stats"}), "") << "it is what was said";
}

}  // namespace
}  // namespace cairn::cli
