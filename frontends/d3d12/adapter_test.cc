// SPDX-License-Identifier: MIT
#include "adapter.h"

#include <gtest/gtest.h>

namespace cairn::d3d12 {
namespace {

struct Object {
    virtual ~Object() = default;
};

TEST(Adapter, ADeviceOfNobodyKnownIsTheLibraryThatImplementsIt) {
    Object object;
    const AdapterNames names = ask_device(&object);
    // This program, which has a build-id where the linker gives one.
    EXPECT_EQ(names.adapter, "the program itself");
    EXPECT_EQ(ask_device(&object).driver_version, names.driver_version);
}

TEST(Adapter, NoDeviceHasNoName) {
    const AdapterNames names = ask_device(nullptr);
    EXPECT_EQ(names.adapter, "");
    EXPECT_EQ(names.driver_version, "");
}

}  // namespace
}  // namespace cairn::d3d12
