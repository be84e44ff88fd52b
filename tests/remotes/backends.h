// The storages that the tests of remotes run on: one of each kind, started when first asked for.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: see why_missing().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "remotes/remote.h"
#include "support/servers.h"

namespace cairn_test {

class Backend {
  public:
    // file, http, s3, redis or cluster; the same one each time. With CAIRN_TEST_S3_URL=s3://BUCKET?endpoint=http://HOST:PORT
    // and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and perhaps AWS_REGION in the environment, s3 is that server.
    static Backend &of(const std::string &kind);
    static std::string why_missing(const std::string &kind);
    virtual ~Backend() = default;

    // Each space has names of its own. `port` may be that of a proxy; 0: the server's.
    virtual std::string url(const std::string &space, std::uint16_t port = 0) const = 0;
    virtual std::uint16_t port() const { return 0; }
};

inline const std::vector<std::string> kAllBackends = {"file", "http", "s3", "redis", "cluster"};

// Whether s3 is a server that the environment names, not s3rver.
bool is_s3_named();
std::string s3_key_id();
std::string s3_secret();

// Takes from the environment what would lead tests to other servers, and gives the credentials of s3.
void prepare_environment();

std::string pattern_of_bytes(std::size_t size);
void put_text(cairn::remotes::Remote &remote, const std::string &name, const std::string &text);
// The names in a folder, sorted.
std::vector<std::string> names_in(cairn::remotes::Remote &remote, const std::string &folder);

}  // namespace cairn_test
