// SPDX-License-Identifier: MIT
#include "ipc/channel.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

using Descriptors = Socket::Descriptors;

struct Ends {
    explicit Ends(std::size_t queue_bytes_max) : Ends(Socket::pair(), queue_bytes_max) {}
    Ends(Result<std::pair<Socket, Socket>> pair, std::size_t queue_bytes_max)
        : a(std::move(pair->first), queue_bytes_max, Descriptors::take),
          b(std::move(pair->second), queue_bytes_max, Descriptors::refuse) {}
    Channel a, b;
};

TEST(Channel, QueuesWhatTheOtherSideDoesNotReadUpToItsBound) {
    Ends ends(100'000);
    const std::vector<std::byte> data(kMessageSizeMax - kMessageHeaderSize, std::byte{7});
    unsigned taken = 0;
    Status status;
    while ((status = ends.a.enqueue(StoreData{data})).ok()) {
        ++taken;
        (void)ends.a.flush();
        ASSERT_LT(taken, 1000u);
    }
    EXPECT_EQ(status.error(), Error::full);
    EXPECT_LE(ends.a.queued_bytes(), 100'000u);
    EXPECT_FALSE(ends.a.has_room(data.size(), 1));
    EXPECT_EQ(ends.a.send(Start{}, {}).error(), Error::busy);  // not past what is queued
    // Everything that was taken arrives, in order.
    for (unsigned i = 0; i < taken; ++i) {
        const auto incoming = ends.b.receive();
        ASSERT_TRUE(incoming.ok());
        EXPECT_EQ(std::get<StoreData>(incoming->message).data.size(), data.size());
        (void)ends.a.flush();
    }
    EXPECT_TRUE(ends.a.queue_empty());
    EXPECT_EQ(ends.a.queued_bytes(), 0u);
    EXPECT_EQ(ends.b.receive().error(), Error::busy);
}

TEST(Channel, TellsGarbageFromAnEnd) {
    Ends ends(1000);
    ASSERT_TRUE(ends.a.socket().send(as_bytes("not a message")).ok());
    EXPECT_EQ(ends.b.receive().error(), Error::corrupt);
    const std::vector<std::byte> large(kMessageSizeMax + 1);
    ASSERT_TRUE(ends.a.socket().send(large).ok());
    EXPECT_EQ(ends.b.receive().error(), Error::corrupt);
    ends.a.socket().shut_down();
    EXPECT_EQ(ends.b.receive().error(), Error::io);
    EXPECT_EQ(ends.b.send(Start{}, {}).error(), Error::io);
}

TEST(Channel, TakesDescriptorsOnlyWhereTheyAreExpected) {
    Ends ends(1000);
    const int fds[] = {0, 0};
    ASSERT_TRUE(ends.b.send(SegmentFiles{{4, 5}}, fds).ok());
    const auto taken = ends.a.receive();
    ASSERT_TRUE(taken.ok());
    EXPECT_EQ(taken->descriptors.size(), 2u);
    ASSERT_TRUE(ends.a.send(Start{}, fds).ok());
    const auto refused = ends.b.receive();
    ASSERT_TRUE(refused.ok());
    EXPECT_TRUE(refused->descriptors.empty());
}

}  // namespace
}  // namespace cairn
