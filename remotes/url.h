// The URL of a remote, taken apart.
// SPDX-License-Identifier: MIT
//
// Thread safety: values; pure functions.
// Failure: a RemoteFailure with Trouble::usage. It does not quote a URL that may hold a secret.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::remotes {

struct Url {
    std::string scheme;
    std::string host;  // an IPv6 address without its brackets; the bucket of s3://
    std::optional<std::uint16_t> port;
    std::string path;  // with a slash first, and none last; decoded for file:// only
    std::map<std::string, std::string> query;  // decoded
    // For people: without the query.
    std::string shown;

    // "" where the query does not have it.
    std::string option(const std::string &key) const;
    // Throws where the query has another key.
    void require_options(std::initializer_list<std::string_view> known) const;
    // As a URL has it: with brackets and the port.
    std::string host_and_port() const;
};

Url parse_url(const std::string &text);

struct HostAndPort {
    std::string host;
    std::optional<std::uint16_t> port;
};
// `host`, `host:port`, `[address]` or `[address]:port`. nullopt: it is none of these.
std::optional<HostAndPort> parse_host_and_port(std::string_view text);

// Whether the host is this machine, as its name says: nothing is looked up.
bool is_loopback(std::string_view host);

// Everything but letters, digits, `-`, `.`, `_` and `~` as %XX, as signatures of S3 want it.
std::string percent_encoded(std::string_view text);
// nullopt: a percent sign without two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace cairn::remotes
