// SPDX-License-Identifier: MIT
#include "entry.h"

#include <cairn/internal/front_end.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn::gl {
namespace {

std::span<const std::byte> bytes_of(const std::string &text) {
    return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

TEST(EntryTest, AShaderComesBack) {
    for (const Report &report : {Report{"", 0}, Report{"", 1}, Report{"0:1: warning\n", 14}}) {
        const std::string bytes = encode_shader(report);
        const auto entry = decode_shader(bytes_of(bytes));
        ASSERT_TRUE(entry);
        EXPECT_EQ(entry->log, report.log);
        EXPECT_EQ(entry->log_length, report.log_length);
    }
}

TEST(EntryTest, AProgramComesBack) {
    const std::string bytes =
        encode_program_head({"a log", 6}, 0x875f) + std::string("\0binary", 7);
    const auto entry = decode_program(bytes_of(bytes));
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->report.log, "a log");
    EXPECT_EQ(entry->report.log_length, 6);
    EXPECT_EQ(entry->format, 0x875fu);
    ASSERT_EQ(entry->binary.size(), 7u);
    EXPECT_EQ(memcmp(entry->binary.data(), "\0binary", 7), 0);
}

// The example of docs/egl.md.
TEST(EntryTest, TheLayoutIsThatOfTheDocument) {
    const std::string bytes = encode_program_head({"ok", 3}, 0x875f) + "\xaa\xbb";
    EXPECT_EQ(
        bytes,
        std::string("CGP2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x5f\x87\0\0\3\0\0\0\2\0\0\0ok\xaa\xbb",
                    36));
    std::string key;
    for (char byte = 0; byte < 20; ++byte) {
        key.push_back(byte);
    }
    std::string whole = bytes;
    ASSERT_EQ(cairn_egl_entry_seal(key.data(), key.size(), whole.data(), whole.size()), CAIRN_OK);
    EXPECT_EQ(whole.substr(4, 16),
              std::string("\x47\x47\x8b\x0c\x0f\x02\x3d\xc7\x7c\x4a\xa0\x58\xed\xd8\x6e\x6d", 16));
    EXPECT_EQ(encode_shader({"", 0}), std::string("CGS1\0\0\0\0\0\0\0\0", 12));
}

TEST(EntryTest, NothingThatWasCutOffIsTaken) {
    const std::string program = encode_program_head({"a log", 6}, 0x875f) + "x";
    for (size_t size = 0; size < program.size(); ++size) {
        EXPECT_FALSE(decode_program(bytes_of(program.substr(0, size)))) << size;
    }
    const std::string shader = encode_shader({"a log", 6});
    for (size_t size = 0; size < shader.size(); ++size) {
        EXPECT_FALSE(decode_shader(bytes_of(shader.substr(0, size)))) << size;
    }
    EXPECT_FALSE(decode_shader(bytes_of(shader + "x")));
}

TEST(EntryTest, ALengthThatNoLogHasIsNone) {
    for (const GLint length : {0, 1, 3, 4, 4096 + 3}) {
        EXPECT_TRUE(decode_program(bytes_of(encode_program_head({"log", length}, 1) + "x")));
        EXPECT_TRUE(decode_shader(bytes_of(encode_shader({"log", length}))));
    }
    for (const GLint length : {-1, INT32_MIN, INT32_MAX, 4096 + 4}) {
        EXPECT_FALSE(decode_program(bytes_of(encode_program_head({"log", length}, 1) + "x")));
        EXPECT_FALSE(decode_shader(bytes_of(encode_shader({"log", length}))));
    }
}

TEST(EntryTest, OneKindIsNotTakenForTheOther) {
    EXPECT_FALSE(decode_shader(bytes_of(encode_program_head({"", 0}, 1))));
    EXPECT_FALSE(decode_program(bytes_of(encode_shader({"", 0}) + "xxxxxxxx")));
}

}  // namespace
}  // namespace cairn::gl
