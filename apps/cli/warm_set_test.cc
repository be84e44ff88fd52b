// SPDX-License-Identifier: MIT
#include "warm_set.h"

#include <cairn/cairn.h>
#include <cairn/internal/front_end.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cairn::cli {
namespace {

using testing::HasSubstr;

WarmEntry entry_of(uint8_t number, size_t body) {
    WarmEntry entry;
    entry.key.fill(number);
    entry.cost_us = 1000u * number;
    entry.binary.assign(CAIRN_EGL_ENTRY_HEAD_SIZE + body, static_cast<char>(number));
    cairn_egl_entry_seal(entry.key.data(), entry.key.size(), entry.binary.data(),
                         entry.binary.size());
    return entry;
}

WarmSet two_programs() {
    return {"egl-0123", 2, "Programs of a test\n", {entry_of(1, 5), entry_of(2, 300)}};
}

std::optional<WarmSet> decode(const std::string &file, std::string &problem) {
    return decode_warm_set(std::as_bytes(std::span(file)), problem);
}
std::string problem_of(const std::string &file) {
    std::string problem;
    return decode(file, problem) ? "none" : problem;
}

// The check over what was changed, as a hostile author would write it.
std::string checked(std::string file) {
    file.resize(file.size() - CAIRN_PROGRAM_KEY_SIZE);
    uint8_t check[CAIRN_PROGRAM_KEY_SIZE];
    cairn_key_builder *builder = cairn_key_begin("cairn-warm-set/1");
    cairn_key_add(builder, 1, file.data(), file.size());
    cairn_key_finish(builder, check);
    return file.append(reinterpret_cast<char *>(check), sizeof check);
}

TEST(WarmSetTest, ASetComesBack) {
    const WarmSet set = two_programs();
    std::string problem;
    const auto read = decode(encode_warm_set(set), problem);
    ASSERT_TRUE(read) << problem;
    EXPECT_EQ(read->identifier, set.identifier);
    EXPECT_EQ(read->version, set.version);
    EXPECT_EQ(read->about, set.about);
    ASSERT_EQ(read->entries.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read->entries[i].key, set.entries[i].key);
        EXPECT_EQ(read->entries[i].cost_us, set.entries[i].cost_us);
        EXPECT_EQ(read->entries[i].binary, set.entries[i].binary);
    }
}

TEST(WarmSetTest, NoBitAndNoByteMayBeMissing) {
    const std::string file = encode_warm_set(two_programs());
    for (size_t size = 0; size < file.size(); ++size) {
        EXPECT_NE(problem_of(file.substr(0, size)), "none") << size;
    }
    for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
        std::string other = file;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
        EXPECT_NE(problem_of(other), "none") << bit;
    }
    EXPECT_NE(problem_of(file + "x"), "none");
}

TEST(WarmSetTest, AProblemIsNamed) {
    const std::string file = encode_warm_set(two_programs());
    EXPECT_THAT(problem_of("hello"), HasSubstr("no file of `cairn export`"));
    EXPECT_THAT(problem_of(""), HasSubstr("no file of `cairn export`"));
    EXPECT_THAT(problem_of(file.substr(0, 100)), HasSubstr("damaged or not complete"));
    std::string newer = file;
    newer[8] = 2;
    EXPECT_THAT(problem_of(checked(newer)), HasSubstr("format version 2"));
}

TEST(WarmSetTest, NumbersThatLieAreFoundOut) {
    const std::string file = encode_warm_set(two_programs());
    // Count, sizes of identifier and about, size of the first binary; each made enormous.
    const size_t head = 32 + 8 + 19;
    for (const size_t place : {size_t{12}, size_t{24}, size_t{28}, head + 24}) {
        std::string lie = file;
        std::fill_n(lie.begin() + static_cast<ptrdiff_t>(place), 4, '\xff');
        EXPECT_NE(problem_of(checked(lie)), "none") << place;
    }
    std::string fewer = file;
    fewer[12] = 1;
    EXPECT_THAT(problem_of(checked(fewer)), HasSubstr("more in it"));
    std::string other_key = file;
    other_key[head] ^= 1;
    EXPECT_THAT(problem_of(checked(other_key)), HasSubstr("entry 1 of 2"));
}

// docs/formats/warm-set.md
TEST(WarmSetTest, TheDocumentsExampleIsRead) {
    std::ifstream document(WARM_SET_DOCUMENT);
    std::string line;
    std::string file;
    while (std::getline(document, line)) {
        if (!line.starts_with("    | ")) continue;
        std::istringstream numbers(line.substr(6));
        unsigned byte = 0;
        while (numbers >> std::hex >> byte) file.push_back(static_cast<char>(byte));
    }
    WarmSet set = {"egl-01", 2, "T\n", {entry_of(7, 2)}};
    EXPECT_EQ(file, encode_warm_set(set));
    EXPECT_EQ(problem_of(file), "none");
}

}  // namespace
}  // namespace cairn::cli
