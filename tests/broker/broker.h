// A broker as a process, and clients of it, for tests.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised.
// Failure: what a test cannot go on without aborts.
#pragma once

#include <cairn/cairn_broker.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/cache.h"
#include "support/eventually.h"

namespace cairn_test {

inline constexpr std::uint32_t kPatienceMs = 60'000;  // for what has to happen, on a busy machine

class Broker {
  public:
    // Serves DIRECTORY/run/broker.sock, with the caches below DIRECTORY/caches.
    explicit Broker(const std::string &directory, std::vector<std::string> options = {});
    ~Broker();
    Broker(const Broker &) = delete;
    Broker &operator=(const Broker &) = delete;

    // Runs the program and waits until it serves.
    void start();
    void signal(int number) const;
    // Sends a signal and waits; gives the wait status.
    int end(int number);
    void kill();
    void stop() const;  // SIGSTOP, until it is stopped
    pid_t pid() const { return pid_; }

    const std::string &socket() const { return socket_; }
    const std::string &root() const { return root_; }

  private:
    const std::string socket_, root_;
    const std::vector<std::string> options_;
    pid_t pid_ = 0;
};

// Runs cairnd with options and waits; gives the wait status, and what it said on standard error.
int run_cairnd(const std::vector<std::string> &options, std::string &said);

class BrokerCache {
  public:
    BrokerCache() = default;
    explicit BrokerCache(const Broker &broker, const std::string &identifier = "app",
                         std::uint64_t version = 1, std::uint64_t queue_bytes = 0);
    // Over a connection; reconnects nowhere.
    static BrokerCache over(int fd);
    ~BrokerCache() { cairn_close(handle_); }
    BrokerCache(BrokerCache &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), result_(other.result_) {}
    BrokerCache &operator=(BrokerCache &&other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(result_, other.result_);
        return *this;
    }

    cairn_cache *handle() const { return handle_; }
    int result() const { return result_; }
    int put(ByteView key, ByteView value, std::uint32_t flags = 0);
    int put(const std::string &key, const std::string &value) {
        return put(as_bytes(key), as_bytes(value));
    }
    std::optional<std::string> get(ByteView key);
    std::optional<std::string> get(const std::string &key) { return get(as_bytes(key)); }
    int flush() { return cairn_flush(handle_, kPatienceMs); }
    cairn_broker_stats stats();
    // Gets until it hits: what was stored moments ago may be missed.
    std::optional<std::string> get_soon(const std::string &key);

  private:
    cairn_cache *handle_ = nullptr;
    int result_ = CAIRN_OK;
};

void pause_ms(unsigned milliseconds);

}  // namespace cairn_test
