// SPDX-License-Identifier: MIT
#include "keys.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

constexpr const char *kLine = "cairn-key-1 7BcrOtVvZ7...";

PublicKey some_key() {
    std::array<std::byte, SecretKey::kSeedSize> seed = {};
    seed[3] = std::byte{42};
    return SecretKey(seed).public_key();
}

TEST(KeysTest, ALineGivesTheKeyThatItWasMadeOf) {
    const NamedKey key = {"studio", some_key()};
    const std::string line = encode_key(key);
    EXPECT_TRUE(line.starts_with("cairn-key-1 "));
    EXPECT_TRUE(line.ends_with(" studio"));
    for (const std::string &text : {line, line + "\n", "  " + line + "\r\n"}) {
        const auto found = decode_key(text);
        ASSERT_TRUE(found) << text;
        EXPECT_EQ(found->name, "studio");
        EXPECT_EQ(found->key, key.key);
    }
}

TEST(KeysTest, WhatIsNoWholeKeyIsNone) {
    const std::string line = encode_key({"studio", some_key()});
    for (std::size_t i = 0; i < line.size() - 5; ++i) {
        EXPECT_FALSE(decode_key(line.substr(0, i))) << i;
        EXPECT_FALSE(decode_key(line.substr(i + 1))) << i;
    }
    const std::string zeroes = base64(PublicKey().bytes);
    for (const std::string &text :
         {std::string(), std::string(kLine), line + " more", "cairn-key-2" + line.substr(11),
          "cairn-key-1 " + zeroes + " studio", line + "/../x", line + std::string(1, '\0'),
          line + std::string(5000, ' '), std::string(5000, 'a') + line}) {
        EXPECT_FALSE(decode_key(text)) << text;
    }
}

TEST(KeysTest, ANameOfAKeyIsTheNameOfAFile) {
    for (const char *name : {"me", "Studio-2", "a.b_c", "9"})
        EXPECT_TRUE(is_key_name(name)) << name;
    const std::string longest(64, 'x');
    EXPECT_TRUE(is_key_name(longest));
    EXPECT_FALSE(is_key_name(longest + "x"));
    for (const char *name : {"", ".", "..", ".me", "a/b", "a b", "a\n", "\xc3\xa4"}) {
        EXPECT_FALSE(is_key_name(name)) << name;
    }
}

TEST(KeysTest, ATextIsToldFromTheNameOfAFile) {
    EXPECT_TRUE(is_key_text(kLine));
    for (const char *name :
         {"studio.key", "-", "cairn-key-1", "cairn-key-1.key", "./cairn-key-1 x"}) {
        EXPECT_FALSE(is_key_text(name)) << name;
    }
}

}  // namespace
}  // namespace cairn::cli
