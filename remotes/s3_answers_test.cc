// SPDX-License-Identifier: MIT
#include "remotes/s3_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::remotes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string page_of(const std::string &inside) {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
           "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
           inside + "</ListBucketResult>";
}

TEST(S3AnswersTest, APageHasObjectsFoldersAndItsContinuation) {
    const auto page =
        parse_s3_page(page_of("<Name>b</Name><Prefix>p/</Prefix><IsTruncated>true</IsTruncated>"
                              "<NextContinuationToken>1/+=</NextContinuationToken>"
                              "<Contents><Key>p/a</Key><LastModified>2024-02-29T12:00:01.000Z</"
                              "LastModified><Owner><ID>x</ID></Owner>"
                              "</Contents><Contents><Key>p/&amp;</Key></Contents>"
                              "<CommonPrefixes><Prefix>p/d/</Prefix></CommonPrefixes>"));
    ASSERT_TRUE(page.has_value());
    ASSERT_EQ(page->objects.size(), 2U);
    EXPECT_EQ(page->objects[0].key, "p/a");
    EXPECT_EQ(page->objects[0].modified_s, 1'709'208'001);
    EXPECT_EQ(page->objects[1].key, "p/&");
    EXPECT_EQ(page->objects[1].modified_s, std::nullopt);
    EXPECT_THAT(page->prefixes, ElementsAre("p/d/"));
    EXPECT_EQ(page->continuation, "1/+=");
}

TEST(S3AnswersTest, KeysAreDecodedWhereTheServerSaysThatTheyAreEncoded) {
    const std::string contents = "<Contents><Key>a%2Fb%0A</Key></Contents>";
    EXPECT_EQ(parse_s3_page(page_of(contents))->objects[0].key, "a%2Fb%0A");
    EXPECT_EQ(parse_s3_page(page_of(contents + "<EncodingType>url</EncodingType>"))->objects[0].key,
              "a/b\n");
}

TEST(S3AnswersTest, WhatIsNoPageIsRefused) {
    const std::string whole = page_of("<Contents><Key>a</Key></Contents>");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(parse_s3_page(whole.substr(0, size)), std::nullopt) << size;
    }
    EXPECT_EQ(parse_s3_page("<html></html>"), std::nullopt);
    EXPECT_EQ(parse_s3_page(page_of("<IsTruncated>true</IsTruncated>")), std::nullopt);
    EXPECT_EQ(
        parse_s3_page(page_of("<Contents><Key>" + std::string(10'000, 'x') + "</Key></Contents>")),
        std::nullopt);
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "<a>";
    EXPECT_EQ(parse_s3_page(page_of(deep)), std::nullopt);
}

TEST(S3AnswersTest, EntitiesThatMakeMuchOfLittleAreRefused) {
    EXPECT_EQ(
        parse_s3_page("<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
                      "<ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>"),
        std::nullopt);
    EXPECT_EQ(parse_s3_page("<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><ListBucketResult/>"),
              std::nullopt);
}

TEST(S3AnswersTest, TheCodeOfAMistakeIsShownOnlyIfItIsOne) {
    EXPECT_EQ(s3_error_code("<Error><Code>NoSuchKey</Code><Message>x</Message></Error>"),
              "NoSuchKey");
    EXPECT_EQ(s3_error_code("<Error><Code>\x1b[2J</Code></Error>"), "");
    EXPECT_EQ(s3_error_code("<Error><Code>No Such &lt;Key&gt;</Code></Error>"), "");
    EXPECT_EQ(s3_error_code("<Error><Code>" + std::string(65, 'x') + "</Code></Error>"), "");
    EXPECT_EQ(s3_error_code("not xml"), "");
    EXPECT_EQ(s3_error_code(""), "");
}

TEST(S3AnswersTest, EachMistakeSaysWhatToDo) {
    const auto mistake = [](long status, const std::string &code) {
        return s3_mistake(status, code, "the profile `ci`");
    };
    EXPECT_EQ(mistake(400, "ExpiredToken").trouble, Trouble::denied);
    EXPECT_THAT(mistake(400, "ExpiredToken").advice, HasSubstr("get new credentials"));
    EXPECT_THAT(mistake(400, "ExpiredToken").advice, HasSubstr("the profile `ci`"));
    EXPECT_EQ(mistake(403, "InvalidAccessKeyId").trouble, Trouble::denied);
    EXPECT_THAT(mistake(403, "InvalidAccessKeyId").advice, HasSubstr("access key"));
    EXPECT_THAT(mistake(403, "SignatureDoesNotMatch").advice, HasSubstr("secret key"));
    EXPECT_EQ(mistake(403, "RequestTimeTooSkewed").trouble, Trouble::denied);
    EXPECT_THAT(mistake(403, "RequestTimeTooSkewed").advice, HasSubstr("clock"));
    EXPECT_EQ(mistake(403, "AccessDenied").trouble, Trouble::denied);
    EXPECT_EQ(mistake(507, "").trouble, Trouble::full);
    EXPECT_EQ(mistake(403, "QuotaExceeded").trouble, Trouble::full);
    EXPECT_EQ(mistake(301, "PermanentRedirect").trouble, Trouble::usage);
    EXPECT_EQ(mistake(404, "NoSuchBucket").trouble, Trouble::usage);
    EXPECT_EQ(mistake(503, "SlowDown").trouble, Trouble::unreachable);
    EXPECT_EQ(mistake(500, "").trouble, Trouble::unreachable);
}

}  // namespace
}  // namespace cairn::remotes
