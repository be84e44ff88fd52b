// An X server that answers no more than what a client of libX11 needs to begin, and questions about
// GLX.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised; it runs in a thread of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <thread>

namespace cairn::glx::testing {

class FakeServer {
  public:
    // What the server says.
    struct Answers {
        bool has_glx = true;
        uint8_t screens = 1;
        // By glXQueryServerString's number, for each screen; an error where there is none.
        std::map<uint32_t, std::string> strings = {};
        // The number of words that it announces and sends of each string; -1: as it is.
        int64_t words = -1;
    };

    explicit FakeServer(Answers answers);
    ~FakeServer();
    FakeServer(const FakeServer &) = delete;
    FakeServer &operator=(const FakeServer &) = delete;

    // For XOpenDisplay.
    std::string display_name() const { return ":" + std::to_string(number_); }

  private:
    void serve();
    void answer(int client, const std::string &request, uint16_t sequence) const;

    Answers answers_;
    int number_ = 0;
    int listener_ = -1;
    std::thread thread_;
};

}  // namespace cairn::glx::testing
