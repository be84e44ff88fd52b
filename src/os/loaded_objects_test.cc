// SPDX-License-Identifier: MIT
#include "os/loaded_objects.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cairn {
namespace {

// Found by an address, which is in one object only.
const LoadedObject *object_of(const std::vector<LoadedObject> &all, std::uintptr_t address) {
    EXPECT_EQ(std::ranges::count_if(all, [&](const auto &each) { return each.has(address); }), 1);
    const auto found =
        std::ranges::find_if(all, [&](const auto &each) { return each.has(address); });
    return found == all.end() ? nullptr : &*found;
}

int the_number = 1;

TEST(LoadedObjects, TellTheProgramFromTheLibrariesThatItNeeds) {
    const auto all = loaded_objects();
    const LoadedObject *program = object_of(all, reinterpret_cast<std::uintptr_t>(&the_number));
    ASSERT_NE(program, nullptr);
    EXPECT_EQ(program->path, "");
    EXPECT_EQ(std::ranges::count(program->needed, "libc.so.6"), 1);
    // No sanitizer has a function of its own in place of this one.
    const LoadedObject *library =
        object_of(all, reinterpret_cast<std::uintptr_t>(&::gnu_get_libc_version));
    ASSERT_NE(library, nullptr);
    EXPECT_TRUE(library->path.starts_with('/')) << library->path;
}

// Debian builds its C library with a build-id, which is a SHA-1.
TEST(LoadedObjects, HaveBuildIdsInHexadecimal) {
    for (const LoadedObject &object : loaded_objects()) {
        if (object.name != "libc.so.6") continue;
        EXPECT_EQ(object.build_id.size(), 40u);
        EXPECT_EQ(object.build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
        return;
    }
    ADD_FAILURE() << "there is no C library";
}

}  // namespace
}  // namespace cairn
