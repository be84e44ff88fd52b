// Real servers for tests: Redis, a cluster of it, nginx and a server of S3, each with a folder of its own.
// SPDX-License-Identifier: MIT
//
// They listen on the loopback interface, on ports that were free, and serve when the constructor has returned.
// They end in the destructor, and with the test when that ends otherwise.
//
// Thread safety: externally synchronised. Failure: why_missing() says why there cannot be such a server here, for
// GTEST_SKIP; a server that is there and does not start aborts the test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {

// A port of the loopback interface that nobody uses now.
std::uint16_t free_port();

// A program that serves one port.
class ServerProcess {
  public:
    // What to run so that it serves this port. Called anew with another port where one was taken meanwhile.
    using CommandLine = std::function<std::vector<std::string>(std::uint16_t port)>;

    // Its output goes into `log`.
    ServerProcess(const CommandLine &command, const std::string &log);
    ~ServerProcess() { kill(); }
    ServerProcess(const ServerProcess &) = delete;
    ServerProcess &operator=(const ServerProcess &) = delete;

    std::uint16_t port() const { return port_; }
    void kill() { server_.kill(); }
    // Stops it as a hung machine does, until it resumes.
    void stop() const { server_.stop(); }
    void resume() const { server_.resume(); }

  private:
    bool become_ready();

    Child server_;
    std::uint16_t port_ = 0;
};

class RedisServer {
  public:
    static std::string why_missing();
    // With `options` such as {"--requirepass", "secret"}.
    explicit RedisServer(const std::vector<std::string> &options = {});

    std::uint16_t port() const { return server_->port(); }
    std::string url() const;
    // The output of redis-cli, such as of {"SET", "a", "b"}.
    std::string command(const std::vector<std::string> &words) const;
    void kill() { server_->kill(); }
    // As ServerProcess does.
    void stop() const { server_->stop(); }
    void resume() const { server_->resume(); }

  private:
    TempDirectory folder_;
    std::unique_ptr<ServerProcess> server_;
};

// Three masters, each with a third of the slots, which serve those also when others are down.
class RedisCluster {
  public:
    static std::string why_missing() { return RedisServer::why_missing(); }
    RedisCluster();

    RedisServer &node(std::size_t index) { return *nodes_[index]; }
    std::size_t size() const { return nodes_.size(); }
    // Its node 0.
    std::string url() const { return nodes_[0]->url(); }

  private:
    std::vector<std::unique_ptr<RedisServer>> nodes_;
};

// Locations: /dav/ can be written, /plain/ be read (they are folders below www()); /closed/ is forbidden, /full/ has
// no space, /locked/ needs the user `ci` with the password `secret`, /moved/ redirects to /dav/, /circle/ to itself, and /elsewhere/ to a file of this machine.
class NginxServer {
  public:
    static std::string why_missing();
    NginxServer();

    std::uint16_t port() const { return server_->port(); }
    // Without a slash at its end.
    std::string url() const;
    // With TLS and a certificate that only certificate() makes good; 0 where openssl was not there to make one.
    std::uint16_t tls_port() const { return tls_port_; }
    std::string certificate() const { return folder_ / "certificate.pem"; }
    std::string www() const { return folder_ / "www"; }

  private:
    std::string configuration(std::uint16_t port);

    TempDirectory folder_;
    std::uint16_t tls_port_ = 0;
    std::unique_ptr<ServerProcess> server_;
};

// s3rver, from npm, behind s3_server.js, which checks signatures. It has the bucket `shaders`, which others may read
// below `public/`.
class S3Server {
  public:
    static constexpr const char *kKeyId = "S3RVER";
    static constexpr const char *kSecret = "S3RVER";

    // Fetches it the first time.
    static std::string why_missing();
    S3Server();

    std::uint16_t port() const { return server_->port(); }
    // Its bucket, such as s3://shaders?endpoint=http://127.0.0.1:9000; `port` may be that of a proxy.
    std::string url(const std::string &prefix, std::uint16_t port = 0) const;
    // Ends it, and starts it with what it has, on another port.
    void restart();

  private:
    TempDirectory folder_;
    std::unique_ptr<ServerProcess> server_;
};

}  // namespace cairn_test
