// SPDX-License-Identifier: MIT
#include "gate.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "os/environment.h"

namespace cairn::dashboard {
namespace {

constexpr std::size_t kTokenBytes = 16;

// Exactly one value, and this one.
bool is_only(const std::vector<std::string> &values, std::string_view wanted) {
    return values.size() == 1 && values.front() == wanted;
}

}  // namespace

std::string make_token() {
    std::array<std::byte, kTokenBytes> bytes = {};
    random_bytes(bytes);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string token;
    for (const std::byte byte : bytes) {
        token += kDigits[std::to_integer<unsigned>(byte) >> 4];
        token += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return token;
}

bool is_same_token(std::string_view given, std::string_view wanted) {
    if (given.size() != wanted.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        // Volatile, so that no compiler ends the loop at the first difference.
        const volatile auto a = static_cast<unsigned char>(given[i]);
        const volatile auto b = static_cast<unsigned char>(wanted[i]);
        difference |= static_cast<unsigned>(a) ^ static_cast<unsigned>(b);
    }
    return difference == 0;
}

Gate::Gate(std::string token, std::uint16_t port)
    : token_(std::move(token)),
      by_number_("127.0.0.1:" + std::to_string(port)),
      by_name_("localhost:" + std::to_string(port)) {}

std::string Gate::address() const {
    return "http://" + by_number_ + "/#token=" + token_;
}

bool Gate::is_own_origin(std::string_view origin, std::string_view host) const {
    constexpr std::string_view kScheme = "http://";
    return origin.starts_with(kScheme) && origin.substr(kScheme.size()) == host;
}

Answer Gate::admit(const Asked &asked) const {
    if (!is_only(asked.host, by_number_) && !is_only(asked.host, by_name_)) {
        return {403, "this server has another name"};
    }
    if (!asked.origin.empty() &&
        (asked.origin.size() > 1 || !is_own_origin(asked.origin.front(), asked.host.front()))) {
        return {403, "another page may not ask"};
    }
    if (asked.path.starts_with(kApi)) return admit_to_api(asked);
    if (asked.method != "GET" && asked.method != "HEAD") return {405, "only GET and HEAD"};
    // A link, or the file that opens the page, may lead to the page. It may not be a part of another one.
    const bool is_from_elsewhere = !asked.fetch_site.empty() &&
                                   !is_only(asked.fetch_site, "none") &&
                                   !is_only(asked.fetch_site, "same-origin");
    const bool is_visit = asked.path == "/" && is_only(asked.fetch_mode, "navigate");
    if (is_from_elsewhere && !is_visit) return {403, "another page may not ask"};
    return {};
}

Answer Gate::admit_to_api(const Asked &asked) const {
    if (!asked.fetch_site.empty() && !is_only(asked.fetch_site, "same-origin")) {
        return {403, "another page may not ask"};
    }
    if (asked.token.size() != 1 || !is_same_token(asked.token.front(), token_)) {
        return {401, "the token is missing or wrong"};
    }
    const bool is_action = asked.path == "/api/action";
    if (is_action ? asked.method != "POST" : asked.method != "GET" && asked.method != "HEAD") {
        return {405, is_action ? "only POST" : "only GET and HEAD"};
    }
    if (is_action && !is_only(asked.content_type, "application/json")) {
        return {415, "only application/json"};
    }
    return {};
}

}  // namespace cairn::dashboard
