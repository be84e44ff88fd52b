// SPDX-License-Identifier: MIT
#include "cache/agent_question.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cache/wanted.h"

namespace cairn {
namespace {

// The bytes of the nth example of a document.
std::string example(const char *path, int number) {
    std::ifstream document(path);
    std::string bytes;
    bool was_in = false;
    for (std::string line; std::getline(document, line);) {
        const bool is_in = line.starts_with("    ");
        if (is_in && !was_in && number-- == 0) number = -1000;
        was_in = is_in;
        if (!is_in || number > -900) continue;
        if (number < -1000) return bytes;
        std::istringstream octets(line);
        for (std::string octet; octets >> octet;) {
            bytes.push_back(static_cast<char>(std::stoi(octet, nullptr, 16)));
        }
    }
    return bytes;
}

std::string text_of(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

AgentQuestion question() {
    return {7, 0x1122334455667788, "/home/me/.cache/cairn", "gl-game-0123456789abcdef"};
}

AgentAnswer yes() {
    KeptPackName name = {};
    for (std::size_t i = 0; i < name.size(); ++i) name[i] = static_cast<std::byte>(i);
    return {7, name};
}

std::string encoded(const AgentQuestion &asked) {
    const auto message = encode_question(asked);
    return message ? text_of(*message) : "(none)";
}

TEST(AgentQuestion, TheDocumentsExamplesAreWhatIsSentAndRead) {
    EXPECT_EQ(text_of(*encode_question(question())), example(AGENT_DOCUMENT, 1));
    EXPECT_EQ(text_of(encode_answer(yes())), example(AGENT_DOCUMENT, 2));
    const auto read = decode_question(as_bytes(example(AGENT_DOCUMENT, 1)));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->sequence, 7u);
    EXPECT_EQ(read->entry, 0x1122334455667788u);
    EXPECT_EQ(read->root, question().root);
    EXPECT_EQ(read->identifier, question().identifier);
    EXPECT_EQ(decode_answer(as_bytes(example(AGENT_DOCUMENT, 2))), yes());
}

TEST(AgentQuestion, ACutOrLongerOneIsNone) {
    const std::string whole = encoded(question());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_question(as_bytes(whole.substr(0, size)))) << size;
    }
    EXPECT_TRUE(decode_question(as_bytes(whole)));
    EXPECT_FALSE(decode_question(as_bytes(whole + "x")));
    const std::string answer = text_of(encode_answer(yes()));
    for (std::size_t size = 0; size < answer.size(); ++size) {
        EXPECT_FALSE(decode_answer(as_bytes(answer.substr(0, size)))) << size;
    }
    EXPECT_FALSE(decode_answer(as_bytes(answer + "x")));
}

TEST(AgentQuestion, NamesAreThoseThatCachesAndRootsMayHave) {
    AgentQuestion bad = question();
    bad.root = "relative";
    EXPECT_EQ(encoded(bad), "(none)");
    bad = question();
    bad.identifier = "../x";
    EXPECT_EQ(encoded(bad), "(none)");
    bad = question();
    bad.root = "/" + std::string(kQuestionSizeMax, 'r');
    EXPECT_EQ(encoded(bad), "(none)");
    std::string message = encoded(question());
    message.back() = '/';
    EXPECT_FALSE(decode_question(as_bytes(message)));
}

TEST(AgentQuestion, AnAnswerWithoutAPackHasNoName) {
    const AgentAnswer no = {9, std::nullopt};
    EXPECT_EQ(decode_answer(encode_answer(no)), no);
    auto message = encode_answer(no);
    message.back() = std::byte{1};
    EXPECT_FALSE(decode_answer(message));
    message = encode_answer(no);
    message[10] = std::byte{3};
    EXPECT_FALSE(decode_answer(message)) << "there is no such kind";
}

TEST(AgentQuestion, APackLiesInTheFolderOfPacksUnderEveryName) {
    EXPECT_EQ(kept_packs_path("/root"), "/root/.fleet/packs");
    EXPECT_EQ(kept_pack_file({}), std::string(64, '0') + ".pack");
}

TEST(Wanted, TheDocumentsExampleIsWhatIsWrittenAndRead) {
    const std::vector<std::uint64_t> hashes = {1, 0x1122334455667788};
    EXPECT_EQ(text_of(encode_wanted(hashes)), example(WANTED_DOCUMENT, 0));
    EXPECT_EQ(decode_wanted(as_bytes(example(WANTED_DOCUMENT, 0))), hashes);
}

TEST(Wanted, WhatIsCutLongerOrChangedListsNothing) {
    const std::vector<std::uint64_t> hashes = {1, 2, 3};
    const std::string whole = text_of(encode_wanted(hashes));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_wanted(as_bytes(whole.substr(0, size)))) << size;
    }
    EXPECT_FALSE(decode_wanted(as_bytes(whole + "x")));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string other = whole;
        other[at] = static_cast<char>(other[at] ^ 1);
        EXPECT_FALSE(decode_wanted(as_bytes(other))) << at;
    }
}

}  // namespace
}  // namespace cairn
