// SPDX-License-Identifier: MIT
#include "os/socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "os/environment.h"
#include "os/testing/scratch.h"

namespace cairn {
namespace {

std::pair<Socket, Socket> connected() {
    auto pair = Socket::pair();
    EXPECT_TRUE(pair.ok());
    return std::move(pair.value());
}

TEST(Socket, KeepsTheBordersOfMessages) {
    const auto [a, b] = connected();
    ASSERT_TRUE(a.send(as_bytes("first")).ok());
    ASSERT_TRUE(a.send(as_bytes("second one")).ok());
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(b.receive(buffer, nullptr).value(), 5u);
    EXPECT_EQ(b.receive(buffer, nullptr).value(), 10u);
    EXPECT_EQ(b.receive(buffer, nullptr).error(), Error::busy);
}

TEST(Socket, NeverWaitsForAReader) {
    const auto [a, b] = connected();
    const std::vector<std::byte> message(32768);
    Status status;
    for (int i = 0; i < 10000 && status.ok(); ++i) status = a.send(message);
    EXPECT_EQ(status.error(), Error::busy);
    EXPECT_FALSE(a.wait(Socket::For::writing, 0));
    EXPECT_TRUE(b.wait(Socket::For::reading, 0));
}

TEST(Socket, TellsThatTheOtherSideIsGone) {
    auto [a, b] = connected();
    b = Socket();
    EXPECT_EQ(a.send(as_bytes("x")).error(), Error::io);
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(a.receive(buffer, nullptr).value(), 0u);
    EXPECT_TRUE(a.wait(Socket::For::reading, 0));
}

TEST(Socket, GivesWhatWasSentBeforeTheOtherSideLeftWithSomethingUnread) {
    auto [a, b] = connected();
    ASSERT_TRUE(a.send(as_bytes("unread")).ok());
    ASSERT_TRUE(b.send(as_bytes("last words")).ok());
    b = Socket();
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(a.receive(buffer, nullptr).value(), 10u);
    EXPECT_EQ(a.receive(buffer, nullptr).value(), 0u);
}

TEST(Socket, KnowsWhetherTheOtherSideHasTakenInAllThatWasSent) {
    auto [a, b] = connected();
    EXPECT_TRUE(a.drained());
    ASSERT_TRUE(a.send(as_bytes("first")).ok());
    ASSERT_TRUE(a.send(as_bytes("second")).ok());
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(::recv(b.fd(), buffer.data(), buffer.size(), MSG_PEEK), 5);
    EXPECT_EQ(b.receive(buffer, nullptr).value(), 5u);
    EXPECT_FALSE(a.drained());
    EXPECT_EQ(b.receive(buffer, nullptr).value(), 6u);
    EXPECT_TRUE(a.drained());
    ASSERT_TRUE(a.send(as_bytes("third")).ok());
    a.shut_down();
    EXPECT_FALSE(a.drained());
    b = Socket();
    EXPECT_TRUE(a.drained());
}

TEST(Socket, RefusesAMessageThatDoesNotFit) {
    const auto [a, b] = connected();
    ASSERT_TRUE(a.send(as_bytes("more than four")).ok());
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(b.receive(buffer, nullptr).error(), Error::corrupt);
}

TEST(Socket, CarriesDescriptorsToWhoTakesThem) {
    testing::Scratch scratch;
    const auto directory = Directory::open(scratch.path());
    const auto file = directory->create_file("file");
    ASSERT_TRUE(file.ok() && file->write_whole(as_bytes("content")).ok());
    const auto [a, b] = connected();
    const int fds[] = {file->fd(), file->fd()};
    std::array<std::byte, 8> buffer;
    std::vector<UniqueFd> taken;
    ASSERT_TRUE(a.send(as_bytes("two"), fds).ok());
    EXPECT_EQ(b.receive(buffer, &taken).value(), 3u);
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(File(std::move(taken[1])).info()->size_bytes, 7u);
    // A receiver that takes no descriptors gets the message all the same, and none is left open.
    const int before = ::dup(0);
    ::close(before);
    ASSERT_TRUE(a.send(as_bytes("two"), fds).ok());
    EXPECT_EQ(b.receive(buffer, nullptr).value(), 3u);
    const int after = ::dup(0);
    ::close(after);
    EXPECT_EQ(before, after);
}

TEST(Socket, ListensForTheUserAloneAndKnowsWhoConnects) {
    testing::Scratch scratch;
    const std::string path = scratch / "socket";
    EXPECT_EQ(Socket::connect(path).error(), Error::not_found);
    auto listening = Socket::listen(path);
    ASSERT_TRUE(listening.ok());
    EXPECT_EQ(Directory::open(scratch.path())->info("socket")->permissions, 0600u);
    EXPECT_EQ(Socket::listen(path).error(), Error::exists);
    EXPECT_EQ(listening->accept().error(), Error::busy);
    const auto client = Socket::connect(path);
    ASSERT_TRUE(client.ok());
    const auto accepted = listening->accept();
    ASSERT_TRUE(accepted.ok());
    EXPECT_EQ(accepted->peer_user().value(), effective_user());
    listening.value() = Socket();
    EXPECT_EQ(Socket::connect(path).error(), Error::not_found);  // the file is still there
}

TEST(Socket, AdoptsNothingElse) {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    EXPECT_EQ(Socket::adopt(UniqueFd(fds[0])).error(), Error::invalid_argument);
    ::close(fds[1]);
    EXPECT_EQ(Socket::adopt(UniqueFd(::dup(0))).error(), Error::invalid_argument);
    EXPECT_EQ(Socket::adopt(UniqueFd(-1)).error(), Error::invalid_argument);
    EXPECT_EQ(Socket::connect(std::string(200, 'x')).error(), Error::invalid_argument);
}

}  // namespace
}  // namespace cairn
