// SPDX-License-Identifier: MIT
#include "os/testing/failing_calls.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "os/file.h"
#include "os/mapping.h"
#include "os/system_calls.h"
#include "os/testing/scratch.h"

namespace cairn::testing {
namespace {

Fault error_at(std::uint64_t number, int error) {
    Fault fault;
    fault.error = error;
    fault.first = number;
    return fault;
}

class FailingCallsTest : public ::testing::Test {
  protected:
    FailingCallsTest() : directory_(Directory::open(scratch_.path())) {}

    const Directory &directory() const { return directory_.value(); }

    Scratch scratch_;
    Result<Directory> directory_;
    FailingCalls calls_;
};

TEST(FailingCallsTable, WrapsEveryCallThereIs) {
    EXPECT_EQ(sizeof(SystemCalls), kCallKinds * sizeof(void (*)()));
    const auto *kernel = reinterpret_cast<void (*const *)()>(system_calls);
    const FailingCalls calls;
    const auto *failing = reinterpret_cast<void (*const *)()>(system_calls);
    for (unsigned i = 0; i < sizeof(SystemCalls) / sizeof(void (*)()); ++i) {
        EXPECT_NE(kernel[i], failing[i]) << "member " << i << " of the table";
    }
}

TEST(FailingCallsTable, ComesBackAtTheEnd) {
    const SystemCalls *before = system_calls;
    {
        const FailingCalls calls;
        EXPECT_NE(system_calls, before);
    }
    EXPECT_EQ(system_calls, before);
}

TEST_F(FailingCallsTest, FailsExactlyTheCallOfTheGivenNumber) {
    calls_.arm(error_at(2, ENOSPC));
    EXPECT_TRUE(directory().create_directory("one").ok());
    EXPECT_EQ(directory().create_directory("two").error(), Error::no_space);
    EXPECT_TRUE(directory().create_directory("three").ok());
    EXPECT_EQ(calls_.calls(), 3u);
    EXPECT_EQ(calls_.failures(), 1u);
    EXPECT_EQ(calls_.failed_call(), Call::mkdirat);
    calls_.disarm();
    EXPECT_EQ(directory().info("two").error(), Error::not_found) << "the call was not to happen";
}

TEST_F(FailingCallsTest, FailsAllCallsFromTheGivenOneOn) {
    Fault fault = error_at(2, EROFS);
    fault.extent = Fault::Extent::from_then_on;
    calls_.arm(fault);
    EXPECT_TRUE(directory().create_directory("one").ok());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(directory().create_directory("two").error(), Error::read_only);
    }
    calls_.disarm();
    EXPECT_TRUE(directory().create_directory("two").ok());
}

TEST_F(FailingCallsTest, CountsOnlyTheKindInQuestion) {
    Fault fault = error_at(1, EMFILE);
    fault.only = Call::openat;
    calls_.arm(fault);
    EXPECT_TRUE(directory().create_directory("one").ok());
    EXPECT_TRUE(directory().info("one").ok());
    EXPECT_EQ(calls_.calls(), 0u);
    EXPECT_FALSE(directory().open_directory("one").ok());
    EXPECT_EQ(calls_.failures(), 1u);
}

TEST_F(FailingCallsTest, InterruptionsAreRepeatedByTheLibrary) {
    Fault fault = error_at(1, EINTR);
    fault.extent = Fault::Extent::from_then_on;
    calls_.arm(fault);
    const auto file = directory().create_file("file");
    ASSERT_TRUE(file.ok());
    const Bytes pieces[] = {as_bytes("hello, "), as_bytes("world")};
    ASSERT_TRUE(file->write_at(0, pieces).ok());
    std::byte bytes[12];
    const auto count = file->read_at(0, bytes);
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(count.value(), 12u);
    EXPECT_TRUE(file->sync_data().ok());
    EXPECT_GE(calls_.failures(), 4u);
}

TEST_F(FailingCallsTest, ShortTransfersAreCompletedByTheLibrary) {
    Fault fault;
    fault.kind = Fault::Kind::short_transfer;
    fault.extent = Fault::Extent::from_then_on;
    calls_.arm(fault);
    const auto file = directory().create_file("file");
    ASSERT_TRUE(file.ok());
    const Bytes pieces[] = {as_bytes("hello"), Bytes(), as_bytes(", "), as_bytes("world")};
    ASSERT_TRUE(file->write_at(3, pieces).ok());
    std::byte first[7];
    std::byte second[8];
    const auto count = file->read_at(3, MutableBytes(first), MutableBytes(second));
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(count.value(), 12u);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(first), 7), "hello, ");
    EXPECT_EQ(std::string(reinterpret_cast<char *>(second), 5), "world");
    EXPECT_EQ(calls_.failures(), 24u + 1u) << "a byte each, and the end of the file";
}

TEST_F(FailingCallsTest, MappingAFileCanFail) {
    const auto file = directory().create_file("file");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->extend(4096).ok());
    Fault fault = error_at(1, ENOMEM);
    fault.only = Call::mmap;
    calls_.arm(fault);
    EXPECT_EQ(Mapping::file(*const_cast<Result<File> &>(file), Access::read_only, 0, 4096).error(),
              Error::no_memory);
    EXPECT_TRUE(Mapping::file(file.value(), Access::read_only, 0, 4096).ok());
}

}  // namespace
}  // namespace cairn::testing
