// SPDX-License-Identifier: MIT
#include "cache/agent_notice.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace cairn {
namespace {

constexpr const char *kRoot = "/home/me/.cache/cairn";
constexpr const char *kIdentifier = "gl-game-0123456789abcdef";

std::string encoded(std::string_view root = kRoot, std::string_view identifier = kIdentifier) {
    const auto message = encode_agent_notice(root, identifier);
    return message ? std::string(reinterpret_cast<const char *>(message->data()), message->size())
                   : "(none)";
}

bool is_notice(const std::string &message) {
    return decode_agent_notice(as_bytes(message)).has_value();
}

std::string example_of_document() {
    std::ifstream document(AGENT_DOCUMENT);
    std::string bytes;
    for (std::string line; std::getline(document, line);) {
        if (line.starts_with("# Questions")) break;
        if (!line.starts_with("    ")) continue;
        std::istringstream octets(line);
        for (std::string octet; octets >> octet;) {
            bytes.push_back(static_cast<char>(std::stoi(octet, nullptr, 16)));
        }
    }
    return bytes;
}

TEST(AgentNotice, TheDocumentsExampleIsWhatIsSentAndRead) {
    const std::string example = example_of_document();
    EXPECT_EQ(encoded(), example);
    const auto notice = decode_agent_notice(as_bytes(example));
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->root, kRoot);
    EXPECT_EQ(notice->identifier, kIdentifier);
}

TEST(AgentNotice, ACutOrLongerOneIsNone) {
    const std::string whole = encoded();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(is_notice(whole.substr(0, size))) << size;
    }
    EXPECT_TRUE(is_notice(whole));
    EXPECT_FALSE(is_notice(whole + "x"));
    EXPECT_FALSE(is_notice(whole + '\0'));
}

TEST(AgentNotice, EachByteOfTheHeadCounts) {
    const std::string whole = encoded();
    for (std::size_t at = 0; at < 16; ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ 1 << bit);
            EXPECT_FALSE(is_notice(other)) << "byte " << at << ", bit " << bit;
        }
    }
}

TEST(AgentNotice, NamesAreThoseThatCachesAndRootsMayHave) {
    EXPECT_EQ(encoded("relative/root"), "(none)");
    EXPECT_EQ(encoded(""), "(none)");
    EXPECT_EQ(encoded(std::string_view("/a\0b", 4)), "(none)");
    EXPECT_EQ(encoded(kRoot, ""), "(none)");
    EXPECT_EQ(encoded(kRoot, ".packs"), "(none)");
    EXPECT_EQ(encoded(kRoot, std::string(129, 'x')), "(none)");
    for (const char bad : {'/', '\0', '\n', ' '}) {
        std::string other = encoded();
        other.back() = bad;
        EXPECT_FALSE(is_notice(other)) << static_cast<int>(bad);
    }
    std::string relative = encoded();
    relative[16] = 'x';
    EXPECT_FALSE(is_notice(relative));
    std::string cut = encoded();
    cut[20] = '\0';
    EXPECT_FALSE(is_notice(cut));
}

TEST(AgentNotice, IsNeverLargerThanTheBufferOfItsReader) {
    const std::string longest = "/" + std::string(kAgentNoticeSizeMax - 16 - 128 - 1, 'r');
    const std::string identifier(128, 'i');
    EXPECT_EQ(encoded(longest, identifier).size(), kAgentNoticeSizeMax);
    EXPECT_TRUE(is_notice(encoded(longest, identifier)));
    EXPECT_EQ(encoded(longest + "r", identifier), "(none)");
    EXPECT_EQ(encoded(std::string(100'000, '/'), "i"), "(none)");
}

}  // namespace
}  // namespace cairn
