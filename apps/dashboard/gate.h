// Who may ask the dashboard what: docs/dashboard.md#who-may-ask.
// SPDX-License-Identifier: MIT
//
// The page's own files hold no secret, and anybody on this machine may read them. All that is behind /api/ needs the
// token, which only the page has that was opened with it. Browsers send no token by themselves, so a page of somebody
// else's cannot ask in the user's name; the names of the server are checked, so that such a page cannot make itself
// look like ours by its own DNS (rebinding).
//
// Thread safety: const methods at once.
// Failure: none; a request that may not pass has a status and a reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::dashboard {

inline constexpr const char *kTokenHeader = "X-Cairn-Token";
inline constexpr std::string_view kApi = "/api/";

// 128 unpredictable bits, as hexadecimal digits.
std::string make_token();

// Takes the same time for all tokens of the right size.
bool is_same_token(std::string_view given, std::string_view wanted);

// What a request says of itself. Of headers, all values that came, since two of one name are read differently by
// different programs.
struct Asked {
    std::string method;
    std::string path;
    std::vector<std::string> host;
    std::vector<std::string> origin;
    std::vector<std::string>
        fetch_site;  // Sec-Fetch-Site, which browsers send, and pages cannot set
    std::vector<std::string> fetch_mode;  // Sec-Fetch-Mode
    std::vector<std::string> token;
    std::vector<std::string> content_type;
};

struct Answer {
    int status = 200;         // of HTTP; 200: it may pass
    const char *reason = "";  // for people
};

class Gate {
  public:
    Gate(std::string token, std::uint16_t port);

    Answer admit(const Asked &asked) const;
    // With this address, a page gets in.
    std::string address() const;

  private:
    bool is_own_origin(std::string_view origin, std::string_view host) const;
    Answer admit_to_api(const Asked &asked) const;

    // Constant after construction.
    const std::string token_;
    const std::string by_number_;  // "127.0.0.1:PORT"
    const std::string by_name_;    // "localhost:PORT"
};

}  // namespace cairn::dashboard
