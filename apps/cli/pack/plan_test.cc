// SPDX-License-Identifier: MIT
#include "pack/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "cache/cache.h"
#include "os/testing/scratch.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, std::string>;
using cairn::testing::Scratch;

constexpr std::uint64_t kNoLimit = UINT64_MAX;

// Nothing of them can be compressed.
Values values_of(unsigned count, std::size_t size) {
    std::mt19937 random(count);
    Values values;
    for (unsigned i = 0; i < count; ++i) {
        std::string value(size, '\0');
        for (char &c : value) c = static_cast<char>(random());
        values.emplace("key " + std::to_string(i), std::move(value));
    }
    return values;
}

PlannedPart part_of(const Values &values) {
    PlannedPart part;
    part.identifier = "example";
    part.version = 3;
    for (const auto &[key, value] : values) {
        part.entries.push_back({part.keep(key), value.size()});
        part.order.push_back(key);
    }
    part.read = [values](const PlannedEntry &entry, const PlannedPart::Use &use) {
        const auto found = values.find(std::string(entry.key));
        if (found == values.end()) return false;
        use(as_bytes(found->second));
        return true;
    };
    return part;
}

std::uint64_t size_of(const PlannedPart &part) {
    return std::accumulate(
        part.entries.begin(), part.entries.end(), std::uint64_t{0},
        [](std::uint64_t sum, const PlannedEntry &entry) { return sum + size_in_pack(entry); });
}

// What the pieces have, as they read it.
Values values_in(const std::vector<PlannedPart> &pieces) {
    Values values;
    for (const PlannedPart &piece : pieces) {
        for (const PlannedEntry &entry : piece.entries) {
            EXPECT_TRUE(piece.read(entry, [&](Bytes value) {
                const bool is_new = values.emplace(entry.key, std::string(as_text(value))).second;
                EXPECT_TRUE(is_new) << entry.key;
            }));
        }
    }
    return values;
}

class PackMakerTest : public ::testing::Test {
  protected:
    // Writes the part alone. Returns how many entries the pack has.
    std::uint64_t write(const PlannedPart &part, std::optional<std::uint64_t> memory_max) const {
        PackOptions options;
        options.out = path_;
        options.memory_max = memory_max;
        PackMaker maker(options);
        maker.begin(1);
        const std::uint64_t written = maker.write(part);
        EXPECT_THAT(maker.finish("An example."), ::testing::HasSubstr("not signed"));
        return written;
    }
    Values read() const {
        const OpenPack pack = open_pack(path_);
        Values values;
        EXPECT_EQ(pack.parts.size(), 1u);
        (void)visit_entries(pack.parts[0], [&](std::uint32_t slot, const PackPart::Entry &entry) {
            const auto found = pack.parts[0].part->read(slot);
            ASSERT_TRUE(found.ok() && found.value());
            values.emplace(entry.key, std::string(as_text(found.value()->value())));
        });
        return values;
    }

    const Scratch scratch_;
    const std::string path_ = scratch_ / "a.pack";
};

TEST(SplitTest, ThePiecesHaveEachEntryOnce) {
    const Values values = values_of(100, 1000);
    const std::vector<PlannedPart> pieces = split(part_of(values), 10'000);
    EXPECT_GE(pieces.size(), 100u * 1000 / 10'000);
    EXPECT_LE(pieces.size(), 15u);
    std::string last;
    for (const PlannedPart &piece : pieces) {
        EXPECT_LE(size_of(piece), 10'000u);
        EXPECT_EQ(piece.identifier, "example");
        EXPECT_EQ(piece.version, 3u);
        EXPECT_EQ(piece.order.size(), values.size());
        for (const PlannedEntry &entry : piece.entries) {
            EXPECT_LT(last, entry.key) << "as a pack wants them";
            last = entry.key;
        }
    }
    EXPECT_EQ(values_in(pieces), values);
}

TEST(SplitTest, WhatFitsStaysOnePiece) {
    const Values values = values_of(10, 100);
    const std::uint64_t size = size_of(part_of(values));
    EXPECT_EQ(split(part_of(values), size).size(), 1u);
    EXPECT_EQ(split(part_of(values), kNoLimit).size(), 1u);
    EXPECT_EQ(split(part_of(values), size - 1).size(), 2u);
    EXPECT_TRUE(split(part_of({}), kNoLimit).empty());
}

TEST(SplitTest, AnEntryThatIsLargerIsAlone) {
    Values values = values_of(6, 100);
    values["key 3"] = std::string(5000, 'x');
    const std::vector<PlannedPart> pieces = split(part_of(values), 1000);
    ASSERT_EQ(pieces.size(), 3u);
    EXPECT_EQ(pieces[1].entries.size(), 1u);
    EXPECT_EQ(pieces[1].entries[0].key, "key 3");
    EXPECT_EQ(split(part_of(values), 0).size(), 6u);
}

TEST(SplitTest, APieceOutlivesTheOthers) {
    const Values values = values_of(100, 10);
    std::vector<PlannedPart> pieces = split(part_of(values), 500);
    ASSERT_GT(pieces.size(), 2u);
    pieces.erase(pieces.begin(), pieces.end() - 1);
    const Values left = values_in(pieces);
    EXPECT_FALSE(left.empty());
    for (const auto &[key, value] : left) EXPECT_EQ(values.at(key), value);
}

TEST_F(PackMakerTest, EachPieceIsAPackOfItsOwnWhoseSizeIsBounded) {
    constexpr std::uint64_t kMax = 100'000;
    // The header twice, the page of the index, the text, the order and the trailer.
    constexpr std::uint64_t kOverhead = 40'000;
    const Values values = values_of(300, 1000);
    Values all;
    for (const PlannedPart &piece : split(part_of(values), kMax)) {
        EXPECT_EQ(write(piece, std::nullopt), piece.entries.size());
        EXPECT_LE(fs::file_size(path_), kMax + kOverhead);
        all.merge(read());
    }
    EXPECT_EQ(all, values);
}

TEST_F(PackMakerTest, WithLittleMemoryLargeValuesAreLeftOut) {
    constexpr std::uint64_t kMemory = 32u << 20;
    Values values = values_of(20, 1000);
    values["fits"] = std::string(kMemory / 32, 'x');
    values["large"] = std::string(kMemory / 32 + 1, 'x');
    values["unfolds"] = std::string(kMemory / 16, 'x');
    PlannedPart part = part_of(values);
    // As a value is that is compressed where it is.
    for (PlannedEntry &entry : part.entries) {
        if (entry.key == "unfolds") entry.stored_size = 100;
    }
    EXPECT_EQ(write(part, std::nullopt), 23u);
    EXPECT_EQ(read(), values);
    EXPECT_EQ(write(part, kMemory), 21u);
    values.erase("large");
    values.erase("unfolds");
    EXPECT_EQ(read(), values);
}

}  // namespace
}  // namespace cairn::cli
