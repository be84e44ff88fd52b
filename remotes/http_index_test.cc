// SPDX-License-Identifier: MIT
#include "remotes/http_index.h"

#include <gtest/gtest.h>

namespace cairn::remotes {
namespace {

TEST(HttpIndexTest, IsReadAsItWasWritten) {
    const IndexTimes times = {{"b", 17}, {"a/", std::nullopt}, {"c", 0}};
    EXPECT_EQ(index_text(times), "a/ -\nb 17\nc 0\n. 3\n");
    EXPECT_EQ(parse_index(index_text(times)), times);
    EXPECT_EQ(parse_index(index_text({})), IndexTimes());
}

TEST(HttpIndexTest, WhatIsCutAnywhereIsNone) {
    const std::string text = index_text({{"b", 17}, {"a/", std::nullopt}, {"c", 0}});
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_EQ(parse_index(text.substr(0, size)), std::nullopt) << size;
    }
    EXPECT_EQ(parse_index("b 17\n. 2\n"), std::nullopt);
    EXPECT_EQ(parse_index(text + "d 1\n"), std::nullopt);
    EXPECT_EQ(parse_index("<html>not found</html>\n"), std::nullopt);
}

TEST(HttpIndexTest, NamesThatNoObjectHasAreLeftOut) {
    EXPECT_EQ(parse_index("../x 1\n/etc/passwd 1\na\x1b[2J 1\nindex 1\nb x\n.y 1\nc\n\n. 8\n"),
              (IndexTimes{{"b", std::nullopt}, {"c", std::nullopt}}));
}

}  // namespace
}  // namespace cairn::remotes
