// SPDX-License-Identifier: MIT
// What is only so in S3: credentials, buckets, and keys that others made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "backends.h"
#include "remotes/curl.h"
#include "trouble.h"

namespace cairn_test {
namespace {

using cairn::remotes::CallClock;
using cairn::remotes::Curl;
using cairn::remotes::HttpRequest;
using cairn::remotes::Limits;
using cairn::remotes::open_remote;
using cairn::remotes::Signing;
using cairn::remotes::Trouble;
using testing::ElementsAre;

class S3RemoteTest : public testing::Test {
  protected:
    void SetUp() override {
        const std::string why = Backend::why_missing("s3");
        if (!why.empty()) GTEST_SKIP() << why;
        prepare_environment();
        static int count = 0;
        space_ = "s3-" + std::to_string(++count);
        url_ = Backend::of("s3").url(space_);
    }
    void TearDown() override { prepare_environment(); }
    Outcome putting() const {
        return outcome_of([&] { put_text(*open_remote(url_, {}), "a/b", "content"); });
    }
    // The bucket, as a part of url_ begins.
    std::string bucket() const { return url_.substr(5, url_.find('/', 5) - 5); }
    // An object under a key that no engine makes.
    void put_key(const std::string &encoded_key) const {
        const Limits limits;
        CallClock clock(limits);
        Curl curl("s3", limits);
        HttpRequest request;
        request.method = HttpRequest::Method::put;
        const std::size_t options = url_.find("?endpoint=");
        request.url =
            url_.substr(options + 10) + "/" + url_.substr(5, options - 5) + "/" + encoded_key;
        request.headers = {"x-amz-content-sha256: UNSIGNED-PAYLOAD"};
        request.signing = Signing{"us-east-1", s3_key_id(), s3_secret()};
        EXPECT_TRUE(curl.perform(request, clock).is_ok()) << encoded_key;
    }

