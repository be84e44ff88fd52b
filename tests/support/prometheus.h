// A real Prometheus for tests, which scrapes a page that the test makes.
// SPDX-License-Identifier: MIT
//
// Both servers listen on the loopback interface, on ports that were free, and end in the destructor, or
// with the test.
//
// Thread safety: externally synchronised; `page` is called by a thread of the server's own.
// Failure: why_missing() says why there cannot be one here, for GTEST_SKIP; one that is there and does
// not start aborts the test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "support/servers.h"
#include "support/temp_directory.h"

namespace cairn_test {

class PrometheusServer {
  public:
    static std::string why_missing();
    // Scrapes what `page` returns, each second.
    explicit PrometheusServer(std::function<std::string()> page);
    ~PrometheusServer();
    PrometheusServer(const PrometheusServer &) = delete;
    PrometheusServer &operator=(const PrometheusServer &) = delete;

    // What its interface answers to an expression, as JSON; "" where it does not answer.
    std::string query(const std::string &expression) const;

  private:
    void serve_pages() const;

    // Constant after construction.
    TempDirectory folder_;
    std::function<std::string()> page_;
    std::uint16_t page_port_ = 0;
    int listener_ = -1;
    int stop_ = -1;  // an eventfd

    std::thread pages_;
    std::unique_ptr<ServerProcess> server_;
};

}  // namespace cairn_test
