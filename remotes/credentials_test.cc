// SPDX-License-Identifier: MIT
#include "remotes/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "remotes/remote.h"

namespace cairn::remotes {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class CredentialsTest : public testing::Test {
  protected:
    CredentialsTest() {
        EXPECT_NE(::mkdtemp(home_.data()), nullptr);
        for (const char *name :
             {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
              "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
              "REDISCLI_AUTH"}) {
            unsetenv(name);
        }
        setenv("HOME", home_.c_str(), 1);
        fs::create_directory(home_ + "/.aws");
    }
    ~CredentialsTest() override { fs::remove_all(home_); }

    std::string write(const std::string &name, const std::string &text, mode_t mode = 0600) const {
        const std::string path = home_ + "/" + name;
        std::ofstream(path) << text;
        chmod(path.c_str(), mode);
        return path;
    }
    template <typename Work>
    static std::string denied(Work work) {
        try {
            work();
        } catch (const RemoteFailure &failure) {
            EXPECT_EQ(failure.trouble(), Trouble::denied);
            return failure.what();
        }
        ADD_FAILURE() << "it was not denied";
        return "";
    }

    std::string home_ = fs::temp_directory_path() / "cairn-credentials-XXXXXX";
};

TEST_F(CredentialsTest, TheEnvironmentComesFirst) {
    write(".aws/credentials", "[default]\naws_access_key_id=FILE\naws_secret_access_key=S\n");
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "hunter2", 1);
    setenv("AWS_SESSION_TOKEN", "token", 1);
    const AwsCredentials found = find_aws_credentials("s3://x", "");
    EXPECT_EQ(found.key_id, "ENV");
    EXPECT_EQ(found.secret, "hunter2");
    EXPECT_EQ(found.session_token, "token");
    EXPECT_THAT(found.origin, HasSubstr("environment"));
    unsetenv("AWS_SECRET_ACCESS_KEY");
    EXPECT_THAT(denied([] { (void)find_aws_credentials("s3://x", ""); }),
                HasSubstr("AWS_SECRET_ACCESS_KEY"));
}

TEST_F(CredentialsTest, AProfileIsThatOfTheUrlOrOfTheEnvironmentOrTheDefault) {
    const std::string file = write(
        ".aws/credentials",
        "# comment\n[default]\naws_access_key_id = D\naws_secret_access_key = DS\n\n[ ci ]\r\n"
        "aws_access_key_id=C\r\naws_secret_access_key=C/S+=\r\naws_session_token = CT\n[half]\n"
        "aws_access_key_id=H\n");
    EXPECT_EQ(find_aws_credentials("s3://x", "").key_id, "D");
    EXPECT_EQ(find_aws_credentials("s3://x", "ci").secret, "C/S+=");
    setenv("AWS_PROFILE", "ci", 1);
    EXPECT_EQ(find_aws_credentials("s3://x", "").session_token, "CT");
    EXPECT_EQ(find_aws_credentials("s3://x", "default").key_id, "D");
    const std::string message = denied([] { (void)find_aws_credentials("s3://x", "half"); });
    EXPECT_THAT(message, HasSubstr("`half` in " + file));
    EXPECT_THAT(denied([] { (void)find_aws_credentials("s3://x", "none"); }), HasSubstr("`none`"));
}

TEST_F(CredentialsTest, WhereThereAreNoneRequestsAreAnonymous) {
    const AwsCredentials found = find_aws_credentials("s3://x", "");
    EXPECT_EQ(found.key_id, "");
    EXPECT_THAT(found.origin, HasSubstr(home_ + "/.aws/credentials"));
}

TEST_F(CredentialsTest, TheRegionIsThatOfTheEnvironmentOrTheProfile) {
    EXPECT_EQ(find_aws_region(""), "us-east-1");
    write(".aws/config", "[default]\nregion = eu-central-1\n[profile ci]\nregion=eu-west-3\n");
    EXPECT_EQ(find_aws_region(""), "eu-central-1");
    EXPECT_EQ(find_aws_region("ci"), "eu-west-3");
    setenv("AWS_DEFAULT_REGION", "ap-south-1", 1);
    EXPECT_EQ(find_aws_region("ci"), "ap-south-1");
    setenv("AWS_REGION", "sa-east-1", 1);
    EXPECT_EQ(find_aws_region("ci"), "sa-east-1");
}

TEST_F(CredentialsTest, RedisHasAPasswordInTheEnvironmentOrAFileOfTheUsersOwn) {
    EXPECT_EQ(find_redis_credentials("redis://x", "").password, "");
    EXPECT_EQ(find_redis_credentials("redis://x", write("one", "hunter2\n")).password, "hunter2");
    const RedisCredentials both =
        find_redis_credentials("redis://x", write("two", "ci:hunter2:x\n"));
    EXPECT_EQ(both.user, "ci");
    EXPECT_EQ(both.password, "hunter2:x");
    const std::string open = write("open", "hunter2\n", 0644);
    const std::string message = denied([&] { (void)find_redis_credentials("redis://x", open); });
    EXPECT_THAT(message, HasSubstr("chmod 600"));
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
    (void)denied([&] { (void)find_redis_credentials("redis://x", home_ + "/absent"); });
    (void)denied([&] { (void)find_redis_credentials("redis://x", write("empty", "\n")); });
    setenv("REDISCLI_AUTH", "other", 1);
    EXPECT_EQ(find_redis_credentials("redis://x", open).password, "other");
}

}  // namespace
}  // namespace cairn::remotes
