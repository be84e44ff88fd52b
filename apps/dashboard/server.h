// The web server of the dashboard: a page and what it asks, on this machine only.
// SPDX-License-Identifier: MIT
//
// Thread safety: start() and stop() from one thread; the others from any.
// Ownership: threads of the server call the answers until stop() has returned.
// Failure: a Failure where no port can be had.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "page.h"

namespace cairn::dashboard {

using Parameters = std::map<std::string, std::string>;

struct Reply {
    int status = 200;
    std::string json;
};

// Answers what the page asks; `path` is what follows "/api/".
using Responder = std::function<Reply(const std::string &path, const Parameters &parameters,
                                      const std::string &body)>;

// What the page is told about once a second while it follows /api/live; its parameters are those of the request at
// first, and then "after" is that of the last line.
using Teller = std::function<std::string(std::uint64_t &after)>;

class Server {
  public:
    Server(const Page &page, Responder responder, Teller teller);
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    // On 127.0.0.1; a port of 0: any.
    void start(std::uint16_t port);
    // The page's address with the token.
    std::string address() const;
    // For how long no page has asked anything.
    std::chrono::milliseconds idle_time() const;
    void stop();

  private:
    class Http;
    std::unique_ptr<Http> http_;
};

}  // namespace cairn::dashboard
