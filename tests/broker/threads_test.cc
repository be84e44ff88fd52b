// One client handle in many threads, and the broker in one more.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "broker/broker.h"
#include "listener.h"
#include "server.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

class BrokerThread {
  public:
    explicit BrokerThread(const std::string &directory) : end_(::eventfd(0, EFD_CLOEXEC)) {
        settings_.socket_path = directory + "/run/broker.sock";
        settings_.root = directory + "/caches";
        settings_.limit_bytes = 2u << 20;  // segments come and go
        settings_.messages_per_second = 1e6;
        settings_.bytes_per_second = 1e10;
        listener_.emplace(settings_.socket_path);
        thread_ = std::thread([this] { cairn::broker::Server(settings_, *listener_).run(end_); });
    }
    ~BrokerThread() {
        const std::uint64_t one = 1;
        EXPECT_EQ(::write(end_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
        thread_.join();
        ::close(end_);
    }
    const std::string &socket() const { return settings_.socket_path; }

  private:
    int end_;
    cairn::broker::BrokerSettings settings_;
    std::optional<cairn::broker::Listener> listener_;
    std::thread thread_;
};

TEST(BrokerThreads, ShareOneHandle) {
    TempDirectory directory;
    BrokerThread broker(directory.path());
    cairn_broker_options options = {};
    options.size = sizeof options;
    options.socket_path = broker.socket().c_str();
    options.identifier = "app";
    options.timeout_ms = kPatienceMs;
    options.queue_bytes = 1u << 20;
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_broker_open(&options, &cache), CAIRN_OK);
    std::atomic<std::uint64_t> wrong = 0, found = 0;
    const auto work = [&](unsigned number) {
        for (unsigned i = 0; i < 1500; ++i) {
            const std::string key = "key " + std::to_string((i * 7 + number) % 200);
            const std::string value = key + std::string(4000, 'v');
            cairn_blob *blob = nullptr;
            if (cairn_get(cache, key.data(), key.size(), &blob) == CAIRN_OK) {
                ++found;
                if (as_string(Blob(blob).bytes()) != value) ++wrong;
            } else {
                (void)cairn_put(cache, key.data(), key.size(), value.data(), value.size(), nullptr);
            }
            if (i % 200 == 0) {
                if (cairn_flush(cache, kPatienceMs) != CAIRN_OK) ++wrong;
                cairn_stats stats = {};
                stats.size = sizeof stats;
                if (cairn_stats_get(cache, &stats) != CAIRN_OK) ++wrong;
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(found, 0u);
    cairn_broker_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(cairn_flush(cache, kPatienceMs), CAIRN_OK);
    ASSERT_EQ(cairn_broker_stats_get(cache, &stats), CAIRN_OK);
    EXPECT_EQ(stats.stored + stats.refused, stats.accepted);
    EXPECT_EQ(stats.lost, 0u);
    cairn_close(cache);
}

}  // namespace
}  // namespace cairn_test
