// SPDX-License-Identifier: MIT
#include "remotes/credentials.h"

#include <optional>

#include "os/environment.h"
#include "os/file.h"
#include "remotes/failure.h"

namespace cairn::remotes {
namespace {

constexpr std::uint64_t kFileSizeMax = 1 << 20;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string from_environment(const char *name) {
    return environment_variable(name).value_or("");
}

// "" where it cannot be read.
std::string text_of(const std::string &path) {
    const auto file = File::open_configuration(path);
    if (!file.ok()) return {};
    const auto info = file->info();
    if (!info.ok() || info->size_bytes > kFileSizeMax) return {};
    std::string text(info->size_bytes, '\0');
    auto size = file->read_at(0, {reinterpret_cast<std::byte *>(text.data()), text.size()});
    text.resize(size.ok() ? *size : 0);
    return text;
}

std::string aws_file(const char *variable, const char *below_home) {
    std::string named = from_environment(variable);
    if (!named.empty()) return named;
    return home_directory().value_or("") + below_home;
}

std::string profile_or_default(const std::string &profile) {
    if (!profile.empty()) return profile;
    const std::string named = from_environment("AWS_PROFILE");
    return named.empty() ? "default" : named;
}

void require_private(const std::string &remote, const std::string &file, const FileInfo &info) {
    constexpr std::uint32_t kOfOthers = 077;
    if ((info.permissions & kOfOthers) == 0) return;
    fail(Trouble::denied, remote,
         "others may read the file of its credentials; `chmod 600 " + file + "` mends that");
}

}  // namespace

std::string value_in(std::string_view text, std::string_view section, std::string_view key) {
    bool is_inside = false;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with('[')) {
            const std::size_t close = std::min(line.find(']'), line.size());
            is_inside = trimmed(line.substr(1, close - 1)) == section;
        }
        const std::size_t equals = line.find('=');
        if (!is_inside || line.starts_with('#') || equals == std::string_view::npos) continue;
        if (trimmed(line.substr(0, equals)) == key)
            return std::string(trimmed(line.substr(equals + 1)));
    }
    return {};
}

AwsCredentials find_aws_credentials(const std::string &remote, const std::string &profile) {
    AwsCredentials found;
    found.key_id = from_environment("AWS_ACCESS_KEY_ID");
    if (!found.key_id.empty()) {
        found.secret = from_environment("AWS_SECRET_ACCESS_KEY");
        found.session_token = from_environment("AWS_SESSION_TOKEN");
        found.origin = "AWS_ACCESS_KEY_ID in the environment";
        if (found.secret.empty()) {
            fail(Trouble::denied, remote,
                 "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not");
        }
        return found;
    }
    const std::string file = aws_file("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials");
    const std::string section = profile_or_default(profile);
    const std::string text = text_of(file);
    found.key_id = value_in(text, section, "aws_access_key_id");
    found.secret = value_in(text, section, "aws_secret_access_key");
    found.session_token = value_in(text, section, "aws_session_token");
    found.origin = "the profile `" + section + "` in " + file;
    if (!found.key_id.empty() && !found.secret.empty()) return found;
    if (section != "default" || !found.key_id.empty()) {
        fail(Trouble::denied, remote,
             found.origin + " is not there, or has not both halves of a key");
    }
    found = {};
    found.origin = "none, as neither AWS_ACCESS_KEY_ID in the environment nor a profile in " +
                   file + " has any";
    return found;
}

std::string find_aws_region(const std::string &profile) {
    for (const char *variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
        std::string region = from_environment(variable);
        if (!region.empty()) return region;
    }
    const std::string text = text_of(aws_file("AWS_CONFIG_FILE", "/.aws/config"));
    const std::string section = profile_or_default(profile);
    std::string region = value_in(text, "profile " + section, "region");
    if (region.empty() && section == "default") region = value_in(text, section, "region");
    return region.empty() ? "us-east-1" : region;
}

RedisCredentials find_redis_credentials(const std::string &remote, const std::string &file) {
    RedisCredentials found;
    found.password = from_environment("REDISCLI_AUTH");
    if (!found.password.empty()) {
        found.origin = "REDISCLI_AUTH in the environment";
        return found;
    }
    if (file.empty()) {
        found.origin = "none, as REDISCLI_AUTH is not set and its URL has no credentials=FILE";
        return found;
    }
    const auto info = file_info(file);
    if (!info.ok())
        fail(Trouble::denied, remote, "the file of its credentials, " + file + ", cannot be read");
    require_private(remote, file, info.value());
    const std::string text = text_of(file);
    const std::string_view line = trimmed(std::string_view(text).substr(0, text.find('\n')));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) found.user = line.substr(0, colon);
    found.password = line.substr(colon == std::string_view::npos ? 0 : colon + 1);
    found.origin = file;
    if (found.password.empty()) {
        fail(Trouble::denied, remote,
             "the file of its credentials, " + file +
                 ", must be a line `user:password` or `password`");
    }
    return found;
}

std::string find_netrc(const std::string &remote) {
    const std::string named = from_environment("NETRC");
    std::string file = named.empty() ? home_directory().value_or("") + "/.netrc" : named;
    const auto info = file_info(file);
    if (!info.ok()) return "";
    require_private(remote, file, info.value());
    return file;
}

}  // namespace cairn::remotes
