// HTTP by libcurl, with the limits of a remote enforced by our own clock.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised; each remote has its own.
// Failure: a RemoteFailure when there is no answer, or none within the limits. An answer of any status is
// a result. No signal is used or raised.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "remotes/call_clock.h"
#include "remotes/remote.h"

namespace cairn::remotes {

// For the signature of S3, version 4, which libcurl makes.
struct Signing {
    std::string region;
    std::string key_id;
    std::string secret;
};

struct HttpRequest {
    enum class Method { get, put, remove };
    enum class Redirects { follow, refuse };

    Method method = Method::get;
    std::string url;
    std::string name;  // of the object, for messages
    std::vector<std::string> headers;
    Bytes content;
    // Of the answer, if it is the object. One that tells of a mistake is cut.
    std::uint64_t size_max = 0;
    Redirects redirects = Redirects::refuse;
    std::optional<Signing> signing;
    std::string netrc;  // a file with users and passwords of hosts; empty: none
};

struct HttpAnswer {
    long status = 0;
    std::string content;
    std::optional<std::int64_t> date_s;  // the server's clock, since 1970

    bool is_ok() const { return status >= 200 && status < 300; }
};

class Curl {
  public:
    // `remote` names it in messages.
    Curl(std::string remote, const Limits &limits);
    ~Curl();
    Curl(const Curl &) = delete;
    Curl &operator=(const Curl &) = delete;

    HttpAnswer perform(const HttpRequest &request, CallClock &clock);
    const Traffic &traffic() const { return traffic_; }

  private:
    struct Transfer;
    struct Handles;

    void set_options(Transfer &transfer, const CallClock &clock);
    int run(Transfer &transfer);
    void count(const Transfer &transfer);
    [[noreturn]] void fail_of(int code, const Transfer &transfer) const;

    const std::string remote_;
    const Limits limits_;
    const std::unique_ptr<Handles> handles_;
    Traffic traffic_;
};

}  // namespace cairn::remotes
