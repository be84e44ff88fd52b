// SPDX-License-Identifier: MIT
#include "remotes/redis_reply.h"

#include <gtest/gtest.h>

#include "remotes/redis_nodes.h"

namespace cairn::remotes {
namespace {

using State = RedisReader::State;

RedisReply reply_of(const std::string &bytes) {
    RedisReader reader(1 << 20);
    EXPECT_EQ(reader.feed(bytes), State::finished) << bytes;
    return reader.take();
}

State state_of(const std::string &bytes, std::uint64_t size_max = 1 << 20) {
    return RedisReader(size_max).feed(bytes);
}

TEST(RedisReplyTest, EveryKindOfAnswerIsRead) {
    EXPECT_EQ(reply_of("+OK\r\n").text, "OK");
    EXPECT_EQ(reply_of(":-17\r\n").number, -17);
    const std::string with_zero("a\r\n\0b", 5);
    EXPECT_EQ(reply_of("$5\r\n" + with_zero + "\r\n").text, with_zero);
    EXPECT_EQ(reply_of("$-1\r\n").kind, RedisReply::Kind::nothing);
    EXPECT_EQ(reply_of("-OOM command not allowed\r\n").error_code(), "OOM");
    EXPECT_EQ(reply_of("+OOM fine\r\n").error_code(), "");
    const RedisReply list = reply_of("*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n:7\r\n");
    ASSERT_EQ(list.list.size(), 2U);
    EXPECT_EQ(list.list[0]->text, "0");
    ASSERT_EQ(list.list[1]->list.size(), 2U);
    EXPECT_EQ(list.list[1]->list[0]->text, "a");
    EXPECT_EQ(list.list[1]->list[1]->number, 7);
}

TEST(RedisReplyTest, AnAnswerMayComeByteByByte) {
    const std::string bytes = "*2\r\n$3\r\nabc\r\n*1\r\n+OK\r\n";
    RedisReader reader(100);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
        EXPECT_EQ(reader.feed(bytes.substr(i, 1)), State::unfinished) << i;
    }
    EXPECT_EQ(reader.feed("\n"), State::finished);
    EXPECT_EQ(reader.take().list[0]->text, "abc");
}

TEST(RedisReplyTest, WhatMakesNoSenseOrTooMuchIsRefused) {
    EXPECT_EQ(state_of("HTTP/1.1 400 Bad Request\r\n"), State::senseless);
    EXPECT_EQ(state_of("+OK\r\n+OK\r\n"), State::senseless);
    EXPECT_EQ(state_of("$3\r\nabcde\r\n"), State::senseless);
    EXPECT_EQ(state_of("*2000000000\r\n"), State::senseless);
    EXPECT_EQ(state_of("*1000001\r\n"), State::senseless);
    EXPECT_EQ(state_of("$100\r\n" + std::string(100, 'x') + "\r\n", 50), State::senseless);
    std::string deep;
    for (int i = 0; i < 1'000; ++i) deep += "*1\r\n";
    EXPECT_EQ(state_of(deep), State::senseless);
    // Nothing is allocated for what is only announced.
    EXPECT_EQ(state_of("$500000000\r\n"), State::unfinished);
}

TEST(RedisReplyTest, OnlyAWordOfCapitalsIsACode) {
    EXPECT_EQ(reply_of("-\x1b[2J x\r\n").error_code(), "");
    EXPECT_EQ(reply_of("-ERR unknown command 'AUTH hunter2'\r\n").error_code(), "ERR");
    EXPECT_EQ(reply_of("-" + std::string(40, 'A') + "\r\n").error_code(), "");
}

TEST(RedisNodesTest, SlotsAreThoseOfTheSpecification) {
    // CRC16-XMODEM of "123456789" is 0x31C3.
    EXPECT_EQ(redis_slot("123456789"), 0x31C3);
    EXPECT_EQ(redis_slot("{user1000}.following"), redis_slot("user1000"));
    EXPECT_EQ(redis_slot("foo{{bar}}zap"), redis_slot("{bar"));
    EXPECT_EQ(redis_slot("foo{bar}{zap}"), redis_slot("bar"));
    EXPECT_NE(redis_slot("foo{}{bar}"), redis_slot("bar"));
}

}  // namespace
}  // namespace cairn::remotes
