// SPDX-License-Identifier: MIT
#include "backends.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace cairn_test {
namespace {

class FileBackend final : public Backend {
  public:
    std::string url(const std::string &space, std::uint16_t /*port*/) const override {
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
    if (kind == "s3")
        return CAIRN_HAS_CURL && CAIRN_HAS_EXPAT ? S3Server::why_missing() : kNoLibrary;
    if (kind == "redis" || kind == "cluster") {
        return CAIRN_HAS_HIREDIS ? RedisServer::why_missing() : kNoLibrary;
    }
    return "";
}

void prepare_environment() {
    for (const char *name :
         {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION",
          "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "REDISCLI_AUTH", "http_proxy", "https_proxy",
          "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        unsetenv(name);
    }
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_ACCESS_KEY_ID", S3Server::kKeyId, 1);
    setenv("AWS_SECRET_ACCESS_KEY", S3Server::kSecret, 1);
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
