// SPDX-License-Identifier: MIT
#include "remotes/url.h"

#include <algorithm>
#include <charconv>

#include "remotes/failure.h"

namespace cairn::remotes {
namespace {

constexpr std::size_t kUrlSizeMax = 4'096;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

[[noreturn]] void refuse(const std::string &what) {
    throw RemoteFailure(Trouble::usage, what);
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int value_of_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string scheme_of(const std::string &text) {
    const std::size_t end = text.find("://");
    std::string scheme = text.substr(0, end);
    if (end == std::string::npos || scheme.empty() ||
        !std::ranges::all_of(scheme, is_letter_or_digit)) {
        refuse("a remote is a URL, such as s3://bucket/folder or file:///folder");
    }
    return scheme;
}

// Before anything of it is quoted.
void refuse_secret(const std::string &scheme, const std::string &text) {
    if (text.size() > kUrlSizeMax || std::ranges::any_of(text, is_control)) {
        refuse("the URL of a remote is too long, or has control characters");
    }
    if (scheme == "file") return;
    if (text.find('@') != std::string::npos) {
        refuse(
            "the URL of a remote has an `@`, as before a host after a password; secrets do not "
            "belong into a URL: docs/fleet.md says where credentials are looked for");
    }
    const auto is_outside = [](char c) { return static_cast<unsigned char>(c) > 0x7e || c == ' '; };
    if (std::ranges::any_of(text, is_outside)) {
        refuse("the URL of a remote has letters that must be written as %XX");
    }
}

std::map<std::string, std::string> parse_query(std::string_view text) {
    std::map<std::string, std::string> query;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string key(pair.substr(0, equals));
        const auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!value || std::ranges::any_of(*value, is_control) || query.contains(key)) {
            refuse(
                "what comes after the `?` in the URL of a remote must be key=value pairs with `&` "
                "between them, each key once");
        }
        query[key] = *value;
    }
    return query;
}

void parse_file_path(Url &url, std::string_view rest) {
    const auto path = percent_decoded(rest);
    if (!path || !path->starts_with('/') || std::ranges::any_of(*path, is_control)) {
        refuse(
            "the URL of a shared folder is file:// and an absolute path, so it has three slashes");
    }
    url.path = *path;
}

void parse_authority_and_path(Url &url, std::string_view rest) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const auto host = parse_host_and_port(rest.substr(0, slash));
    if (!host) {
        refuse("the URL of a remote, " + url.scheme +
               "://..., has no host, or a port that is no number");
    }
    url.host = host->host;
    url.port = host->port;
    url.path = rest.substr(slash);
    // `..` would leave the folder that the user named.
    if ((url.path + "/").find("/../") != std::string::npos ||
        (url.path + "/").find("/./") != std::string::npos) {
        refuse("the path in the URL of a remote has a part that is only dots");
    }
}

}  // namespace

std::string Url::option(const std::string &key) const {
    const auto found = query.find(key);
    return found == query.end() ? "" : found->second;
}

void Url::require_options(std::initializer_list<std::string_view> known) const {
    for (const auto &[key, value] : query) {
        if (std::ranges::find(known, key) != known.end()) continue;
        std::string names;
        for (const std::string_view name : known) {
            names.append(names.empty() ? "" : ", ").append(name);
        }
        fail(Trouble::usage, shown,
             "after the `?` of its URL is something that is not known there; known are: " +
                 (names.empty() ? "none" : names));
    }
}

std::string Url::host_and_port() const {
    const bool is_address = host.find(':') != std::string::npos;
    return (is_address ? "[" + host + "]" : host) + (port ? ":" + std::to_string(*port) : "");
}

Url parse_url(const std::string &text) {
    Url url;
    url.scheme = scheme_of(text);
    refuse_secret(url.scheme, text);
    std::string_view rest = std::string_view(text).substr(url.scheme.size() + 3);
    if (rest.find('#') != std::string_view::npos) {
        refuse("the URL of a remote has a `#`, which means nothing there");
    }
    const std::size_t question = std::min(rest.find('?'), rest.size());
    url.query = parse_query(rest.substr(std::min(question + 1, rest.size())));
    rest = rest.substr(0, question);
    if (url.scheme == "file") {
        parse_file_path(url, rest);
    } else {
        parse_authority_and_path(url, rest);
    }
    while (url.path.ends_with('/')) url.path.pop_back();
    if (url.scheme == "file" && url.path.empty()) refuse("the top of all folders is no remote");
    url.shown = url.scheme + "://" + (url.scheme == "file" ? "" : url.host_and_port()) + url.path;
    return url;
}

std::optional<HostAndPort> parse_host_and_port(std::string_view text) {
    HostAndPort found;
    const bool has_brackets = text.starts_with('[');
    const std::size_t end = has_brackets ? text.find(']') : std::min(text.find(':'), text.size());
    if (end == std::string_view::npos) return std::nullopt;
    found.host = text.substr(has_brackets ? 1 : 0, has_brackets ? end - 1 : end);
    const auto fits = [&](char c) {
        return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' ||
               (has_brackets && c == ':');
    };
    if (found.host.empty() || found.host.size() > 255 || !std::ranges::all_of(found.host, fits)) {
        return std::nullopt;
    }
    std::string_view rest = text.substr(end + (has_brackets ? 1 : 0));
    if (rest.empty()) return found;
    if (!rest.starts_with(':')) return std::nullopt;
    rest.remove_prefix(1);
    std::uint16_t port = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), port);
    if (error != std::errc() || stop != rest.data() + rest.size() || port == 0) return std::nullopt;
    found.port = port;
    return found;
}

bool is_loopback(std::string_view host) {
    // A name such as 127.example.org may be anywhere.
    const bool is_number = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return host == "localhost" || host == "::1" || (is_number && host.starts_with("127."));
}

std::string percent_encoded(std::string_view text) {
    constexpr const char *kDigits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            encoded += c;
            continue;
        }
        const auto octet = static_cast<unsigned char>(c);
        encoded += {'%', kDigits[octet >> 4], kDigits[octet & 15]};
    }
    return encoded;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = value_of_digit(text[i + 1]);
        const int low = value_of_digit(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

}  // namespace cairn::remotes
