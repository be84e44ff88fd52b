// SPDX-License-Identifier: MIT
#include "intake.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

namespace cairn::dashboard {
namespace {

using std::chrono::milliseconds;

class Pair {
  public:
    Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;
    ~Pair() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void send(const std::string &text) const {
        EXPECT_EQ(::send(ends_[0], text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
    }
    int client() const { return ends_[0]; }
    int server() const { return ends_[1]; }

  private:
    std::array<int, 2> ends_ = {};
};

TEST(Extent, OfAWholeRequest) {
    EXPECT_TRUE(extent_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n").is_whole);
    EXPECT_FALSE(extent_of("GET / HTTP/1.1\r\nHost: a\r\n").is_whole);
    const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\ncontent-LENGTH:  3 \r\n\r\n";
    EXPECT_FALSE(extent_of(head + "ab").is_whole);
    EXPECT_TRUE(extent_of(head + "abc").is_whole);
}

TEST(Extent, WhatNoBrowserSendsIsRefused) {
    const std::string begin = "POST /a HTTP/1.1\r\nHost: a\r\n";
    for (const char *line :
         {"Transfer-Encoding: chunked", "Content-Length: -1", "Content-Length: 1x",
          "Content-Length: ", "Content-Length: 99999999999999999999",
          "Content-Length: 1\r\ncontent-length: 1", " folded: line", "no colon",
          "Expect: 100-continue"}) {
        EXPECT_EQ(extent_of(begin + line + "\r\n\r\n").refused, 400) << line;
    }
    EXPECT_EQ(extent_of(begin + "Content-Length: 16385\r\n\r\n").refused, 413);
    EXPECT_EQ(extent_of(begin + "A: " + std::string(kHeadBytesMax, 'a')).refused, 431);
    std::string many = begin;
    for (int i = 0; i < 70; ++i) many += "A: b\r\n";
    EXPECT_EQ(extent_of(many).refused, 431);
    EXPECT_EQ(extent_of(begin + std::string("A: \0b", 5) + "\r\n\r\n").refused, 400);
}

TEST(Intake, TakesARequestThatComesInPieces) {
    const Pair pair;
    Intake intake(4, milliseconds(5000));
    std::thread client([&] {
        for (const char *piece : {"GET / HT", "TP/1.1\r\nHost: a", "\r\n", "\r\n"}) {
            pair.send(piece);
            std::this_thread::sleep_for(milliseconds(5));
        }
    });
    const auto taken = intake.take(pair.server());
    client.join();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->request, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(Intake, GivesUpOnWhoSendsTooSlowly) {
    const Pair pair;
    pair.send("GET / HTTP/1.1\r\n");
    Intake intake(4, milliseconds(50));
    EXPECT_FALSE(intake.take(pair.server()));
}

TEST(Intake, WhoWaitsLongestMakesRoom) {
    std::vector<Pair> slow(2);
    Intake intake(2, milliseconds(60'000));
    std::vector<std::thread> threads;
    for (const Pair &each : slow) {
        threads.emplace_back([&intake, &each] { EXPECT_FALSE(intake.take(each.server())); });
    }
    while (intake.senders() < 2) std::this_thread::yield();
    for (int i = 0; i < 2; ++i) {
        const Pair quick;
        quick.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        EXPECT_TRUE(intake.take(quick.server()));
    }
    // One of them was dropped, and there was room for the second.
    EXPECT_EQ(intake.senders(), 1u);
    for (const Pair &each : slow) ::shutdown(each.client(), SHUT_RDWR);
    for (std::thread &thread : threads) thread.join();
}

TEST(Intake, GivesUpOnWhoDoesNotRead) {
    const Pair pair;
    const Intake intake(2, milliseconds(50));
    const std::string much(16 << 20, 'a');
    EXPECT_FALSE(intake.give(pair.server(), much.data(), much.size()));
    EXPECT_TRUE(Intake(2, milliseconds(50)).give(Pair().server(), "a", 0));
}

}  // namespace
}  // namespace cairn::dashboard
