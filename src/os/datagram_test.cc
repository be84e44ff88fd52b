// SPDX-License-Identifier: MIT
#include "os/datagram.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "os/environment.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

class DatagramTest : public ::testing::Test {
  protected:
    DatagramSocket bind() const {
        auto socket = DatagramSocket::bind(path_);
        EXPECT_TRUE(socket.ok());
        return std::move(socket.value());
    }
    Result<DatagramSocket::Received> receive(const DatagramSocket &socket) {
        return socket.receive(buffer_);
    }

    testing::Scratch scratch_;
    std::string path_ = scratch_ / "sock";
    std::array<std::byte, 16> buffer_ = {};
};

TEST_F(DatagramTest, ArrivesWithTheUserWhoSentIt) {
    const DatagramSocket socket = bind();
    EXPECT_EQ(receive(socket).error(), Error::busy);
    ASSERT_TRUE(send_datagram(path_, as_bytes("hello")).ok());
    const auto received = receive(socket);
    ASSERT_TRUE(received.ok());
    EXPECT_EQ(received->size_bytes, 5u);
    EXPECT_EQ(received->user, effective_user());
    EXPECT_TRUE(same_bytes(Bytes(buffer_).first(5), as_bytes("hello")));
}

TEST_F(DatagramTest, TheFileIsOfItsUserAlone) {
    const DatagramSocket socket = bind();
    struct stat status = {};
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_EQ(socket.path().value(), path_);
    EXPECT_EQ(DatagramSocket::bind(path_).error(), Error::exists);
}

TEST_F(DatagramTest, WithoutAListenerSendingFailsAtOnce) {
    EXPECT_EQ(send_datagram(path_, as_bytes("x")).error(), Error::not_found);
    { const DatagramSocket gone = bind(); }
    EXPECT_EQ(send_datagram(path_, as_bytes("x")).error(), Error::not_found);
    EXPECT_EQ(send_datagram(std::string(200, 'x'), as_bytes("x")).error(), Error::invalid_argument);
}

TEST_F(DatagramTest, AFullQueueIsNotWaitedFor) {
    const DatagramSocket socket = bind();
    Status status;
    for (int i = 0; i < 10'000 && status.ok(); ++i) status = send_datagram(path_, as_bytes("x"));
    EXPECT_EQ(status.error(), Error::busy);
    EXPECT_TRUE(receive(socket).ok());
    EXPECT_TRUE(send_datagram(path_, as_bytes("x")).ok());
}

TEST_F(DatagramTest, AMessageThatIsTooLargeIsToldAndGone) {
    const DatagramSocket socket = bind();
    ASSERT_TRUE(send_datagram(path_, as_bytes(std::string(17, 'x'))).ok());
    ASSERT_TRUE(send_datagram(path_, as_bytes("next")).ok());
    EXPECT_EQ(receive(socket).error(), Error::corrupt);
    EXPECT_EQ(receive(socket)->size_bytes, 4u);
}

TEST_F(DatagramTest, TakesOverASocketOfItsKindOnly) {
    DatagramSocket made = bind();
    auto adopted = DatagramSocket::adopt(UniqueFd(::dup(made.fd())));
    ASSERT_TRUE(adopted.ok());
    EXPECT_EQ(adopted->path().value(), path_);
    ASSERT_TRUE(send_datagram(path_, as_bytes("x")).ok());
    EXPECT_EQ(receive(adopted.value())->user, effective_user());

    EXPECT_FALSE(DatagramSocket::adopt(UniqueFd()).ok());
    EXPECT_FALSE(DatagramSocket::adopt(UniqueFd(::socket(AF_UNIX, SOCK_STREAM, 0))).ok());
    EXPECT_FALSE(DatagramSocket::adopt(UniqueFd(::socket(AF_UNIX, SOCK_DGRAM, 0))).ok());
    EXPECT_FALSE(DatagramSocket::adopt(UniqueFd(::dup(STDERR_FILENO))).ok());
}

}  // namespace
}  // namespace cairn
