// SPDX-License-Identifier: MIT
#include "remotes/remote.h"

#include <algorithm>

#include "remotes/engines.h"
#include "remotes/failure.h"
#include "remotes/names.h"
#include "remotes/url.h"

namespace cairn::remotes {
namespace {

constexpr std::size_t kPartSizeMax = 128;
constexpr std::size_t kNameSizeMax = 512;

// Not isalnum(), which asks the locale.
bool is_part_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

[[noreturn, maybe_unused]] void refuse_without(const Url &url, const std::string &library) {
    fail(Trouble::usage, url.shown,
         "this program was built without " + library +
             ", which such a remote needs; build it where that is installed");
}

}  // namespace

bool is_object_name_part(std::string_view part) {
    return !part.empty() && part.size() <= kPartSizeMax && part.front() != '.' &&
           std::ranges::all_of(part, is_part_letter);
}

bool is_object_name(std::string_view name) {
    if (name.size() > kNameSizeMax) return false;
    for (std::size_t at = 0;;) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        if (!is_object_name_part(name.substr(at, end - at))) return false;
        if (end == name.size()) return true;
        at = end + 1;
    }
}

std::vector<Place> places_of(const std::string &name) {
    std::vector<Place> places;
    std::string rest = name;
    for (const char *ending = "";; ending = "/") {
        const std::size_t slash = rest.rfind('/');
        if (slash == std::string::npos) {
            places.push_back({"", rest + ending});
            return places;
        }
        places.push_back({rest.substr(0, slash), rest.substr(slash + 1) + ending});
        rest.resize(slash);
    }
}

bool is_entry(std::string_view entry) {
    if (entry.ends_with('/')) entry.remove_suffix(1);
    return is_object_name_part(entry);
}

void require_object_name(const std::string &remote, const std::string &name) {
    if (!is_object_name(name)) fail(Trouble::usage, remote, "no object may have this name");
}

void require_folder_name(const std::string &remote, const std::string &folder) {
    if (!folder.empty()) require_object_name(remote, folder);
}

std::unique_ptr<Remote> open_remote(const std::string &url, const Limits &limits) {
    const Url parsed = parse_url(url);
    const std::string &scheme = parsed.scheme;
    if (scheme == "file") return open_file(parsed, limits);
    if (scheme == "http" || scheme == "https") return open_http(parsed, limits);
    if (scheme == "s3") return open_s3(parsed, limits);
    if (scheme == "redis") return open_redis(parsed, limits);
    if (scheme == "rediss") {
        fail(Trouble::usage, parsed.shown,
             "Redis through TLS is not supported; use redis:// inside a network that is trusted, "
             "or a tunnel");
    }
    fail(Trouble::usage, parsed.shown,
         "there are remotes of file://, http://, https://, s3:// and redis:// only");
}

// The engines whose libraries were not there when this was built.
#if !CAIRN_HAS_CURL
std::unique_ptr<Remote> open_http(const Url &url, const Limits & /*limits*/) {
    refuse_without(url, "libcurl");
}
#endif
#if !CAIRN_HAS_CURL || !CAIRN_HAS_EXPAT
std::unique_ptr<Remote> open_s3(const Url &url, const Limits & /*limits*/) {
    refuse_without(url, CAIRN_HAS_CURL ? "libexpat" : "libcurl");
}
#endif
#if !CAIRN_HAS_HIREDIS
std::unique_ptr<Remote> open_redis(const Url &url, const Limits & /*limits*/) {
    refuse_without(url, "hiredis");
}
#endif

}  // namespace cairn::remotes
