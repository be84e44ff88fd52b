// SPDX-License-Identifier: MIT
#include "kept_packs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "machine.h"
#include "offers.h"
#include "os/testing/scratch.h"

namespace cairn::fleet {
namespace {

namespace fs = std::filesystem;

KeptPackName name(int number) {
    KeptPackName name = {};
    name[0] = static_cast<std::byte>(number);
    return name;
}

class KeptPacksTest : public ::testing::Test {
  protected:
    std::string file(int number, std::size_t size) const {
        const std::string path = scratch_ / ("pack" + std::to_string(number));
        std::ofstream(path) << std::string(size, static_cast<char>('a' + number));
        // Clocks of file systems are not exact.
        fs::last_write_time(path,
                            fs::file_time_type::clock::now() - std::chrono::seconds(100 - number));
        return path;
    }

    testing::Scratch scratch_;
    const std::string root_ = scratch_ / "root";
    const Machine machine_{root_};
};

TEST_F(KeptPacksTest, WhatIsKeptIsThereAndOutlivesItsFile) {
    const KeptPacks packs(root_);
    EXPECT_FALSE(packs.has(name(1)));
    const std::string path = file(1, 10);
    EXPECT_TRUE(packs.keep(name(1), path));
    fs::remove(path);
    EXPECT_TRUE(packs.has(name(1)));
    EXPECT_EQ(packs.read(name(1), 10), "bbbbbbbbbb");
    EXPECT_EQ(packs.read(name(1), 9), std::nullopt) << "it is too large";
    EXPECT_EQ(packs.read(name(2), 10), std::nullopt);
}

TEST_F(KeptPacksTest, OneThatWasVerifiedTakesThePlaceOfWhatIsThere) {
    const KeptPacks packs(root_);
    EXPECT_TRUE(packs.keep(name(1), file(1, 10)));
    EXPECT_TRUE(packs.keep(name(1), file(2, 10)));
    EXPECT_EQ(packs.read(name(1), 10), "cccccccccc");
}

TEST_F(KeptPacksTest, TheOldestGoWhereThereAreTooManyBytesOrFiles) {
    const KeptPacks packs(root_, 100, 3);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(packs.keep(name(i), file(i, 10)));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(packs.has(name(i)), i >= 2) << i;
    EXPECT_TRUE(packs.keep(name(5), file(5, 85)));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(packs.has(name(i)), i >= 4) << i;
}

TEST(OffersTest, AnEntryIsInTheFirstPackThatHasIt) {
    const auto table = std::make_shared<OfferTable>();
    for (int i = 0; i < 3; ++i) {
        PackOffer pack;
        pack.hash = name(i);
        table->add(pack, {1, 10 + static_cast<std::uint64_t>(i)});
    }
    table->sort();
    Offers offers;
    offers.replace({"plain"}, table);
    EXPECT_EQ(offers.find("plain", 1)->hash, name(0));
    EXPECT_EQ(offers.find("plain", 12)->hash, name(2));
    EXPECT_FALSE(offers.find("plain", 13));
    EXPECT_FALSE(offers.find("another", 1));
}

TEST(OffersTest, TheTableThatWasReplacedLongestAgoGoes) {
    const auto table = [] {
        auto made = std::make_shared<OfferTable>();
        made->add({}, {1});
        return made;
    };
    Offers offers;
    for (std::size_t i = 0; i <= Offers::kTablesMax; ++i) {
        offers.replace({"cache" + std::to_string(i)}, table());
    }
    EXPECT_FALSE(offers.find("cache0", 1));
    EXPECT_TRUE(offers.find("cache1", 1));
    EXPECT_FALSE(offers.has({"cache0", "cache1"}));
    EXPECT_TRUE(offers.has({"cache1", "cache2"}));
}

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    std::iota(keys.begin(), keys.end(), first);
    return keys;
}

TEST(OffersTest, AnApplicationMayHaveMoreCachesThanThereMayBeTables) {
    const auto table = std::make_shared<OfferTable>();
    table->add({}, {1});
    std::vector<std::string> identifiers;
    for (std::size_t i = 0; i < 2 * Offers::kTablesMax; ++i) {
        identifiers.push_back("cache" + std::to_string(i));
    }
    Offers offers;
    offers.replace(identifiers, table);
    EXPECT_TRUE(offers.has(identifiers));
}

TEST(OffersTest, ATableTakesPacksAsLongAsThereIsRoom) {
    constexpr std::size_t kMost = OfferTable::kEntriesMax;
    OfferTable table;
    table.add({}, keys_from(0, kMost - 1));
    table.add({}, keys_from(kMost, 2));
    table.add({}, keys_from(2 * kMost, 1));
    table.sort();
    EXPECT_EQ(table.size(), kMost);
    EXPECT_TRUE(table.find(kMost - 2));
    EXPECT_FALSE(table.find(kMost));
    EXPECT_TRUE(table.find(2 * kMost));
}

TEST(OffersTest, TablesTogetherHaveNoMoreEntriesThanOneMayHave) {
    const auto table_of = [](std::size_t count) {
        auto table = std::make_shared<OfferTable>();
        table->add({}, keys_from(1, count));
        table->sort();
        return table;
    };
    Offers offers;
    // One table counts once, however many caches it is for.
    const auto first = table_of(Offers::kEntriesMax / 2);
    offers.replace({"a", "b", "c"}, first);
    offers.replace({"d"}, table_of(10));
    EXPECT_TRUE(offers.has({"a", "b", "c", "d"}));
    offers.replace({"e"}, table_of(Offers::kEntriesMax - 10));
    for (const char *gone : {"a", "b", "c"}) EXPECT_FALSE(offers.has({gone})) << gone;
    EXPECT_TRUE(offers.has({"d", "e"}));
    offers.replace({"f"}, table_of(Offers::kEntriesMax));
    EXPECT_FALSE(offers.has({"d"}) || offers.has({"e"}));
    EXPECT_TRUE(offers.find("f", Offers::kEntriesMax));
}

}  // namespace
}  // namespace cairn::fleet
