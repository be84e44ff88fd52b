// SPDX-License-Identifier: MIT
#include "backends.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace cairn_test {
namespace {

class FileBackend final : public Backend {
  public:
    std::string url(const std::string &space, std::uint16_t /*port*/) const override {
        std::filesystem::create_directories(folder_ / space);
        return "file://" + (folder_ / space);
    }

  private:
    TempDirectory folder_;
};

std::string chosen(std::uint16_t port, std::uint16_t own) {
    return std::to_string(port != 0 ? port : own);
}

class HttpBackend final : public Backend {
  public:
    std::string url(const std::string &space, std::uint16_t port) const override {
        return "http://127.0.0.1:" + chosen(port, server_.port()) + "/dav/" + space;
    }
    std::uint16_t port() const override { return server_.port(); }

  private:
    NginxServer server_;
};

class S3Backend final : public Backend {
  public:
    std::string url(const std::string &space, std::uint16_t port) const override {
        return server_.url(space, port);
    }
    std::uint16_t port() const override { return server_.port(); }

  private:
    S3Server server_;
};

struct NamedS3 {
    std::string url, key_id, secret, region;  // empty: not named
};

// As the environment was when this was first called; tests change it later.
const NamedS3 &named_s3() {
    const auto variable = [](const char *name) {
        const char *value = getenv(name);
        return std::string(value != nullptr ? value : "");
    };
    static const NamedS3 named = {variable("CAIRN_TEST_S3_URL"), variable("AWS_ACCESS_KEY_ID"),
                                  variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_REGION")};
    return named;
}

class NamedS3Backend final : public Backend {
  public:
    std::string url(const std::string &space, std::uint16_t port) const override {
        return bucket_ + "/" + run_ + (space.empty() ? "" : "/" + space) + endpoint_ +
               chosen(port, port_);
    }
    std::uint16_t port() const override { return port_; }

  private:
    const std::string whole_ = named_s3().url;
    const std::string bucket_ = whole_.substr(0, whole_.find('?'));
    const std::string endpoint_ =
        whole_.substr(bucket_.size(), whole_.rfind(':') + 1 - bucket_.size());
    const std::uint16_t port_ =
        static_cast<std::uint16_t>(std::stoi(whole_.substr(whole_.rfind(':') + 1)));
    // The server outlives this program, so that each run has a part of the bucket.
    const std::string run_ =
        "run-" + std::to_string(getpid()) + "-" +
        std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
};

template <typename Server>
class RedisBackend final : public Backend {
  public:
    std::string url(const std::string &space, std::uint16_t port) const override {
        return (port != 0 ? "redis://127.0.0.1:" + std::to_string(port) : server_.url()) +
               "?prefix=" + space + ":";
    }
    std::uint16_t port() const override {
        const std::string url = server_.url();
        return static_cast<std::uint16_t>(std::atoi(url.substr(url.rfind(':') + 1).c_str()));
    }

  private:
    Server server_;
};

std::unique_ptr<Backend> make(const std::string &kind) {
    if (kind == "http") return std::make_unique<HttpBackend>();
    if (kind == "s3" && is_s3_named()) return std::make_unique<NamedS3Backend>();
    if (kind == "s3") return std::make_unique<S3Backend>();
    if (kind == "redis") return std::make_unique<RedisBackend<RedisServer>>();
    if (kind == "cluster") return std::make_unique<RedisBackend<RedisCluster>>();
    return std::make_unique<FileBackend>();
}

}  // namespace

Backend &Backend::of(const std::string &kind) {
    static std::map<std::string, std::unique_ptr<Backend>> started;
    std::unique_ptr<Backend> &backend = started[kind];
    if (!backend) backend = make(kind);
    return *backend;
}

std::string Backend::why_missing(const std::string &kind) {
    constexpr const char *kNoLibrary = "this build has no library for it";
    if (kind == "http") return CAIRN_HAS_CURL ? NginxServer::why_missing() : kNoLibrary;
    if (kind == "s3") {
        const std::string why = is_s3_named() ? "" : S3Server::why_missing();
        return CAIRN_HAS_CURL && CAIRN_HAS_EXPAT ? why : kNoLibrary;
    }
    if (kind == "redis" || kind == "cluster") {
        return CAIRN_HAS_HIREDIS ? RedisServer::why_missing() : kNoLibrary;
    }
    return "";
}

bool is_s3_named() {
    return !named_s3().url.empty();
}

std::string s3_key_id() {
    return is_s3_named() ? named_s3().key_id : S3Server::kKeyId;
}

std::string s3_secret() {
    return is_s3_named() ? named_s3().secret : S3Server::kSecret;
}

void prepare_environment() {
    const std::string region = is_s3_named() ? named_s3().region : "";
    for (const char *name :
         {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION",
          "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "REDISCLI_AUTH", "http_proxy", "https_proxy",
          "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        unsetenv(name);
    }
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_ACCESS_KEY_ID", s3_key_id().c_str(), 1);
    setenv("AWS_SECRET_ACCESS_KEY", s3_secret().c_str(), 1);
    if (!region.empty()) setenv("AWS_REGION", region.c_str(), 1);
}

std::string pattern_of_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 2654435761U) >> 11);
    return bytes;
}

void put_text(cairn::remotes::Remote &remote, const std::string &name, const std::string &text) {
    remote.put(name, cairn::as_bytes(text));
}

std::vector<std::string> names_in(cairn::remotes::Remote &remote, const std::string &folder) {
    std::vector<std::string> names;
    for (const cairn::remotes::Listed &listed : remote.list(folder)) names.push_back(listed.name);
    std::ranges::sort(names);
    return names;
}

}  // namespace cairn_test
