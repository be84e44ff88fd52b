// SPDX-License-Identifier: MIT
#include "cache/program_key.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

auto key_of(std::initializer_list<std::string_view> fields) {
    ProgramKey key("test/1");
    for (const auto field : fields) key.add(1, as_bytes(field));
    return key.finish();
}

TEST(ProgramKey, KeepsFieldsApart) {
    EXPECT_NE(key_of({"ab", "c"}), key_of({"a", "bc"}));
    EXPECT_NE(key_of({"ab"}), key_of({"ab", ""}));
    EXPECT_EQ(key_of({"ab", "c"}), key_of({"ab", "c"}));
}

TEST(ProgramKey, DependsOnDomainTagAndOrder) {
    ProgramKey a("x/1"), b("x/2"), c("x/1"), d("x/1");
    a.add(1, as_bytes("s"));
    b.add(1, as_bytes("s"));
    c.add(2, as_bytes("s"));
    d.add(1, 's');
    const auto digest = a.finish();
    EXPECT_NE(digest, b.finish());
    EXPECT_NE(digest, c.finish());
    EXPECT_NE(digest, d.finish());
    EXPECT_NE(key_of({"a", "b"}), key_of({"b", "a"}));
}

}  // namespace
}  // namespace cairn