    std::string space_;
    std::string url_;
};

TEST_F(S3RemoteTest, AnUnknownKeyIsDeniedAndExplained) {
    setenv("AWS_ACCESS_KEY_ID", "NOBODY", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "hunter2", 1);
    const Outcome outcome = putting();
    EXPECT_EQ(outcome.trouble, Trouble::denied);
    EXPECT_TRUE(outcome.has("InvalidAccessKeyId") && outcome.has("in the environment"))
        << outcome.message;
    EXPECT_FALSE(outcome.has("hunter2"));
}

TEST_F(S3RemoteTest, AWrongSecretIsDeniedAndExplained) {
    setenv("AWS_SECRET_ACCESS_KEY", "hunter2", 1);
    const Outcome outcome = putting();
    EXPECT_EQ(outcome.trouble, Trouble::denied);
    EXPECT_TRUE(outcome.has("SignatureDoesNotMatch") && outcome.has("secret key"))
        << outcome.message;
    EXPECT_FALSE(outcome.has("hunter2"));
}

TEST_F(S3RemoteTest, WithoutCredentialsRequestsAreAnonymousAndMayBeDenied) {
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    const Outcome outcome = putting();
    EXPECT_EQ(outcome.trouble, Trouble::denied);
    EXPECT_TRUE(outcome.has("AWS_ACCESS_KEY_ID") && outcome.has("/dev/null")) << outcome.message;
    if (is_s3_named()) return;  // nothing is public there
    prepare_environment();
    put_text(*open_remote(Backend::of("s3").url("public"), {}), "a/b", "content");
    unsetenv("AWS_ACCESS_KEY_ID");
    EXPECT_EQ(open_remote(Backend::of("s3").url("public"), {})->get("a/b", 10), "content");
}

TEST_F(S3RemoteTest, ASessionThatHasEndedIsExplained) {
    if (is_s3_named()) GTEST_SKIP() << "s3rver has such a session";
    setenv("AWS_SESSION_TOKEN", "EXPIRED", 1);
    const Outcome outcome = putting();
    EXPECT_EQ(outcome.trouble, Trouble::denied);
    EXPECT_TRUE(outcome.has("ExpiredToken") && outcome.has("new credentials")) << outcome.message;
}

TEST_F(S3RemoteTest, AnotherRegionIsSignedFor) {
    url_ += "&region=eu-central-1";
    EXPECT_EQ(putting().trouble, std::nullopt);
    EXPECT_THAT(names_in(*open_remote(url_, {}), "a"), ElementsAre("b"));
}

TEST_F(S3RemoteTest, AProfileHasTheCredentials) {
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    const TempDirectory folder;
    std::ofstream(folder / "credentials")
        << "[ci]\naws_access_key_id=" << s3_key_id() << "\naws_secret_access_key=" << s3_secret()
        << "\n[old]\naws_access_key_id=" << s3_key_id() << "\naws_secret_access_key=hunter2\n";
    setenv("AWS_SHARED_CREDENTIALS_FILE", (folder / "credentials").c_str(), 1);
    url_ += "&profile=ci";
    EXPECT_EQ(putting().trouble, std::nullopt);
    url_ = Backend::of("s3").url(space_) + "&profile=old";
    const Outcome outcome = putting();
    EXPECT_EQ(outcome.trouble, Trouble::denied);
    EXPECT_TRUE(outcome.has("`old`")) << outcome.message;
    EXPECT_FALSE(outcome.has("hunter2"));
}

TEST_F(S3RemoteTest, ASessionTokenIsSignedAlong) {
    if (is_s3_named()) GTEST_SKIP() << "s3rver takes any session";
    // The server wants it to be among what is signed.
    setenv("AWS_SESSION_TOKEN", "a/session+token==", 1);
    EXPECT_EQ(putting().trouble, std::nullopt);
    EXPECT_THAT(names_in(*open_remote(url_, {}), "a"), ElementsAre("b"));
}

TEST_F(S3RemoteTest, CredentialsThatChangeAreNoticed) {
    const auto remote = open_remote(url_, {});
    put_text(*remote, "a", "x");
    setenv("AWS_SECRET_ACCESS_KEY", "hunter2", 1);
    EXPECT_EQ(outcome_of([&] { (void)remote->get("a", 10); }).trouble, Trouble::denied);
    prepare_environment();
    EXPECT_EQ(remote->get("a", 10), "x");
}

TEST_F(S3RemoteTest, ABucketThatIsNotThereIsTold) {
    url_.replace(5, bucket().size(), "absent7");
    const Outcome outcome = putting();
    EXPECT_EQ(outcome.trouble, Trouble::usage);
    EXPECT_TRUE(outcome.has("NoSuchBucket")) << outcome.message;
    EXPECT_EQ(outcome_of([&] { (void)open_remote(url_, {})->get("a", 10); }).trouble,
              Trouble::usage);
    EXPECT_EQ(outcome_of([&] { (void)open_remote(url_, {})->list("a"); }).trouble, Trouble::usage);
}

TEST_F(S3RemoteTest, KeysThatNoObjectHasAreNotListed) {
    put_text(*open_remote(url_, {}), "a/good", "x");
    for (const char *key : {"a/with%20blank", "a/.hidden", "a/%26amp%3B", "a/x%3Fy"}) put_key(key);
    EXPECT_THAT(names_in(*open_remote(url_, {}), "a"), ElementsAre("good"));
}

TEST_F(S3RemoteTest, TheBucketMayBeAllOfIt) {
    const auto whole = open_remote(Backend::of("s3").url(""), {});
    put_text(*whole, space_ + "/a", "x");
    EXPECT_EQ(open_remote(url_, {})->get("a", 10), "x");
    EXPECT_THAT(names_in(*whole, ""), testing::Contains(space_ + "/"));
}

TEST_F(S3RemoteTest, VirtualHostsAreSpokenToByTheirNames) {
    // `BUCKET.s3.localhost` is this machine for libcurl.
    const std::string port = std::to_string(Backend::of("s3").port());
    const auto remote = open_remote(
        url_.substr(0, url_.find('?')) + "?style=virtual&endpoint=http://s3.localhost:" + port, {});
    const Outcome outcome = outcome_of([&] {
        put_text(*remote, "a/b", "x");
        EXPECT_THAT(names_in(*remote, "a"), ElementsAre("b"));
    });
    EXPECT_EQ(outcome.trouble, std::nullopt) << outcome.message;
}

}  // namespace
}  // namespace cairn_test
