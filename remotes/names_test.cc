// SPDX-License-Identifier: MIT
#include "remotes/names.h"

#include <gtest/gtest.h>

#include "remotes/remote.h"

namespace cairn::remotes {
namespace {

TEST(NamesTest, HaveTheLettersAndSizesThatEveryStorageTakes) {
    EXPECT_TRUE(is_object_name("a"));
    EXPECT_TRUE(is_object_name("a-B_9.x/y.pack"));
    for (const std::string_view name :
         {"", "/", "a/", "/a", "a//b", ".", "..", "a/..", ".a", "a b", "a:b", "\xff"}) {
        EXPECT_FALSE(is_object_name(name)) << name;
    }
    EXPECT_FALSE(is_object_name(std::string_view("a\0b", 3)));
    const std::string part(128, 'x');
    EXPECT_TRUE(is_object_name(part));
    EXPECT_FALSE(is_object_name(part + "x"));
    const std::string long_name = part + "/" + part + "/" + part + "/" + std::string(125, 'y');
    EXPECT_TRUE(is_object_name(long_name));
    EXPECT_FALSE(is_object_name(long_name + "z"));
    EXPECT_FALSE(is_object_name_part("a/b"));
}

TEST(NamesTest, PlacesBeginWhereTheObjectIs) {
    const auto places = places_of("a/b/c");
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(places[0].folder, "a/b");
    EXPECT_EQ(places[0].entry, "c");
    EXPECT_EQ(places[1].folder, "a");
    EXPECT_EQ(places[1].entry, "b/");
    EXPECT_EQ(places[2].folder, "");
    EXPECT_EQ(places[2].entry, "a/");
    ASSERT_EQ(places_of("c").size(), 1U);
    EXPECT_EQ(places_of("c")[0].entry, "c");
}

TEST(NamesTest, AnEntryMayBeAFolder) {
    EXPECT_TRUE(is_entry("a"));
    EXPECT_TRUE(is_entry("a/"));
    for (const std::string_view entry : {"", "/", "a//", "a/b", "../", ".x"})
        EXPECT_FALSE(is_entry(entry)) << entry;
}

}  // namespace
}  // namespace cairn::remotes
