// An agent for tests: it listens where processes ask, and answers what the test says.
// SPDX-License-Identifier: MIT
//
// Thread safety: the answer is called on the agent's thread.
// Failure: aborts where it cannot listen.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "cache/agent_question.h"
#include "os/socket.h"

namespace cairn::testing {

class FakeAgent {
  public:
    // May send whatever it wants, and keep the socket by moving it away.
    using Reply = std::function<void(const AgentQuestion &question, Socket &socket)>;

    FakeAgent(const std::string &path, Reply reply) : reply_(std::move(reply)) {
        auto socket = Socket::listen(path);
        if (!socket.ok()) std::abort();
        listening_ = std::move(socket.value());
        thread_ = std::thread([this] { work(); });
    }
    ~FakeAgent() {
        ends_ = true;
        thread_.join();
    }
    FakeAgent(const FakeAgent &) = delete;
    FakeAgent &operator=(const FakeAgent &) = delete;

    static void answer(Socket &socket, std::uint64_t sequence,
                       const std::optional<KeptPackName> &pack) {
        (void)socket.send(encode_answer({sequence, pack}));
    }

    std::atomic<int> questions = 0, connections = 0;

  private:
    void work() {
        std::list<Socket> sockets;
        while (!ends_) {
            std::vector<pollfd> polls = {{listening_.fd(), POLLIN, 0}};
            for (const Socket &each : sockets) polls.push_back({each.fd(), POLLIN, 0});
            if (::poll(polls.data(), polls.size(), 1) <= 0) continue;
            if (auto socket = listening_.accept(); socket.ok()) {
                ++connections;
                sockets.push_back(std::move(socket.value()));
            }
            for (auto each = sockets.begin(); each != sockets.end();) {
                each = hear(*each) ? std::next(each) : sockets.erase(each);
            }
        }
    }
    bool hear(Socket &socket) {
        std::array<std::byte, kQuestionSizeMax> buffer;
        const auto size = socket.receive(buffer, nullptr);
        if (size.error() == Error::busy) return true;
        if (!size.ok() || size.value() == 0) return false;
        const auto question = decode_question(Bytes(buffer).first(size.value()));
        if (!question) std::abort();
        ++questions;
        reply_(*question, socket);
        return socket.valid();
    }

    const Reply reply_;
    Socket listening_;
    std::atomic<bool> ends_ = false;
    std::thread thread_;
};

}  // namespace cairn::testing
