// Where the secrets of a remote are looked for: the environment and files of the user, never the URL.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions but for the environment, which each call reads anew. So a process that
// runs for long notices new credentials.
// Failure: a RemoteFailure with Trouble::denied where the user named credentials that are not there.
#pragma once

#include <string>
#include <string_view>

namespace cairn::remotes {

struct AwsCredentials {
    std::string key_id;  // empty: none were found, and requests are anonymous
    std::string secret;
    std::string session_token;  // may be empty
    std::string origin;         // for people: where they are from, or where they were looked for
};

// $AWS_ACCESS_KEY_ID and its companions; else the profile in ~/.aws/credentials. `profile` may be empty:
// then $AWS_PROFILE or `default`.
AwsCredentials find_aws_credentials(const std::string &remote, const std::string &profile);
// $AWS_REGION, $AWS_DEFAULT_REGION, the profile in ~/.aws/config, else us-east-1.
std::string find_aws_region(const std::string &profile);

struct RedisCredentials {
    std::string user;      // may be empty: the default user
    std::string password;  // empty: none was found
    std::string origin;
};

// $REDISCLI_AUTH; else `file`, unless that is empty, which only its owner may read.
RedisCredentials find_redis_credentials(const std::string &remote, const std::string &file);

// $NETRC, else ~/.netrc, where the users and passwords of web servers are, as other tools take them from
// there; "" where there is no such file. Only its owner may read it.
std::string find_netrc(const std::string &remote);

// The value in a section of a file such as ~/.aws/config; "" where it is not there.
std::string value_in(std::string_view text, std::string_view section, std::string_view key);

}  // namespace cairn::remotes
