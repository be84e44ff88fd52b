// SPDX-License-Identifier: MIT
#include "os/loaded_objects.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <thread>

namespace cairn {
namespace {

// Found by an address, which is in one object only.
const LoadedObject *object_of(std::span<const LoadedObject> all, std::uintptr_t address) {
    EXPECT_EQ(std::ranges::count_if(all, [&](const auto &each) { return each.has(address); }), 1);
    const auto found =
        std::ranges::find_if(all, [&](const auto &each) { return each.has(address); });
    return found == all.end() ? nullptr : std::to_address(found);
}

int the_number = 1;

TEST(LoadedObjects, TellTheProgramFromTheLibrariesThatItNeeds) {
    with_loaded_objects([](std::span<const LoadedObject> all) {
        const LoadedObject *program = object_of(all, reinterpret_cast<std::uintptr_t>(&the_number));
        ASSERT_NE(program, nullptr);
        EXPECT_EQ(program->path, "");
        const auto needed = program->needed();
        EXPECT_EQ(std::ranges::count(needed, "libc.so.6"), 1);
        // No sanitizer has a function of its own in place of this one.
        const LoadedObject *library =
            object_of(all, reinterpret_cast<std::uintptr_t>(&::gnu_get_libc_version));
        ASSERT_NE(library, nullptr);
        EXPECT_TRUE(library->path.starts_with('/')) << library->path;
    });
}

// An exception must not pass through the dynamic linker, nor leave its list locked.
TEST(LoadedObjects, AnExceptionOfTheUserSaysThatThereIsNoMemory) {
    EXPECT_THROW(with_loaded_objects([](std::span<const LoadedObject>) { throw std::bad_alloc(); }),
                 std::bad_alloc);
    bool is_free = false;
    std::thread([&] {
        with_loaded_objects([&](std::span<const LoadedObject> all) { is_free = !all.empty(); });
    }).join();
    EXPECT_TRUE(is_free);
}

// Debian builds its C library with a build-id, which is a SHA-1.
TEST(LoadedObjects, HaveBuildIdsInHexadecimal) {
    std::string build_id;
    with_loaded_objects([&](std::span<const LoadedObject> all) {
        for (const LoadedObject &object : all) {
            if (object.name == "libc.so.6") build_id = object.build_id();
        }
    });
    EXPECT_EQ(build_id.size(), 40u);
    EXPECT_EQ(build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace cairn
