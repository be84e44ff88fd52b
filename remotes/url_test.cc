// SPDX-License-Identifier: MIT
#include "remotes/url.h"

#include <gtest/gtest.h>

#include "remotes/remote.h"

namespace cairn::remotes {
namespace {

std::string message_of(const std::string &url) {
    try {
        (void)open_remote(url, {});
    } catch (const RemoteFailure &failure) {
        EXPECT_EQ(failure.trouble(), Trouble::usage) << url;
        return failure.what();
    }
    return "";
}

TEST(UrlTest, IsTakenApart) {
    const Url url = parse_url("redis://cache.example.org:7000/3?prefix=a%3Ab:&nodes=x:1,y");
    EXPECT_EQ(url.scheme, "redis");
    EXPECT_EQ(url.host, "cache.example.org");
    EXPECT_EQ(url.port, 7000);
    EXPECT_EQ(url.path, "/3");
    EXPECT_EQ(url.option("prefix"), "a:b:");
    EXPECT_EQ(url.option("nodes"), "x:1,y");
    EXPECT_EQ(url.option("absent"), "");
    EXPECT_EQ(url.shown, "redis://cache.example.org:7000/3");
    EXPECT_EQ(parse_url("http://[::1]:80/x//").shown, "http://[::1]:80/x");
    EXPECT_EQ(parse_url("http://[::1]/").host, "::1");
    EXPECT_EQ(parse_url("file:///a%20b/c/").path, "/a b/c");
}

TEST(UrlTest, WhatIsNoneIsRefused) {
    for (const std::string url : {"",
                                  "x",
                                  "/folder",
                                  "://x",
                                  "http:/x",
                                  "http://",
                                  "http:///x",
                                  "http://host:0/",
                                  "http://host:x/",
                                  "http://host:99999/",
                                  "http://a b/",
                                  "http://host/../x",
                                  "http://host/a/./b",
                                  "http://host/#x",
                                  "http://[::1/",
                                  "file://folder",
                                  "file:///",
                                  "file:///a%0ab",
                                  "ftp://host/x",
                                  "http://ho\nst/",
                                  "s3://",
                                  "s3://x?endpoint=http://h",
                                  "s3://bucket?endpoint=http://h/path",
                                  "s3://bucket?endpoint=ftp://h",
                                  "s3://bucket?style=other",
                                  "s3://bucket?region=a.b",
                                  "s3://bucket:80",
                                  "s3://bucket/../x",
                                  "s3://bucket?x=1",
                                  "redis://host/folder",
                                  "redis://host/1234567",
                                  "redis://host?nodes=:",
                                  "redis://host?prefix=a%20b",
                                  "redis://host?credentials=relative",
                                  "http://host/x?token=1",
                                  "s3://bucket?region=%",
                                  "s3://bucket?region=a&region=b"}) {
        EXPECT_NE(message_of(url), "") << url;
    }
    EXPECT_NE(message_of("rediss://host").find("TLS"), std::string::npos);
}

TEST(UrlTest, ASecretIsRefusedAndNeverShown) {
    for (const std::string url :
         {"http://user:hunter2@host/x", "s3://key:hunter2@bucket/x", "redis://:hunter2@host",
          "redis://:hun/ter2@host", "s3://bucket?endpoint=http://user:hunter2@host", "hunter2@host",
          "redis://host?password=hunter2", "redis://hunter2:hunter2", "redis://host?hunter2"}) {
        const std::string message = message_of(url);
        EXPECT_NE(message, "") << url;
        EXPECT_EQ(message.find("hunter2"), std::string::npos) << message;
        EXPECT_EQ(message.find("ter2"), std::string::npos) << message;
    }
}

TEST(UrlTest, OnlyAnAddressOfThisMachineIsLoopback) {
    EXPECT_TRUE(is_loopback("localhost"));
    EXPECT_TRUE(is_loopback("127.0.0.1"));
    EXPECT_TRUE(is_loopback("::1"));
    EXPECT_FALSE(is_loopback("127.example.org"));
    EXPECT_FALSE(is_loopback("128.0.0.1"));
}

TEST(UrlTest, PercentSignsComeAndGo) {
    EXPECT_EQ(percent_encoded("a/b c~\xff"), "a%2Fb%20c~%FF");
    EXPECT_EQ(percent_decoded("a%2fb%20c~%FF"), "a/b c~\xff");
    EXPECT_EQ(percent_decoded("%"), std::nullopt);
    EXPECT_EQ(percent_decoded("%4"), std::nullopt);
    EXPECT_EQ(percent_decoded("%4g"), std::nullopt);
}

}  // namespace
}  // namespace cairn::remotes
